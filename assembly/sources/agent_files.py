"""The agent's own files: the section `identity` is its IDENTITY, and so on."""

from collections.abc import Sequence

from agents.models import AgentFile
from assembly.engine.profile import Section
from assembly.sources.base import Gathered, Situation
from assembly.sources.files import file_candidates


def agent_files(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The files that the sections are named after."""
    return file_candidates(AgentFile.objects.filter(agent=situation.agent), sections)
