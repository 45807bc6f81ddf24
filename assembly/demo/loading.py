"""Loading the demo: a fictional company's people, teams and agents, and the first contexts of these agents."""

import datetime
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from agents.models import Agent, AgentFile
from agents.services import agent_create
from assembly.asked import Asked
from assembly.demo.records import agent_records_load
from assembly.demo.workspaces import FOLDER, aged, workspace_of
from assembly.rules.services import rule_create
from assembly.service import assemble
from assembly.sources import Turn
from config.http.errors import Conflict
from memories.importing import Advance, memories_store
from memories.services import MemoryFacts, memories_of, memory_update
from memories.workspace import files_store, logs_store
from teams.drafts import draft_save
from teams.models import Team, TeamFile, User
from teams.principal import SYSTEM, Author
from teams.services import membership_set, team_create

Entry = Mapping[str, Any]
"""One table of demo.toml."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What demo.toml says."""

    people: list[Entry]
    teams: list[Entry]
    agents: list[Entry]
    drafts: list[Entry]
    superseded: list[Entry]
    rules: list[Entry]
    contexts: list[Entry]

    @property
    def steps(self) -> int:
        """How often `advance` is told that one more thing is done."""
        return len(self.teams) + len(self.agents) + len(self.contexts)


def plan_read() -> Plan:
    """The demo's plan, as it lies beside this file."""
    return Plan(**tomllib.loads((FOLDER / "demo.toml").read_text(encoding="utf-8")))


@transaction.atomic
def demo_load(*, plan: Plan, now: datetime.datetime, advance: Advance) -> None:
    """Store the whole demo, its days counted from the day of `now`. Raises Conflict where it would meet others."""
    if Team.objects.exists() or Agent.objects.exists():
        raise Conflict("There are teams or agents here already. Nothing was loaded.")
    people = {entry["username"]: _person(entry) for entry in plan.people}
    teams = {entry["slug"]: _team(entry, people, now) for entry in _counted(plan.teams, advance)}
    for entry in plan.people:
        for slug, role in entry["roles"].items():
            membership_set(team=teams[slug], user=people[entry["username"]], role=role)
    agents = {entry["slug"]: _agent(entry, people, teams, now) for entry in _counted(plan.agents, advance)}
    for entry in plan.drafts:
        _draft(entry, people, teams, agents)
    for entry in plan.superseded:
        _supersede(teams[entry["team"]], entry)
    for entry in plan.rules:
        _rule(teams[entry["team"]], people[entry["by"]], entry)
    for entry in _counted(plan.contexts, advance):
        _context(entry, people, teams, agents, now)


def _counted(entries: list[Entry], advance: Advance) -> Iterable[Entry]:
    for entry in entries:
        yield entry
        advance(1)


def _person(entry: Entry) -> User:
    """A member who cannot sign in: without a password, as none may stand in the repository."""
    if User.objects.filter(username=entry["username"]).exists():
        raise Conflict(f"There is a person “{entry['username']}” here already. Nothing was loaded.")
    return User.objects.create_user(entry["username"], name=entry["name"])


def _team(entry: Entry, people: Mapping[str, User], now: datetime.datetime) -> Team:
    team = team_create(slug=entry["slug"], name=entry["name"])
    folder = FOLDER / "teams" / team.slug
    for earlier in ("earlier", ""):
        if author := _author(entry, earlier, people):
            texts = workspace_of(folder / earlier, now.date()).team_files
            files_store(TeamFile.objects.filter(team=team), texts, author, _uncounted, _notes(entry, earlier))
    facts = aged(workspace_of(folder, now.date()).lines.memories, now)
    memories_store(owner=team, facts=facts, principal=SYSTEM, advance=_uncounted)
    return team


def _agent(entry: Entry, people: Mapping[str, User], teams: Mapping[str, Team], now: datetime.datetime) -> Agent:
    works_in = [teams[slug] for slug in entry["teams"]]
    agent = agent_create(slug=entry["slug"], name=entry["name"], timezone=entry["timezone"], teams=works_in)
    today, folder = agent.today(now), FOLDER / "agents" / entry["slug"]
    for earlier in ("earlier", ""):
        if author := _author(entry, earlier, people):
            texts = workspace_of(folder / earlier, today).agent_files
            files_store(AgentFile.objects.filter(agent=agent), texts, author, _uncounted, _notes(entry, earlier))
    workspace = workspace_of(folder, today)
    logs_store(agent, workspace.logs, SYSTEM, _uncounted)
    memories_store(owner=agent, facts=aged(workspace.lines.memories, now), principal=SYSTEM, advance=_uncounted)
    agent_records_load(agent=agent, folder=folder / "records", is_open=entry.get("open", []), now=now)
    return agent


def _author(entry: Entry, earlier: str, people: Mapping[str, User]) -> Author | None:
    """Who wrote the texts as they stand, or the earlier ones; None where there are none."""
    username = entry.get("earlier_by" if earlier else "by")
    return people[username].principal.author if username else None


def _notes(entry: Entry, earlier: str) -> Mapping[str, str]:
    """What their author says of them, by file."""
    notes: Mapping[str, str] = entry.get("earlier_notes" if earlier else "notes", {})
    return notes


def _draft(entry: Entry, people: Mapping[str, User], teams: Mapping[str, Team], agents: Mapping[str, Agent]) -> None:
    owner: Any = teams[entry["team"]] if "team" in entry else agents[entry["agent"]]
    file = owner.files.get(file_key=entry["file"])
    draft_save(
        person_id=people[entry["by"]].id,
        about=file.about,
        content=file.content.replace(entry["says"], entry["becomes"]),
        based_on=file.version,
        expected_revision=0,
    )


def _uncounted(_steps: int) -> None:
    """The demo counts whole teams and agents, not their files."""


def _supersede(team: Team, entry: Entry) -> None:
    memories = memories_of(team)
    old, new = (memories.get(text__startswith=entry[which]) for which in ("old", "new"))
    facts = MemoryFacts(kind=old.kind, text=old.text, occurred_at=old.occurred_at)
    memory_update(memory=old, expected_version=old.version, facts=facts, superseded_by=new, principal=SYSTEM)


def _rule(team: Team, by: User, entry: Entry) -> None:
    rule_create(name=entry["name"], content=entry["content"], owner=team, principal=by.principal)


def _context(
    entry: Entry,
    people: Mapping[str, User],
    teams: Mapping[str, Team],
    agents: Mapping[str, Agent],
    now: datetime.datetime,
) -> None:
    assemble(
        agent=agents[entry["agent"]],
        team=teams[entry["team"]],
        principal=people[entry["by"]].principal,
        asked=_asked(entry, now),
    )


def _asked(entry: Entry, now: datetime.datetime) -> Asked:
    """What the entry asks for: its own words are those of Asked."""
    wishes = {name: value for name, value in entry.items() if name not in {"agent", "team", "by", "history"}}
    history = tuple(Turn(**turn) for turn in entry.get("history", []))
    return Asked(**wishes, history=history, now=now)
