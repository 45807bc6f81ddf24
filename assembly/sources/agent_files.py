"""The agent's own files: the section `identity` is its IDENTITY, and so on."""

from collections.abc import Sequence

from agents.models import AgentFile
from assembly.engine.profile import Section
from assembly.sources.base import Gathered, Reading, Situation
from assembly.sources.files import files_reading


def agent_files(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The files that the sections are named after."""
    return agent_files_reading(situation, sections).alone()


def agent_files_reading(situation: Situation, sections: Sequence[Section]) -> Reading:
    """The statement that reads them."""
    return files_reading(AgentFile, "agent_id", situation.agent.id, sections)
