"""Warnings that a reader must know before relying on a context: its own, and those of its sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from assembly.engine.codes import SourceCode, WarningCode
from assembly.engine.reasons import embedder_sentence, source_sentence, summariser_sentence, warning_sentence
from assembly.models import Assembly
from assembly.records.reader import DAMAGE_ERRORS, load_bodies
from assembly.sources import SOURCES
from assembly.sources.base import EMBEDDER

SUMMARISER = "summariser"
"""What its report is called among those of the sources."""
SHORT_STATUSES = {"cut", "partial", "left_out"}
"""Statuses of sections in which something was cut or left out because a limit was reached."""
UNNAMED_SOURCE = "Which source it was cannot be read any more: somebody changed the database."

SERVER_SENTENCES: Mapping[str, tuple[str, Callable[[SourceCode], str]]] = {
    EMBEDDER: ("Meaning of the topic", embedder_sentence),
    SUMMARISER: ("Summaries", summariser_sentence),
}
"""Models on servers that are reported on as sources are: what people call them, and what it means that they failed."""


@dataclass(frozen=True, slots=True)
class WarningMessage:
    """A code and what it says to people."""

    code: str
    message: str


def load_warning_bodies(assemblies: Sequence[Assembly]) -> None:
    """Read at once the bodies of those whose warnings are worded by them: a list has many."""
    load_bodies([one for one in assemblies if not set(SourceCode).isdisjoint(one.warnings)])


def load_outcome_bodies(assemblies: Sequence[Assembly]) -> None:
    """Read at once the bodies of those whose warnings or whose full sections are worded by them."""
    load_bodies([one for one in assemblies if one.truncated or not set(SourceCode).isdisjoint(one.warnings)])


def shortage_sentence(assembly: Assembly) -> str:
    """Return which sections were too small for what was found, in a few words; empty where none was."""
    if not assembly.truncated:
        return ""
    try:
        labels = [section["label"] for section in assembly.sections if section["status"] in SHORT_STATUSES]
    except DAMAGE_ERRORS:
        labels = []
    if not labels:
        return gettext("over limit")
    if len(labels) == 1:
        return gettext("%(section)s over limit") % {"section": labels[0]}
    return gettext("%(section)s +%(count)s over limit") % {"section": labels[0], "count": len(labels) - 1}


def warnings_of(assembly: Assembly) -> list[WarningMessage]:
    """The recorded codes in words; a code of sources says which, as long as the record can be read."""
    return [WarningMessage(code, _message(code, assembly)) for code in assembly.warnings]


def _message(code: str, assembly: Assembly) -> str:
    if code not in set(SourceCode):
        return warning_sentence(WarningCode(code))
    try:
        names = [report["name"] for report in assembly.sources if report.get("code") == code]
    except DAMAGE_ERRORS:  # whoever lists many contexts is told of the others, too
        return f"{UNNAMED_SOURCE} {source_sentence(SourceCode(code))}"
    sources = ", ".join(recorded_source_label(name) for name in names if name not in SERVER_SENTENCES)
    told = [f"{sources}: {source_sentence(SourceCode(code))}"] if sources else []
    told += [source_failure_sentence(name, SourceCode(code)) for name in names if name in SERVER_SENTENCES]
    return " ".join(told)


def source_failure_sentence(name: str, code: SourceCode) -> str:
    """What went wrong with the source or server of that name, and what that means for the context."""
    return SERVER_SENTENCES[name][1](code) if name in SERVER_SENTENCES else source_sentence(code)


def recorded_source_label(source: str) -> str:
    """What people call a source; an external one is called by its own name."""
    if source in SERVER_SENTENCES:
        return SERVER_SENTENCES[source][0]
    kind, _, name = source.partition(":")
    return name or (SOURCES[kind].label if kind in SOURCES else kind)
