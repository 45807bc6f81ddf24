"""A context ends with a line that names the sources which failed or were late: its reader then knows what is missing.

The line is an item of a section of its own, after everything else, so that nothing before it moves. A profile can do
without it (`report_failures`).
"""

from collections.abc import Sequence

from assembly.engine.assemble import FAILURE_NOTE
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate
from assembly.sources import SOURCES
from assembly.sources.base import SourceReport
from assembly.sources.external.questions import EXTERNAL_SOURCE

FAILURE_NOTE_REF = "note:unavailable_sources"


def failure_note(profile: Profile, reports: Sequence[SourceReport]) -> Candidate | None:
    """Return the line about the sources that gave nothing; None if all did, or only servers of models failed."""
    labels = [label for report in reports if report.code and (label := _label_of(report.name, profile))]
    if not labels:
        return None
    text = f"Not available at the moment: {', '.join(labels)}. What is known there may be missing above."
    return Candidate(FAILURE_NOTE_REF, FAILURE_NOTE.key, text, kind="note")


def _label_of(name: str, profile: Profile) -> str:
    """Return the name of a source for readers of contexts; empty for an embedder or a summariser."""
    if name in SOURCES:
        return SOURCES[name].label
    source, _, key = name.partition(":")
    labels = {section.key: section.label for section in profile.sections}
    return labels.get(key, "") if source == EXTERNAL_SOURCE else ""
