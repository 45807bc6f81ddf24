"""This module imports a folder of an agent's Markdown files as its files, daily logs and memories.

The whole folder is read and checked before anything is stored:

IDENTITY.md INSTRUCTIONS.md KNOWLEDGE.md    the agent's files
GOALS.md CONTEXT.md RULES.md                the team's files
MEMORY.md                                   memories, one per bullet (see `memories.archive.memory_markdown`)
memory/2026-03-14.md                        the daily log of that day
agent.json team.json                        of an export: the sensitivities of files and logs, and nothing else
"""

import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import QuerySet

from agents.models import Agent, AgentFile, DailyLog
from agents.services import daily_log_create, daily_log_replace
from memories.archive.memory_markdown import MemoryFile, parse_memory_file
from memories.imports.base import (
    MAX_LINES_CHARACTERS,
    Advance,
    ImportRefused,
    UnreadableText,
    get_or_create_agent,
    get_or_create_team,
    memories_store,
    parse_levels,
    read_text_within,
)
from memories.services import MemoryFacts, Owner, memories_of, memory_level_set
from teams.level_changes import level_set
from teams.models import TeamFile
from teams.principal import Author, Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import file_save, lock_row

MEMORY_FILE = "MEMORY.md"
SETTINGS_FILES = ("agent.json", "team.json")
LOG_FOLDER = "memory"
LOG_FILE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
AGENT_FILES = {f"{key}.md": key for key in AgentFile.Key.values}
TEAM_FILES = {f"{key}.md": key for key in TeamFile.Key.values}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The content of a folder: files by key, daily logs by date, memories, and the names of ignored files.

    `levels` are the sensitivities that an export says, by the names of files and logs.
    """

    agent_files: Mapping[str, str]
    team_files: Mapping[str, str]
    logs: Mapping[datetime.date, str]
    lines: MemoryFile
    ignored_names: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of files, logs and memories."""
        return len(self.agent_files) + len(self.team_files) + len(self.logs) + len(self.lines.memories)


def load_workspace(folder: Path) -> Workspace:
    """Return the content of the folder. Raises ImportRefused for anything that cannot be stored."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder; name the folder with IDENTITY.md and the other files.")
    agent_files, team_files, logs, aside = {}, {}, {}, []
    lines, levels = MemoryFile(), dict[str, int]()
    for path, name in _paths(folder):
        if name in AGENT_FILES:
            agent_files[AGENT_FILES[name]] = read_text_within(folder, path, name)
        elif name in TEAM_FILES:
            team_files[TEAM_FILES[name]] = read_text_within(folder, path, name)
        elif name == MEMORY_FILE:
            lines = parse_memory_file(read_text_within(folder, path, name, MAX_LINES_CHARACTERS), name)
        elif path.parent != folder and LOG_FILE.fullmatch(path.name):
            logs[_date(path, name)] = read_text_within(folder, path, name)
        elif name in SETTINGS_FILES and (found := _exported_levels(folder, path, name)):
            levels |= found
        else:
            aside.append(name)
    return Workspace(
        agent_files=agent_files,
        team_files=team_files,
        logs=logs,
        lines=lines,
        ignored_names=tuple(aside),
        levels=levels,
    )


def _exported_levels(folder: Path, path: Path, name: str) -> dict[str, int]:
    """Return the sensitivities in a settings file of an export; none in a file that is something else."""
    try:
        said = json.loads(read_text_within(folder, path, name))
    except (UnreadableText, ValueError, RecursionError):
        return {}
    return parse_levels(said.get("sensitivity"), name) if isinstance(said, dict) else {}


def _paths(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files in the folder and in its log folder in order, with their names for messages."""
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
        raise ImportRefused(f"{name}: there is no such date; rename the file to the day of the log.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceImport:
    """The numbers of files with a new version, of logs that are new or changed, and of new memories."""

    files: int
    logs: int
    memories: int


@transaction.atomic
def workspace_import(
    *, workspace: Workspace, agent: str, team: str | None, principal: Principal, advance: Advance
) -> WorkspaceImport:
    """Store a workspace for the agent, and its team files for the team. Both are slugs, and created if necessary.

    The agent joins the team. Without a team, team files are not stored. What is new gets the sensitivity that the
    folder says, what exists is raised to it. All or nothing. Raises ImportRefused, and Forbidden for a sensitivity that
    the principal may not set.
    """
    if not workspace.size - (0 if team else len(workspace.team_files)):
        hint = "name a team with --team" if workspace.team_files else "name a folder with IDENTITY.md or MEMORY.md"
        raise ImportRefused(f"There is nothing to import for {agent}; {hint}.")
    owner = get_or_create_agent(agent)
    own_files = AgentFile.objects.filter(agent=owner)
    _set_levels(own_files.filter(file_key__in=workspace.agent_files), workspace.levels, principal)
    files = store_files(own_files, workspace.agent_files, principal.author, advance)
    if team:
        joined = get_or_create_team(team)
        owner.teams.add(joined)
        team_files = TeamFile.objects.filter(team=joined)
        _set_levels(team_files.filter(file_key__in=workspace.team_files), workspace.levels, principal)
        files += store_files(team_files, workspace.team_files, principal.author, advance)
    logs = store_logs(owner, workspace.logs, principal, advance, workspace.levels)
    facts = new_facts(owner, workspace.lines)
    _raise_memories(owner, workspace.lines, principal)
    advance(len(workspace.lines.memories) - len(facts))
    memories = memories_store(owner=owner, facts=facts, principal=principal, advance=advance)
    return WorkspaceImport(files=files, logs=logs, memories=memories)


def new_facts(owner: Owner, lines: MemoryFile) -> list[MemoryFacts]:
    """Return the memories that the owner does not have under the ids in the file's comments."""
    there = set(memories_of(owner).filter(id__in=set(lines.ids.values())).values_list("id", flat=True))
    return [facts for facts in lines.memories if lines.ids.get(facts.external_id) not in there]


def _set_levels(
    files: Iterable[AgentFile] | Iterable[TeamFile], levels: Mapping[str, int], principal: Principal
) -> None:
    """Raise the files to their levels; one that nobody has written into yet gets any level. Raises Forbidden."""
    for file in files:
        level = levels.get(f"{file.file_key}.md", file.sensitivity)
        if level > file.sensitivity or (file.version == 1 and not file.content):
            level_set(row=file, level=level, principal=principal)


def _raise_memories(owner: Owner, lines: MemoryFile, principal: Principal) -> None:
    """Raise the owner's memories that the file names by their ids to the levels in it. Raises Forbidden."""
    levels = {lines.ids[one.external_id]: one.sensitivity for one in lines.memories if one.external_id in lines.ids}
    above = {id_: level for id_, level in levels.items() if level and level > DEFAULT_LEVEL}
    for memory in memories_of(owner).filter(id__in=above):
        if memory.sensitivity < above[memory.id]:
            memory_level_set(memory=memory, level=above[memory.id], principal=principal)


def store_files(
    files: QuerySet[AgentFile] | QuerySet[TeamFile],
    contents: Mapping[str, str],
    author: Author,
    advance: Advance,
    notes: Mapping[str, str] | None = None,
) -> int:
    """Save the contents, by key, as the files of one owner; return how many got a new version.

    `notes`, by key, say what changed.
    """
    changed = 0
    for file in files.filter(file_key__in=contents):
        current = lock_row(file)
        before, content = current.version, contents[file.file_key]
        note = (notes or {}).get(file.file_key, "")
        saved = file_save(file=current, content=content, expected_version=before, author=author, note=note)
        changed += saved.version > before
        advance(1)
    return changed


def store_logs(
    agent: Agent,
    logs: Mapping[datetime.date, str],
    principal: Principal,
    advance: Advance,
    levels: Mapping[str, int] | None = None,
) -> int:
    """Save the contents, by date, as the agent's daily logs; return how many are new or got a new version.

    `levels`, by the names of logs, are the sensitivities of new ones, and those to which others are raised.
    """
    changed = 0
    for date, content in logs.items():
        level = (levels or {}).get(f"{LOG_FOLDER}/{date:%Y-%m-%d}.md")
        log = DailyLog.objects.filter(agent=agent, date=date).first()
        higher = level if log and level and level > log.sensitivity else None
        changed += log is None or log.content != content or higher is not None
        if log is None:
            sensitivity = DEFAULT_LEVEL if level is None else level
            daily_log_create(agent=agent, date=date, content=content, principal=principal, sensitivity=sensitivity)
        elif log.content != content or higher is not None:
            daily_log_replace(
                log=log, content=content, expected_version=log.version, principal=principal, sensitivity=higher
            )
        advance(1)
    return changed
