"""Where candidates come from. A source is one file and one line here."""

from assembly.sources.agent_files import agent_files
from assembly.sources.base import Gathered, Situation, Source
from assembly.sources.daily_logs import daily_logs
from assembly.sources.memories import agent_memories, team_memories
from assembly.sources.team_files import team_files

SOURCES: dict[str, Source] = {
    "agent_files": agent_files,
    "team_files": team_files,
    "daily_logs": daily_logs,
    "team_memories": team_memories,
    "agent_memories": agent_memories,
}

__all__ = ["SOURCES", "Gathered", "Situation", "Source"]
