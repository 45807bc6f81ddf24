"""The demo's past: what happened in the thirty days before it is loaded, told by past.toml, in the order of time.

Dossier's clock shows the moment of each act, so versions, records, seals, counts and alerts have the dates that they
would have if people and agents had really done all this.
"""

import datetime
import itertools
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils import timezone

from agents.authentication import principal_behind
from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import ExternalSource, Purpose, StoredProfile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile_row
from assembly.records.followers import new_assemblies_follow
from assembly.rules.services import rule_create, rule_save
from teams.models import Team, User
from teams.principal import Principal
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_create, file_save

DAYS = 30
SATURDAY = 5
KEY_NAME = "Story production"
TICKETS_SECTION = "  - {{key: {name}, heading: Open tickets, layer: L6, source: external, shape: blocks, cap: 1500}}\n"

Entry = Mapping[str, Any]
Act = Callable[[], object]


@contextmanager
def clock_at(moment: datetime.datetime) -> Iterator[None]:
    """Let Dossier's clock show this moment within the block. Only for loading the demo, which nothing runs beside."""
    real = timezone.now
    timezone.now = lambda: moment
    try:
        yield
    finally:
        timezone.now = real


@dataclass
class Timeline:
    """Acts with their moments before `now`, which are done in the order of time."""

    now: datetime.datetime
    acts: list[tuple[datetime.datetime, Act]] = field(default_factory=list)

    def at(self, moment: datetime.datetime, act: Act) -> None:
        """Add an act; what would come after `now` is done at `now`."""
        self.acts.append((min(moment, self.now), act))

    def on(self, days_ago: int, time: str, act: Act) -> None:
        """Add an act so many days ago, at this time in UTC, such as 08:40."""
        self.at(self.day(days_ago, time), act)

    def day(self, days_ago: int, time: str) -> datetime.datetime:
        """Return the moment so many days ago at this time in UTC."""
        day = self.now.astimezone(datetime.UTC).date() - datetime.timedelta(days=days_ago)
        return datetime.datetime.combine(day, datetime.time.fromisoformat(time), datetime.UTC)

    def run(self) -> None:
        """Do all acts; at the end of each day, what follows its contexts: seals, counts and alerts."""
        for days_ago in range(DAYS, 0, -1):
            self.on(days_ago, "23:59", new_assemblies_follow)
        for moment, act in sorted(self.acts, key=lambda one: one[0]):
            with clock_at(moment):
                act()


def _read() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "past.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Past:
    """The past of the demo: past.toml, and whom it is about, by username and slug."""

    timeline: Timeline
    people: Mapping[str, User]
    teams: Mapping[str, Team]
    agents: Mapping[str, Agent]
    told: Mapping[str, Any] = field(default_factory=_read)

    @property
    def published(self) -> datetime.datetime:
        """The moment at which texts with an earlier version were published."""
        return self.timeline.day(self.told["texts"]["published"], "09:30")

    def plan(self, rule: Entry) -> None:
        """Add all acts to the timeline; `rule` is the rule of demo.toml as it is today."""
        key = self._key()
        for entry in self.told["askers"]:
            self._plan_asker(entry, key)
        for entry in self.told["previews"]:
            for days_ago in entry["days"]:
                request = AssemblyRequest(topic=entry["topic"], purpose=Purpose.PREVIEW)
                self.timeline.on(days_ago, entry["time"], self._context(entry, self._person(entry["by"]), request))
        self._plan_rule(rule)
        self._plan_source(self.told["source"])
        self._plan_conflict(self.told["conflict"])

    def _key(self) -> ApiKey:
        with clock_at(self.timeline.day(DAYS, "09:00")):
            return api_key_create(agent=self.agents["luna"], name=KEY_NAME)[0]

    def _person(self, username: str) -> Principal:
        return self.people[username].principal

    def _context(self, entry: Entry, principal: Principal, asked: AssemblyRequest) -> Act:
        agent, team = self.agents[entry["agent"]], self.teams[entry["team"]]
        return lambda: assemble(agent=agent, team=team, asked=asked, principal=principal)

    def _plan_asker(self, entry: Entry, key: ApiKey) -> None:
        """Add a context at each time of each working day; topics and budgets are taken in turn."""
        by_key = principal_behind(f"agent_key:{key.id}") if entry["by"] == "key" else None
        principal = by_key or self._person(entry["by"])
        topics, budgets = itertools.cycle(entry["topics"]), itertools.cycle(entry["budgets"])
        for days_ago in range(DAYS - 1, 0, -1):
            if self.timeline.day(days_ago, "00:00").weekday() >= SATURDAY:
                continue
            for time in entry["times"]:
                asked = AssemblyRequest(topic=next(topics), max_tokens=next(budgets), purpose=Purpose.AGENT)
                self.timeline.on(days_ago, time, self._context(entry, principal, asked))

    def _plan_rule(self, rule: Entry) -> None:
        first, principal = self.told["rule"], self._person(rule["by"])
        made = {}

        def create() -> None:
            team = self.teams[rule["team"]]
            made["rule"] = rule_create(name=rule["name"], content=first["content"], owner=team, principal=principal)

        def change() -> None:
            rule_save(rule=made["rule"], content=rule["content"], enabled=True, expected_version=1, principal=principal)

        self.timeline.on(first["created"], "14:00", create)
        self.timeline.on(first["changed"], "16:45", change)

    def _plan_source(self, entry: Entry) -> None:
        """Add a source that does not answer, the contexts that asked it, and its end."""
        principal = self._person(entry["by"])

        def register() -> None:
            row = ExternalSource(name=entry["name"], label=entry["label"], url=entry["url"], timeout_ms=200)
            row.signed_by(principal.author)
            row.save(force_insert=True)
            start = find_profile_row("conversation")
            content = start.content.replace("name: conversation", f"name: {entry['profile']}") if start else ""
            content += TICKETS_SECTION.format(name=entry["name"])
            file_create(file=StoredProfile(name=entry["profile"], content=content), author=principal.author)

        def switch_off() -> None:
            ExternalSource.objects.filter(name=entry["name"]).update(enabled=False, version=2)

        self.timeline.on(entry["registered"], "09:10", register)
        for days_ago in entry["asked"]:
            asked = AssemblyRequest(topic=entry["topic"], profile=entry["profile"], purpose=Purpose.AGENT)
            self.timeline.on(days_ago, "09:20", self._context(entry, principal, asked))
        self.timeline.on(entry["switched_off"], "08:50", switch_off)

    def _plan_conflict(self, entry: Entry) -> None:
        """Add a draft, and another version of its text that somebody else published after it was begun."""
        files, writer = self.teams[entry["team"]].files, self.people[entry["draft_by"]]

        def draft() -> None:
            file = files.get(file_key=entry["file"])
            content = file.content.replace(entry["draft_says"], entry["draft_becomes"])
            draft_save(
                person_id=writer.id, about=file.about, content=content, based_on=file.version, expected_revision=0
            )

        def publish() -> None:
            file = files.get(file_key=entry["file"])
            content = file.content.replace(entry["says"], entry["becomes"])
            author = self._person(entry["published_by"]).author
            file_save(file=file, content=content, expected_version=file.version, author=author, note=entry["note"])

        self.timeline.on(entry["drafted"], "17:05", draft)
        self.timeline.on(entry["published"], "10:30", publish)
