"""A clock that tests set, and a story of random edits, each by the service that people and agents use."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_create, daily_log_append, daily_log_replace
from assembly.models import StoredProfile, StoredRule
from assembly.profiles.services import profile_create, profile_save
from assembly.rules.services import rule_create, rule_save
from memories.models import Memory
from memories.services import (
    MemoryFacts,
    MergeRequest,
    facts_of,
    last_merge,
    memories_merge,
    memories_of,
    memories_unmerge,
    memory_create,
    memory_update,
)
from teams.models import OrganisationFile, Team, TeamFile
from teams.organisation.services import organisation_file_create, organisation_file_rename
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save

BEGUN = datetime.datetime(2026, 3, 1, 6, tzinfo=datetime.UTC)
WORDS = ("harbour", "ferry", "lantern", "tide", "captain", "market", "bell", "rope", "Ada: ", "yesterday", "why?")
PROFILE = """
name: quay
budget: {budget}
similarity_threshold: 0.1
ranker: default
sections:
  - {{key: instructions, heading: Instructions, layer: L1, source: agent_files, shape: text, required: true}}
  - {{key: house, heading: House, layer: L1, source: organisation_files, shape: blocks, cap: {cap}}}
  - {{key: goals, heading: Goals, layer: L2, source: team_files, shape: text, cap: {cap}}}
  - {{key: days, heading: Days, layer: L3, source: daily_logs, shape: entries, cap: {cap}}}
  - {{key: ours, heading: Ours, layer: L4, source: team_memories, shape: lines, cap: {cap}, top_k: 4}}
  - {{key: mine, heading: Mine, layer: L5, source: agent_memories, shape: lines, cap: {cap}, top_k: 3}}
"""
RULE = "when: {{task_contains: [{word}]}}\nthen: {{{deed}}}\n"
DEEDS = (
    "exclude: [{source: daily_logs}]",
    "boost: [{memory_kind: fact, weight: 2}]",
    "always_include: [{path: GOALS}]",
    "always_include: [{memory_kind: fact}]",
)


@dataclass(slots=True)
class Clock:
    """What `timezone.now` tells."""

    now: datetime.datetime

    def goes_on(self, **by: float) -> datetime.datetime:
        """The new time."""
        self.now += datetime.timedelta(**by)
        return self.now


def clock_set(monkeypatch: pytest.MonkeyPatch, now: datetime.datetime) -> Clock:
    """From now on, it is then."""
    clock = Clock(now)
    monkeypatch.setattr("django.utils.timezone.now", lambda: clock.now)
    return clock


@dataclass(frozen=True, slots=True)
class Story:
    """Whose it is, when, and by which chance it goes on."""

    agent: Agent
    team: Team
    clock: Clock
    chance: Random

    def goes_on(self) -> None:
        """A few edits at one moment, some time after the last."""
        self.clock.goes_on(hours=self.chance.choice([0.5, 3, 20, 50]))
        for _ in range(self.chance.randint(1, 3)):
            self.chance.choice(EDITS)(self)

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(3, 12)))

    def owner(self) -> Agent | Team:
        return self.agent if self.chance.random() < 0.5 else self.team

    def memories(self) -> Sequence[Memory]:
        """Of one of them, those that hold, in any order."""
        rows = list(memories_of(self.owner()).filter(superseded_by=None, retired_because="").order_by("id"))
        self.chance.shuffle(rows)
        return rows


def story_begun(monkeypatch: pytest.MonkeyPatch, seed: int) -> Story:
    """The first moment of one: an agent, its team, a profile, and a memory of each."""
    clock = clock_set(monkeypatch, BEGUN)
    team = team_create(slug="quay", name="Quay")
    agent = agent_create(slug="mira", name="Mira", teams=[team], timezone="Pacific/Auckland")
    profile_create(name="quay", content=PROFILE.format(budget=400, cap=60), principal=SYSTEM)
    for owner in (agent, team):
        memory_create(owner=owner, facts=MemoryFacts(kind="fact", text="The tide turns the ferry"), principal=SYSTEM)
    return Story(agent, team, clock, Random(seed))


def _file(story: Story) -> None:
    files: list[AgentFile | TeamFile] = [*story.agent.files.order_by("id"), *story.team.files.order_by("id")]
    file = story.chance.choice(files)
    file_save(file=file, content=story.text(), expected_version=file.version, author=SYSTEM.author)


def _organisation_file(story: Story) -> None:
    files = list(OrganisationFile.objects.order_by("file_key"))
    if len(files) < 3:
        key = f"file-{len(files)}"
        organisation_file_create(key=key, title=story.text(), content=story.text(), principal=SYSTEM)
        return
    file = story.chance.choice(files)
    if story.chance.random() < 0.3:
        title = story.text()
        organisation_file_rename(file=file, title=title, expected_version=file.version, principal=SYSTEM)
    else:
        content = f"{story.text()}\n\n# {story.text()}\n\n{story.text()}"
        file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def _log(story: Story) -> None:
    day = story.agent.today(story.clock.now) - datetime.timedelta(days=story.chance.randint(0, 8))
    log = DailyLog.objects.filter(agent=story.agent, date=day).first()
    if log and story.chance.random() < 0.5:
        daily_log_replace(log=log, content=story.text(), expected_version=log.version, principal=SYSTEM)
    else:
        daily_log_append(agent=story.agent, date=day, text=story.text(), principal=SYSTEM)


def _new_memory(story: Story) -> None:
    kind = story.chance.choice(["fact", "decision"])
    facts = MemoryFacts(kind=kind, text=story.text(), salience=story.chance.random())
    memory_create(owner=story.owner(), facts=facts, principal=SYSTEM)


def _reworded(story: Story) -> None:
    for memory in story.memories()[:1]:
        facts = MemoryFacts(
            kind=story.chance.choice([memory.kind, "preference"]),
            text=story.text(),
            salience=story.chance.random(),
            occurred_at=story.chance.choice([None, story.clock.now - datetime.timedelta(days=3)]),
        )
        _update(memory, facts)


def _pinned(story: Story) -> None:
    for memory in story.memories()[:1]:
        _update(memory, facts_of(memory), pinned=not memory.pinned)


def _retired(story: Story) -> None:
    for memory in story.memories()[:1]:
        _update(memory, facts_of(memory), retired_because="It holds no more")


def _brought_back(story: Story) -> None:
    for memory in memories_of(story.owner()).exclude(retired_because="").order_by("id")[:1]:
        _update(memory, facts_of(memory), retired_because="")


def _superseded(story: Story) -> None:
    for memory, successor in zip(story.memories()[:1], story.memories()[1:2], strict=False):
        if memory != successor and (memory.agent_id, memory.team_id) == (successor.agent_id, successor.team_id):
            _update(memory, facts_of(memory), successor=successor)


def _merged(story: Story) -> None:
    some = story.memories()[:2]
    if len(some) > 1:
        owner = some[0].agent or some[0].team
        assert owner
        versions = {memory.id: memory.version for memory in some}
        memories_merge(owner=owner, merging=MergeRequest(some[0].id, versions, story.text()), principal=SYSTEM)


def _separated(story: Story) -> None:
    for memory in story.memories():
        if last_merge(memory):
            memories_unmerge(memory=memory, expected_version=memory.version, principal=SYSTEM)
            return


def _update(memory: Memory, facts: MemoryFacts, successor: Memory | None = None, **told: object) -> None:
    memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=facts,
        superseded_by=successor,
        principal=SYSTEM,
        **told,  # type: ignore[arg-type]
    )


def _rule(story: Story) -> None:
    content = RULE.format(word=story.chance.choice(["lantern", "tide"]), deed=story.chance.choice(DEEDS))
    rule = story.chance.choice([None, *StoredRule.objects.order_by("name")])
    if rule is None:
        count = StoredRule.objects.count()
        owner = story.chance.choice([None, story.agent, story.team])
        rule_create(name=f"rule-{count}", content=content, owner=owner, principal=SYSTEM)
    elif story.chance.random() < 0.5:
        rule_save(rule=rule, content=content, enabled=rule.enabled, expected_version=rule.version, principal=SYSTEM)
    else:
        rule_save(
            rule=rule, content=rule.content, enabled=not rule.enabled, expected_version=rule.version, principal=SYSTEM
        )


def _profile(story: Story) -> None:
    row = StoredProfile.objects.get(name="quay")
    content = PROFILE.format(budget=story.chance.choice([120, 400, 4000]), cap=story.chance.choice([30, 60, 200]))
    profile_save(name="quay", content=content, expected_version=row.version, principal=SYSTEM)


EDITS: tuple[Callable[[Story], None], ...] = (
    *[_file, _organisation_file, _organisation_file, _log, _new_memory, _new_memory, _reworded, _pinned, _retired],
    *[_brought_back, _superseded, _merged, _separated, _rule, _profile],
)
