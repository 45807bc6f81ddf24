"""Each kind of write that changes an answer makes cached answers invalid, and this would be noticed if it did not.

Each is tried twice. First without the triggers that count it: then a cached answer is repeated, and differs from one
that is assembled with every cache off, so the comparison, which is that of `make bench ONLY=cache_mix`, is able to
fail. Then with them: the answer is a new one, and equal.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from agents.models import Agent, AgentTeam, DailyLog
from assembly.engine.types import Summary
from assembly.models import Conflict, ProfileTuning, StoredProfile, StoredRule, TuningChange, text_hash
from assembly.pipeline import level_derivation
from assembly.pipeline.answer_cache import AssemblyResult, assembly_cache
from assembly.pipeline.levels import derivers
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import load_record
from config.db.statements import fetch_rows
from config.http.errors import Invalid
from memories.models import (
    Chunk,
    Document,
    Entity,
    Event,
    FilePassage,
    Memory,
    Pattern,
    Relation,
    Session,
    TaskFrame,
    Thread,
    Tool,
)  # fmt: skip
from memories.services import MemoryFacts, memories_of, memory_create
from memories.services.memory import memory_level_set
from teams.models import OrganisationFile, Team
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_create, file_save
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.long_texts import LONG
from tests.assembly.one_of_each import everything
from tests.assembly.records.test_change_counters import COUNTED
from tests.postgres import cloned_database, connected_to

Owners = tuple[Agent, Team]
Write = Callable[[Agent, Team, str], object]
"""Writes something that holds the word, and is read for a context."""

TOPIC = "Is the ink dry? What does the press say of the ink and the paper?"
OF_PROFILE = {
    "profile tuning": "memory",
    "conflict": "memory",
    "level of detail": "memory",
    "passage of a file": "memory",
}
"""The profiles in which a kind matters; `stack` for all others."""

TWO_COLOURS = ("The ink of the press is black.", "The ink of the press is blue.")


def _memory(owner: Agent | Team, text: str, **facts: Any) -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text, **facts), principal=SYSTEM)


def _newest_memory(agent: Agent) -> Memory:
    read = Memory.objects.filter(agent=agent, tier="hot", sensitivity=Sensitivity.INTERNAL)
    return read.exclude(text__in=[LONG, *TWO_COLOURS]).latest("created")


def _save(file: Any, word: str) -> None:
    current = type(file).objects.get(pk=file.pk)
    file_save(file=current, content=f"The ink is {word}.", expected_version=current.version, author=SYSTEM.author)


def _raise(agent: Agent, team: Team, word: str) -> None:
    """The newest memory is above what the agent may read from now on."""
    memory_level_set(memory=_newest_memory(agent), level=Sensitivity.RESTRICTED, principal=SYSTEM)


def _tune(agent: Agent, team: Team, word: str) -> None:
    ProfileTuning.objects.create(
        profile_name="memory", version=ProfileTuning.objects.count() + 1, change=TuningChange.ON, is_on=True,
        conflict_sensitivity=1.0, entity_share=1.1 + 0.1 * ProfileTuning.objects.count(), coherence_weight=0.0,
        changed_by="system",
    )  # fmt: skip


def _profile(agent: Agent, team: Team, word: str) -> None:
    content = SHIPPED["stack"].replace("heading: Identity", f"heading: Identity {word}")
    if file := StoredProfile.objects.filter(name="stack").first():
        file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)
    else:
        file_create(file=StoredProfile(name="stack", content=content), author=SYSTEM.author)


def _level(agent: Agent, team: Team, word: str) -> None:
    """A model has made a better level of the long memory, which has extracted ones."""
    memory = Memory.objects.get(agent=agent, text=LONG)
    level = text_hash(LONG), "macro" if word == "one" else "micro", Summary(f"In short: {word}.", derivers()[0])
    level_derivation._store("memory", memory.id, [level])  # type: ignore[list-item]


def _membership(agent: Agent, team: Team, word: str) -> None:
    if not AgentTeam.objects.filter(agent=agent, team=team).delete()[0]:
        AgentTeam.objects.create(agent=agent, team=team)


def _resolve(agent: Agent, team: Team, word: str) -> None:
    """The conflict of two memories is found the first time, and gone the second time."""
    if conflict := Conflict.objects.first():
        Conflict.objects.filter(id=conflict.id).update(status="gone")
    else:
        conflict_between(*memories_of(agent).filter(text__in=TWO_COLOURS))


def _set(model: Any, **columns: Callable[[str], Any]) -> Write:
    def write(agent: Agent, team: Team, word: str) -> None:
        values = {name: value(word) for name, value in columns.items()}
        assert model.objects.filter(pk__in=model.objects.values("pk")).update(**values)

    return write


def _said(word: str) -> str:
    return f"The ink of the press is {word}."


def _cool(agent: Agent, team: Team, word: str) -> None:
    Memory.objects.filter(pk=_newest_memory(agent).pk).update(tier="cold", tier_since=timezone.now())


def _event(agent: Agent, team: Team, word: str) -> None:
    content = {"role": "user", "text": _said(word)}
    Event.objects.create(agent=agent, type="message", content=content, size=40, occurred_at=timezone.now())


def _task(agent: Agent, team: Team, word: str) -> None:
    TaskFrame.objects.create(agent=agent, goal=_said(word))


def _session(agent: Agent, team: Team, word: str) -> None:
    """A session of the agent ends, and its events and tasks with it."""
    if word == "one":
        session = Session.objects.create(agent=agent, external_id=word, started_at=timezone.now())
        Event.objects.create(
            agent=agent, session=session, type="message", content={"text": "x"}, size=40, occurred_at=timezone.now()
        )
    else:
        Session.objects.filter(agent=agent, external_id="one").delete()


def _rule(agent: Agent, team: Team, word: str) -> None:
    source = {"one": "agent_memories", "two": "threads"}[word]
    facts = {"agent": agent, "content": f"then: {{exclude: [{{source: {source}}}]}}\n"}
    StoredRule.objects.update_or_create(name="sometimes", defaults=facts)


def _agent_file(agent: Agent, team: Team, word: str) -> None:
    _save(agent.files.get(file_key="IDENTITY"), word)


def _team_file(agent: Agent, team: Team, word: str) -> None:
    _save(team.files.get(file_key="GOALS"), word)


def _organisation_file(agent: Agent, team: Team, word: str) -> None:
    _save(OrganisationFile.objects.get(), word)


OF_AGENT, OF_TEAM, OF_ORGANISATION = "agent_md_files", "team_md_files", "organisation_files"
# The tables whose triggers count the write, and the write.
WRITES: dict[str, tuple[set[str], Write]] = {
    "memory of the agent": ({"memories"}, lambda agent, _, word: _memory(agent, _said(word))),
    "memory of the team": ({"memories"}, lambda _, team, word: _memory(team, _said(word))),
    "memory raised above the clearance": ({"memories"}, _raise),
    "memory moved to the cold tier": ({"memories"}, _cool),
    "file of the agent": ({OF_AGENT, "file_passages"}, _agent_file),
    "file of the team": ({OF_TEAM, "file_passages"}, _team_file),
    "file of the organisation": ({OF_ORGANISATION, "file_passages"}, _organisation_file),
    "passage of a file": ({"file_passages"}, _set(FilePassage, text=_said)),
    "daily log": ({"daily_logs", "file_passages"}, _set(DailyLog, content=_said)),
    "event": ({"events"}, _event),
    "session": ({"sessions", "events"}, _session),
    "entity": ({"entities"}, _set(Entity, type=lambda word: f"thing_{word}")),
    "relation": ({"relations"}, _set(Relation, type=lambda word: f"dries_{word}_on")),
    "pattern": ({"patterns"}, _set(Pattern, guidance=_said)),
    "document": ({"documents", "chunks"}, _set(Document, path=lambda word: f"{word}.md")),
    "passage of a document": ({"chunks"}, _set(Chunk, text=_said)),
    "thread": ({"threads"}, _set(Thread, summary=_said)),
    "tool": ({"tools"}, _set(Tool, description=_said)),
    "task": ({"task_frames"}, _task),
    "rule": ({"rules"}, _rule),
    "membership": ({"agent_teams"}, _membership),
    "profile": ({"profiles"}, _profile),
    "profile tuning": ({"profile_tunings"}, _tune),
    "conflict": ({"conflicts"}, _resolve),
    "level of detail": ({"memories"}, _level),
}
ELSEWHERE = {
    "agents": "the row is in the key by value: name, clearance and time zone",
    "teams": "the row is in the key by value",
    "external_sources": "contexts with external sections are in no cache",
    "embedding_space": "test_after_the_embedder_changes_nothing_is_repeated",
    "learned_weights": "tests of learned weights",
}
"""Counted tables without a write here."""


@pytest.fixture(scope="module")
def press(django_db_setup: None, django_db_blocker: Any) -> Iterator[Owners]:
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        agent, team = everything(timezone.now())
        _memory(agent, LONG)
        for text in TWO_COLOURS:
            _memory(agent, text)
        yield agent, team


@contextmanager
def uncounted(tables: set[str]) -> Iterator[None]:
    """The mutation: what is written to the tables raises no change counter."""
    found = fetch_rows(
        "SELECT tgrelid::regclass::text, tgname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid"
        " WHERE proname = 'count_changes' AND tgrelid::regclass::text = ANY(%s)",
        [sorted(tables)],
    )
    assert {table for table, _ in found} == tables
    _each_trigger("DISABLE", found)
    try:
        yield
    finally:
        _each_trigger("ENABLE", found)


def _each_trigger(do: str, found: list[tuple[Any, ...]]) -> None:
    with connections["owner"].cursor() as cursor:
        for table, trigger in found:
            cursor.execute(f"ALTER TABLE {table} {do} TRIGGER {trigger}")


def ask(profile: str, now: Any = None) -> AssemblyResult | None:
    agent, team = Agent.objects.get(slug="mira"), Team.objects.get(slug="press")
    asked = AssemblyRequest(topic=TOPIC, profile=profile, now=now)
    try:
        return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    except Invalid:  # it does not work in the team any more
        return None


def is_repeat(answer: AssemblyResult | None) -> bool:
    return answer is not None and "repeats" in answer.assembly.request


def is_stale(answer: AssemblyResult | None, profile: str, settings: Any) -> bool:
    """Whether the answer differs from the same one with every cache off."""
    settings.PROCESS_CACHES = False
    try:
        fresh = ask(profile, answer.assembly.now if answer else None)
    finally:
        settings.PROCESS_CACHES = True
    if answer is None or fresh is None:
        return answer is not fresh
    assert not is_repeat(fresh)
    return bool(_all_of(answer) != _all_of(fresh))


def _all_of(answer: AssemblyResult) -> Any:
    """The text of the answer, the decisions, the profile and the levels of detail of all candidates."""
    inputs = load_record(answer.assembly).inputs
    levels = {one.ref: one.levels for one in inputs.candidates}
    return answer.content.encode(), answer.decisions, inputs.profile, levels


def test_every_counted_table_is_written_to() -> None:
    written = {table for tables, _ in WRITES.values() for table in tables}
    assert written | set(ELSEWHERE) == set(COUNTED)
    assert not written & set(ELSEWHERE)


@pytest.mark.parametrize("kind", WRITES)
def test_a_cached_answer_is_stale_after_an_uncounted_write_and_only_then(
    kind: str, press: Owners, settings: Any
) -> None:
    tables, write = WRITES[kind]
    profile = OF_PROFILE.get(kind, "stack")
    if kind == "level of detail":
        settings.SUMMARISER_URL, settings.SUMMARISER_MODEL = "http://127.0.0.1:9/v1", "model"
    assembly_cache._entries.clear()
    first = ask(profile)
    assert not is_repeat(first)
    assert not is_stale(first, profile, settings)
    with uncounted(tables):
        write(*press, "one")
    stale = ask(profile)
    assert is_repeat(stale)
    assert is_stale(stale, profile, settings), "the comparison would notice it"
    write(*press, "two")
    answer = ask(profile)
    assert not is_repeat(answer)
    assert not is_stale(answer, profile, settings)
    assert is_repeat(ask(profile)) == (answer is not None)
