"""A folder of Markdown files as agents keep them, read whole and checked, before anything is stored.

IDENTITY.md INSTRUCTIONS.md KNOWLEDGE.md    the agent's files
GOALS.md CONTEXT.md RULES.md                the team's files
MEMORY.md                                   memories, one per bullet (see memory_lines)
memory/2026-03-14.md                        the daily log of that day
"""

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.models import AgentFile
from memories.importing import MAX_LINES_CHARACTERS, ImportRefused, text_within
from memories.memory_lines import MemoryLines, memory_lines
from teams.models import TeamFile

MEMORY_FILE = "MEMORY.md"
LOG_FOLDER = "memory"
LOG_FILE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
AGENT_FILES = {f"{key}.md": key for key in AgentFile.Key.values}
TEAM_FILES = {f"{key}.md": key for key in TeamFile.Key.values}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What a folder holds. Files are by key, logs by date; `left_aside` names what is no part of a workspace."""

    agent_files: Mapping[str, str]
    team_files: Mapping[str, str]
    logs: Mapping[datetime.date, str]
    lines: MemoryLines
    left_aside: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many files, logs and memories there are."""
        return len(self.agent_files) + len(self.team_files) + len(self.logs) + len(self.lines.memories)


def workspace_read(folder: Path) -> Workspace:
    """Everything in the folder, checked. Raises ImportRefused for whatever could not be stored."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder; name the folder that holds IDENTITY.md and the other files.")
    agent_files, team_files, logs, aside = {}, {}, {}, []
    lines = MemoryLines()
    for path, name in _paths(folder):
        if name in AGENT_FILES:
            agent_files[AGENT_FILES[name]] = text_within(folder, path, name)
        elif name in TEAM_FILES:
            team_files[TEAM_FILES[name]] = text_within(folder, path, name)
        elif name == MEMORY_FILE:
            lines = memory_lines(text_within(folder, path, name, MAX_LINES_CHARACTERS), name)
        elif path.parent != folder and LOG_FILE.fullmatch(path.name):
            logs[_date(path, name)] = text_within(folder, path, name)
        else:
            aside.append(name)
    return Workspace(agent_files=agent_files, team_files=team_files, logs=logs, lines=lines, left_aside=tuple(aside))


def _paths(folder: Path) -> Iterator[tuple[Path, str]]:
    """What stands in the folder and in its log folder, with the names that messages use, in order."""
    try:
        for path in sorted(folder.iterdir()):
            if path.name == LOG_FOLDER and path.is_dir():
                yield from ((log, f"{LOG_FOLDER}/{log.name}") for log in sorted(path.iterdir()))
            else:
                yield path, path.name
    except OSError as error:
        raise ImportRefused(
            f"{error.filename} cannot be listed ({error.strerror}); check that you may read it."
        ) from None


def _date(path: Path, name: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(path.stem)
    except ValueError:
        raise ImportRefused(f"{name}: there is no such date; rename the file to the day it tells of.") from None
