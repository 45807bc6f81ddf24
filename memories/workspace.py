"""Workspaces: what an agent (or a team) keeps in a folder, stored as files, daily logs and memories."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from agents.models import Agent, AgentFile, DailyLog
from agents.services import daily_log_create, daily_log_replace
from memories.importing import Advance, ImportRefused, agent_to_fill, memories_store, team_to_fill
from memories.memory_lines import MemoryLines
from memories.services import MemoryFacts, Owner, memories_of
from memories.workspace_folder import Workspace
from teams.files import file_save, locked
from teams.models import TeamFile
from teams.principal import Author, Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How many files got a new version, logs were started or got a new version, and memories were new."""

    files: int
    logs: int
    memories: int


@transaction.atomic
def workspace_import(
    *, workspace: Workspace, agent: str, team: str | None, principal: Principal, advance: Advance
) -> Imported:
    """Store a workspace for the agent, and its team files for the team; both are slugs, and made when missing.

    The agent joins the team. Without a team, team files are not stored. All or nothing. Raises ImportRefused.
    """
    if not workspace.size - (0 if team else len(workspace.team_files)):
        hint = "name a team with --team" if workspace.team_files else "name a folder with IDENTITY.md or MEMORY.md"
        raise ImportRefused(f"There is nothing to import for {agent}; {hint}.")
    owner = agent_to_fill(agent)
    files = files_store(AgentFile.objects.filter(agent=owner), workspace.agent_files, principal.author, advance)
    if team:
        joined = team_to_fill(team)
        owner.teams.add(joined)
        team_files = TeamFile.objects.filter(team=joined)
        files += files_store(team_files, workspace.team_files, principal.author, advance)
    logs = logs_store(owner, workspace.logs, principal, advance)
    facts = facts_unknown(owner, workspace.lines)
    advance(len(workspace.lines.memories) - len(facts))
    memories = memories_store(owner=owner, facts=facts, principal=principal, advance=advance)
    return Imported(files=files, logs=logs, memories=memories)


def facts_unknown(owner: Owner, lines: MemoryLines) -> list[MemoryFacts]:
    """The memories without those that the owner has under the ids of their export."""
    there = set(memories_of(owner).filter(id__in=set(lines.ids.values())).values_list("id", flat=True))
    return [facts for facts in lines.memories if lines.ids.get(facts.external_id) not in there]


def files_store(
    files: QuerySet[AgentFile] | QuerySet[TeamFile],
    contents: Mapping[str, str],
    author: Author,
    advance: Advance,
    notes: Mapping[str, str] | None = None,
) -> int:
    """Save the contents, by key, into one owner's files. Returns how many got a new version.

    The notes, by key, say what changed.
    """
    changed = 0
    for file in files.filter(file_key__in=contents):
        current = locked(file)
        before, content = current.version, contents[file.file_key]
        note = (notes or {}).get(file.file_key, "")
        saved = file_save(file=current, content=content, expected_version=before, author=author, note=note)
        changed += saved.version > before
        advance(1)
    return changed


def logs_store(agent: Agent, logs: Mapping[datetime.date, str], principal: Principal, advance: Advance) -> int:
    """Make the contents, by date, the agent's daily logs. Returns how many were started or got a new version."""
    changed = 0
    for date, content in logs.items():
        log = DailyLog.objects.filter(agent=agent, date=date).first()
        changed += log is None or log.content != content
        if log is None:
            daily_log_create(agent=agent, date=date, content=content, principal=principal)
        elif log.content != content:
            daily_log_replace(log=log, content=content, expected_version=log.version, principal=principal)
        advance(1)
    return changed
