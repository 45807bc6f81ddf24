"""The demo is loaded from files: a fictional company's people, teams, agents, records and first contexts.

Days and moments in the files are relative to the moment of loading, so that the demo is never out of date:

{{day +12}}        the date in twelve days, in words: 3 December
{{at -3 09:12}}    three days ago at that time in the agent's time zone, as JSON writes moments
{{ago 95}}         95 minutes ago, as JSON writes moments

The file `memory/day-3.md` is the log of three days ago.
"""

import datetime
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction

from agents.models import Agent, AgentFile
from agents.services import agent_create
from assembly.conflicts.find import item_conflicts_find
from assembly.demo.past import DAYS, Past, Timeline, clock_at
from assembly.models import Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create, recall_test_run
from assembly.sources.base import ConversationTurn
from config.http.errors import Conflict
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split
from memories.imports.base import Advance, memories_store
from memories.imports.record_folder import RecordFolder, load_records
from memories.imports.record_import import records_import
from memories.imports.workspace import Workspace, load_workspace, store_files, store_logs
from memories.models import Document
from memories.services import MemoryFacts, memories_of, memory_update
from memories.services.document import document_update
from teams.models import Team, TeamFile, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Author
from teams.services import membership_set, team_create
from teams.versioned_text.drafts import draft_save

DAY = re.compile(r"\{\{day ([+-][0-9]+)\}\}")
TIME_PLACEHOLDER = re.compile(r"\{\{at (-[0-9]+) ([0-9]{2}):([0-9]{2})\}\}")
AGO_PLACEHOLDER = re.compile(r"\{\{ago ([0-9]+)\}\}")


def resolve_days(text: str, today: datetime.date) -> str:
    """Return the text with each {{day …}} replaced by the date in words."""
    return DAY.sub(lambda match: _in_words(today + datetime.timedelta(days=int(match[1]))), text)


def resolve_moments(text: str, now: datetime.datetime) -> str:
    """Return the text with each {{at …}} and {{ago …}} replaced by RFC 3339. `now` is in the agent's time zone."""

    def at(match: re.Match[str]) -> str:
        day = now.date() + datetime.timedelta(days=int(match[1]))
        return datetime.datetime.combine(day, datetime.time(int(match[2]), int(match[3])), now.tzinfo).isoformat()

    def ago(match: re.Match[str]) -> str:
        # Before UTC, or an hour would be lost or won on two nights of the year.
        return (now.astimezone(datetime.UTC) - datetime.timedelta(minutes=int(match[1]))).isoformat()

    return AGO_PLACEHOLDER.sub(ago, TIME_PLACEHOLDER.sub(at, text))


def _in_words(date: datetime.date) -> str:
    return f"{date.day} {date:%B}"


def demo_records(folder: Path, now: datetime.datetime) -> RecordFolder:
    """Return the records of the folder with their days and moments replaced by dates. Raises ImportRefused.

    `now` is in the agent's time zone.
    """
    with TemporaryDirectory() as name:
        dated = Path(name)
        for path in folder.rglob("*"):
            if path.is_file():
                target = dated / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = resolve_days(path.read_text(encoding="utf-8"), now.date())
                target.write_text(resolve_moments(text, now), encoding="utf-8")
        return load_records(dated)


def agent_records_load(*, agent: Agent, folder: Path, is_open: Collection[str], now: datetime.datetime) -> None:
    """Store the folder's records for the agent, if the folder exists. `is_open` has the paths of its open documents.

    Documents are split into chunks here, not by a worker: a new user looks for them at once, and no worker may be
    running.
    """
    if not folder.is_dir():
        return
    records = demo_records(folder, now.astimezone(ZoneInfo(agent.timezone)))
    records_import(records=records, agent=agent.slug, principal=SYSTEM, advance=lambda _: None)
    for document in Document.objects.filter(agent=agent):
        if document.path in is_open:
            changes = {"is_open": True}
            document_update(thing=document, expected_version=document.version, changes=changes, principal=SYSTEM)
        document_split(id_=document.id)


FOLDER = Path(__file__).parent
LOG_NAME = re.compile(r"day-([0-9]+)")
BETWEEN_MEMORIES = datetime.timedelta(hours=20)


def demo_workspace(folder: Path, today: datetime.date) -> Workspace:
    """Return the workspace of the folder with its days replaced by dates. Raises ImportRefused."""
    with TemporaryDirectory() as name:
        dated = Path(name)
        (dated / "memory").mkdir()
        for path in [*folder.glob("*.md"), *folder.glob("memory/*.md")]:
            target = dated / path.relative_to(folder).with_stem(_dated_name(path.stem, today))
            target.write_text(resolve_days(path.read_text(encoding="utf-8"), today), encoding="utf-8")
        return load_workspace(dated)


def with_creation_times(memories: tuple[MemoryFacts, ...], now: datetime.datetime) -> list[MemoryFacts]:
    """Return the memories with times of creation, each 20 hours older than the next one; the last is 20 hours old."""
    return [
        replace(facts, occurred_at=now - BETWEEN_MEMORIES * before)
        for before, facts in zip(range(len(memories), 0, -1), memories, strict=True)
    ]


def _dated_name(stem: str, today: datetime.date) -> str:
    match = LOG_NAME.fullmatch(stem)
    return (today - datetime.timedelta(days=int(match[1]))).isoformat() if match else stem


Entry = Mapping[str, Any]
"""One table of demo.toml."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The contents of demo.toml: what the demo consists of."""

    people: list[Entry]
    teams: list[Entry]
    agents: list[Entry]
    organisation: list[Entry]
    drafts: list[Entry]
    superseded: list[Entry]
    rules: list[Entry]
    contexts: list[Entry]
    conflicts: list[Entry]
    recall_tests: list[Entry]

    @property
    def steps(self) -> int:
        """The number of steps that loading reports to `advance`."""
        return len(self.teams) + len(self.agents) + len(self.contexts)


def load_plan() -> Plan:
    """Return the plan of the demo, read from demo.toml."""
    return Plan(**tomllib.loads((FOLDER / "demo.toml").read_text(encoding="utf-8")))


@transaction.atomic
def demo_load(*, plan: Plan, now: datetime.datetime, advance: Advance) -> None:
    """Store the whole demo, its days relative to that of `now`. Raises Conflict if teams or agents exist already."""
    if Team.objects.exists() or Agent.objects.exists():
        raise Conflict("There are teams or agents here already. Nothing was loaded.")
    past = _begin(plan, now)
    for entry in _with_progress(plan.teams, advance):
        _plan_team(entry, past)
    for entry in _with_progress(plan.agents, advance):
        _plan_agent(entry, past)
    for entry in plan.organisation:
        _plan_organisation_file(entry, past)
    for entry in plan.rules:
        past.plan(entry)
    past.timeline.run()
    for entry in plan.agents:
        folder = FOLDER / "agents" / entry["slug"] / "records"
        agent_records_load(agent=past.agents[entry["slug"]], folder=folder, is_open=entry.get("open", []), now=now)
    for entry in plan.drafts:
        _draft(entry, past)
    for entry in plan.superseded:
        _supersede_memory(past.teams[entry["team"]], entry)
    for entry in _with_progress(plan.contexts, advance):
        _context(entry, past)
    _check_texts(plan, past)


def _begin(plan: Plan, now: datetime.datetime) -> Past:
    """Create the people, teams and agents at the beginning of the past."""
    with clock_at(now - datetime.timedelta(days=DAYS)):
        people = {entry["username"]: _person(entry) for entry in plan.people}
        teams = {entry["slug"]: team_create(slug=entry["slug"], name=entry["name"]) for entry in plan.teams}
        for entry in plan.people:
            for slug, role in entry["roles"].items():
                membership_set(team=teams[slug], user=people[entry["username"]], role=role)
        agents = {entry["slug"]: _agent(entry, teams) for entry in plan.agents}
    return Past(Timeline(now), people, teams, agents)


def _with_progress(entries: list[Entry], advance: Advance) -> Iterable[Entry]:
    for entry in entries:
        yield entry
        advance(1)


def _person(entry: Entry) -> User:
    """Create a member without a password, who cannot sign in, because a repository must not contain passwords.

    Raises Conflict if the user name is taken.
    """
    if User.objects.filter(username=entry["username"]).exists():
        raise Conflict(f"There is a person “{entry['username']}” here already. Nothing was loaded.")
    return User.objects.create_user(entry["username"], name=entry["name"])


def _plan_team(entry: Entry, past: Past) -> None:
    """Plan when the team's texts were published, and when each of its memories was made."""
    team, now = past.teams[entry["slug"]], past.timeline.now
    folder = FOLDER / "teams" / team.slug
    for earlier in ("earlier", ""):
        texts = demo_workspace(folder / earlier, now.date()).team_files
        _plan_texts(entry, earlier, TeamFile.objects.filter(team=team), texts, past)
    _plan_memories(team, demo_workspace(folder, now.date()).lines.memories, past)


def _agent(entry: Entry, teams: Mapping[str, Team]) -> Agent:
    works_in = [teams[slug] for slug in entry["teams"]]
    return agent_create(slug=entry["slug"], name=entry["name"], timezone=entry["timezone"], teams=works_in)


def _plan_agent(entry: Entry, past: Past) -> None:
    """Plan when the agent's texts were published, and when each of its memories and daily logs was made."""
    agent, now = past.agents[entry["slug"]], past.timeline.now
    today, folder = agent.today(now), FOLDER / "agents" / entry["slug"]
    for earlier in ("earlier", ""):
        texts = demo_workspace(folder / earlier, today).agent_files
        _plan_texts(entry, earlier, AgentFile.objects.filter(agent=agent), texts, past)
    workspace = demo_workspace(folder, today)
    for date, content in workspace.logs.items():
        evening = datetime.datetime.combine(date, datetime.time(18), ZoneInfo(agent.timezone))
        past.timeline.at(evening, partial(store_logs, agent, {date: content}, SYSTEM, _ignore_progress))
    _plan_memories(agent, workspace.lines.memories, past)


def _plan_organisation_file(entry: Entry, past: Past) -> None:
    """Plan the creation of a file of the organisation, at the beginning."""
    text = (FOLDER / "organisation" / f"{entry['key']}.md").read_text(encoding="utf-8")
    create = partial(
        organisation_file_create,
        key=entry["key"],
        title=entry["title"],
        content=resolve_days(text, past.timeline.now.date()),
        principal=past.people[entry["by"]].principal,
        note=entry["note"],
    )
    past.timeline.at(past.timeline.day(DAYS, "12:00"), create)


def _plan_texts(entry: Entry, earlier: str, files: Any, texts: Mapping[str, str], past: Past) -> None:
    """Plan the publication of texts: at the beginning, or later if there is an earlier version."""
    if author := _author(entry, earlier, past.people):
        follows = not earlier and "earlier_by" in entry
        moment = past.published if follows else past.timeline.day(DAYS, "12:00")
        past.timeline.at(moment, partial(store_files, files, texts, author, _ignore_progress, _notes(entry, earlier)))


def _plan_memories(owner: Team | Agent, memories: tuple[MemoryFacts, ...], past: Past) -> None:
    for facts in with_creation_times(memories, past.timeline.now):
        store = partial(memories_store, owner=owner, facts=[facts], principal=SYSTEM, advance=_ignore_progress)
        past.timeline.at(facts.occurred_at or past.timeline.now, store)


def _author(entry: Entry, earlier: str, people: Mapping[str, User]) -> Author | None:
    """Return the author of the texts, or of the earlier versions (`earlier` is not ""); None if there are none."""
    username = entry.get("earlier_by" if earlier else "by")
    return people[username].principal.author if username else None


def _notes(entry: Entry, earlier: str) -> Mapping[str, str]:
    """Return the author's notes on the texts, or on the earlier versions (`earlier` is not ""), by file."""
    notes: Mapping[str, str] = entry.get("earlier_notes" if earlier else "notes", {})
    return notes


def _draft(entry: Entry, past: Past) -> None:
    owner: Any = past.teams[entry["team"]] if "team" in entry else past.agents[entry["agent"]]
    file = owner.files.get(file_key=entry["file"])
    draft_save(
        person_id=past.people[entry["by"]].id,
        about=file.about,
        content=file.content.replace(entry["says"], entry["becomes"]),
        based_on=file.version,
        expected_revision=0,
    )


def _ignore_progress(_steps: int) -> None:
    """Do nothing: progress is reported for whole teams and agents, not for their files."""


def _supersede_memory(team: Team, entry: Entry) -> None:
    memories = memories_of(team)
    old, new = (memories.get(text__startswith=entry[which]) for which in ("old", "new"))
    facts = MemoryFacts(kind=old.kind, text=old.text, occurred_at=old.occurred_at)
    memory_update(memory=old, expected_version=old.version, facts=facts, superseded_by=new, principal=SYSTEM)


def _check_texts(plan: Plan, past: Past) -> None:
    """Find the conflicts and run the recall tests of the plan."""
    for entry in plan.conflicts:
        _find_conflict(past.agents[entry["agent"]], entry)
    for entry in plan.recall_tests:
        _recall_test(entry, past)


def _find_conflict(agent: Agent, entry: Entry) -> None:
    """Find what the memory contradicts here, not by a worker: a new user looks for it at once."""
    file_split(kind="agent_file", id_=agent.files.get(file_key=AgentFile.Key.KNOWLEDGE).id)
    memory = memories_of(agent).get(text__startswith=entry["memory"])
    item_conflicts_find(kind="memory", id_=memory.id)


def _recall_test(entry: Entry, past: Past) -> None:
    """Create a recall test of a team for one of its agents, and run it, so that it has a result."""
    principal = past.people[entry["by"]].principal
    facts = RecallFacts(
        name=entry["name"],
        topic=entry["topic"],
        expectations=[Expectation("include", text=text) for text in entry["include"]],
    )
    agent, team = past.agents[entry["agent"]], past.teams[entry["team"]]
    test = recall_test_create(agent=agent, team=team, facts=facts, principal=principal)
    recall_test_run(test=test, principal=principal)


def _context(entry: Entry, past: Past) -> None:
    assemble(
        agent=past.agents[entry["agent"]],
        team=past.teams[entry["team"]],
        principal=past.people[entry["by"]].principal,
        asked=_to_assembly_request(entry, past.timeline.now),
    )


def _to_assembly_request(entry: Entry, now: datetime.datetime) -> AssemblyRequest:
    """Return the request that an entry of demo.toml describes; its keys are the fields of AssemblyRequest."""
    wishes = {name: value for name, value in entry.items() if name not in {"agent", "team", "by", "history"}}
    history = tuple(ConversationTurn(**turn) for turn in entry.get("history", []))
    return AssemblyRequest(**wishes, history=history, now=now, purpose=Purpose.AGENT)
