"""What was read once is kept for as long as nothing of it changes; and nobody is told what has changed since."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from random import Random
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from agents.models import Agent
from agents.services import agent_create
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.pipeline import read_cache as keeping
from assembly.pipeline import services, shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.read_cache import LIFETIME_SECONDS, CachedRows, RowCache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.pipeline.summaries.resolve import assemble_with_summaries
from assembly.records.reader import load_record, replay
from config.http.errors import Invalid
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conftest import NOW
from tests.assembly.one_of_each import everything
from tests.assembly.pipeline.edits import EDITS
from tests.concurrency import at_once
from tests.postgres import cloned_database, connected_to

Pair = tuple[Agent, Team]


@pytest.fixture(scope="module")
def press(django_db_setup: None, django_db_blocker: Any) -> Iterator[Pair]:
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield everything()


@pytest.fixture(autouse=True)
def _uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


def told(agent: Agent, team: Team | None, **wishes: Any) -> AssemblyResult:
    return assemble(agent=agent, team=team, asked=AssemblyRequest(now=NOW, **wishes), principal=SYSTEM)


def candidates(press: Pair, monkeypatch: pytest.MonkeyPatch, **wishes: Any) -> list[Candidate]:
    """Those that the engine was given."""
    given: list[Candidate] = []

    def noted(request: Any, profile: Any, offered: Any, *others: Any) -> Any:
        given.extend(offered)
        return assemble_with_summaries(request, profile, offered, *others)

    with monkeypatch.context() as patch:
        patch.setattr(services, "assemble_with_summaries", noted)
        told(*press, **wishes)
    return given


def test_what_has_not_changed_is_not_read_again(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = candidates(press, monkeypatch), candidates(press, monkeypatch, max_tokens=15_999)
    assert first
    assert all(one is other for one, other in zip(first, second, strict=True))


def test_each_agent_is_told_its_own(press: Pair) -> None:
    agent, team = press
    other = agent_create(slug="other", name="Other", teams=[team])
    memory_create(owner=other, facts=MemoryFacts(kind="fact", text="Only the other knows"), principal=SYSTEM)
    for _ in range(2):
        assert "Only the other knows" not in told(agent, team).content
        assert "Only the other knows" in told(other, team).content
        assert "Team Goals" not in told(other, None).content


def test_what_was_undone_was_never_kept(press: Pair) -> None:
    agent, team = press
    before = told(agent, team).content
    with transaction.atomic():
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Never committed"), principal=SYSTEM)
        assert "Never committed" in told(agent, team).content
        transaction.set_rollback(True)
    assert told(agent, team).content == before


def test_where_nothing_has_changed_the_counts_and_the_record_are_all_that_is_asked(
    press: Pair, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    agent, team = press
    _change(agent, "Before")
    told(agent, team)
    with django_assert_num_queries(2):
        told(agent, team, max_tokens=15_998)
    with django_assert_num_queries(1):
        told(agent, team, max_tokens=15_997)
    _change(agent, "After")
    with django_assert_num_queries(4):
        told(agent, team, max_tokens=15_996)
    _change(agent, "And again: now it is asked first")
    with django_assert_num_queries(3):
        told(agent, team, max_tokens=15_995)


def _change(agent: Agent, text: str) -> None:
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)


def _made_steady(agent: Agent, team: Team | None) -> None:
    """So that the next context rests on what is kept, and the statement that records it looks at the counts."""
    for budget in (15_901, 15_902):
        told(agent, team, max_tokens=budget)


def test_what_changes_while_a_context_is_made_of_what_is_kept_is_in_it(
    press: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, team = press
    _made_steady(agent, team)
    settled: list[Any] = []

    def changing(*given: Any) -> Any:
        if not settled:
            _change(agent, "Said in the meantime")
        settled.append(assemble_with_summaries(*given))
        return settled[-1]

    monkeypatch.setattr(services, "assemble_with_summaries", changing)
    before = Assembly.objects.count()
    answer = told(agent, team)
    assert ["Said in the meantime" in one.assembled.content for one in settled] == [False, True]
    assert "Said in the meantime" in answer.content
    assert Assembly.objects.count() == before + 1
    assert replay(load_record(Assembly.objects.get(id=answer.assembly.id))).identical


def test_who_left_a_team_is_told_so_and_who_joined_it_is_told_of_it(press: Pair) -> None:
    team = press[1]
    agent = agent_create(slug="newcomer", name="Newcomer")
    for _ in range(3):
        with pytest.raises(Invalid):
            told(agent, team)
    agent.teams.add(team)
    assert "Team Goals" in told(agent, team).content
    _made_steady(agent, team)
    before = Assembly.objects.count()
    agent.teams.remove(team)
    with pytest.raises(Invalid):
        told(agent, team, max_tokens=15_903)
    assert Assembly.objects.count() == before


def test_many_at_once_are_never_told_what_was_before(press: Pair) -> None:
    """Writers and readers of one team at the same time: whoever asks after a change was made is told of it.

    Each writes a file of its own, which is included whole, however many others write meanwhile.
    """
    agent, team = press
    _made_steady(agent, team)
    stale: list[tuple[str, Any]] = []

    def ask_after_writing(number: int, key: str) -> None:
        for turn in range(12):
            text = f"Said by {number} as number {turn}."
            file = team.files.get(file_key=key)
            file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)
            answer = told(agent, team, max_tokens=14_000 + 100 * number + turn)
            if text not in answer.content:
                stale.append((text, [one for one in answer.assembly.sources if one.get("code")]))
            told(agent, team, max_tokens=13_000 + 100 * number + turn)

    at_once([partial(ask_after_writing, *one) for one in enumerate(("GOALS", "CONTEXT", "RULES"))])
    assert not stale


def test_a_record_that_rests_on_a_state_is_planned_once(press: Pair) -> None:
    """To plan anew for each record would take longer than to write it."""
    if settings.DATABASE_DIRECT:
        pytest.skip("statements that go through PgBouncer are not prepared")
    agent, team = press
    for budget in range(15_000, 15_015):
        told(agent, team, max_tokens=budget)
    query = """
        SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements
        WHERE statement LIKE '%change_counters%' AND statement LIKE '%new_assemblies%'
    """
    with connection.cursor() as cursor:
        cursor.execute(query)
        planned_once, planned_anew = cursor.fetchone()
    assert planned_once > 0
    assert planned_anew < 15


def test_what_was_not_asked_for_longest_makes_room() -> None:
    kept = RowCache(max_bytes=100)
    for name in ("one", "two"):
        kept.keep(name, CachedRows((), [name], 50))
    assert kept.get("one")
    kept.keep("three", CachedRows((), ["three"], 50))
    assert [name for name in ("one", "two", "three") if kept.get(name)] == ["one", "three"]
    kept.keep("large", CachedRows((), [], 101))
    assert [name for name in ("one", "three", "large") if kept.get(name)] == ["one", "three"], "it is larger than all"


def test_nothing_is_kept_for_longer_than_five_minutes() -> None:
    now = [0.0]
    kept = RowCache(timer=lambda: now[0])
    kept.keep("old", CachedRows((), [], 50))
    now[0] = 5.0
    kept.keep("young", CachedRows((), [], 50))
    now[0] = LIFETIME_SECONDS
    assert kept.get("young")
    assert not kept.get("old")


def test_a_reading_replaces_the_one_before_it() -> None:
    kept = RowCache(max_bytes=100)
    for count in (1, 2):
        kept.keep("one", CachedRows((count,), [], 60))
    found = kept.get("one")
    assert found
    assert found.changes == (2,)


def test_whatever_changes_is_read_again(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    for edit in [*EDITS, *reversed(EDITS)]:
        if edit != "the agent's team":  # what it works in no more, it is told nothing of
            EDITS[edit](*press, Random(edit))
        agent, team = Agent.objects.get(id=press[0].id), Team.objects.get(id=press[1].id)
        with monkeypatch.context() as patch:
            kept = told(agent, team)
            patch.setattr(keeping, "row_cache", RowCache())
            fresh = told(agent, team, max_tokens=15_999)  # another question, so that no answer is repeated
        assert (kept.content, kept.decisions) == (fresh.content, fresh.decisions), edit
