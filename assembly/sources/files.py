"""From a versioned file to a candidate, the same for agents and teams."""

from collections.abc import Sequence

from django.db.models import QuerySet

from agents.models import AgentFile
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered
from assembly.sources.labels import path_labels
from teams.models import TeamFile


def file_candidates(files: QuerySet[AgentFile] | QuerySet[TeamFile], sections: Sequence[Section]) -> Gathered:
    """One candidate per section: the file whose key is the section's."""
    section_of = {section.key.upper(): section.key for section in sections}
    found = files.filter(file_key__in=section_of).only("id", "file_key", "content", "version")
    candidates = [
        Candidate(
            ref=file.ref,
            section=section_of[file.file_key],
            text=file.content,
            kind=file.file_key,
            labels=path_labels(file.file_key),
        )
        for file in found
    ]
    return Gathered(candidates, len(section_of))
