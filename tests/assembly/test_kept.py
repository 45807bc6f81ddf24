"""What was read once is kept for as long as nothing of it changes; and nobody is told what has changed since."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from random import Random
from time import monotonic
from typing import Any

import pytest
from django.db import transaction

from agents.models import Agent
from agents.services import agent_create
from assembly import kept as keeping
from assembly import service
from assembly.asked import Asked
from assembly.cache import Answer, AssemblyCache
from assembly.engine.types import Candidate
from assembly.kept import LIFETIME_SECONDS, Kept, Readings
from assembly.service import assemble
from assembly.settling import settle
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.edits import EDITS
from tests.assembly.everything import everything
from tests.postgres import cloned_database, connected_to

Pair = tuple[Agent, Team]


@pytest.fixture(scope="module")
def press(django_db_setup: None, django_db_blocker: Any) -> Iterator[Pair]:
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield everything()


@pytest.fixture(autouse=True)
def _uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "cache", AssemblyCache())


def told(agent: Agent, team: Team | None, **wishes: Any) -> Answer:
    return assemble(agent=agent, team=team, asked=Asked(now=NOW, **wishes), principal=SYSTEM)


def candidates(press: Pair, monkeypatch: pytest.MonkeyPatch, **wishes: Any) -> list[Candidate]:
    """Those that the engine was given."""
    given: list[Candidate] = []

    def noted(request: Any, profile: Any, offered: Any, *others: Any) -> Any:
        given.extend(offered)
        return settle(request, profile, offered, *others)

    with monkeypatch.context() as patch:
        patch.setattr(service, "settle", noted)
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
    told(agent, team)
    with django_assert_num_queries(2):
        told(agent, team, max_tokens=15_998)
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="A change"), principal=SYSTEM)
    with django_assert_num_queries(3):
        told(agent, team, max_tokens=15_997)


def test_what_was_not_asked_for_longest_makes_room() -> None:
    kept = Readings(max_characters=100)
    for name in ("one", "two"):
        kept.keep(name, Kept((), [name], 50, monotonic()))
    assert kept.get("one")
    kept.keep("three", Kept((), ["three"], 50, monotonic()))
    assert [name for name in ("one", "two", "three") if kept.get(name)] == ["one", "three"]
    kept.keep("large", Kept((), [], 101, monotonic()))
    assert not any(kept.get(name) for name in ("one", "two", "three", "large"))


def test_nothing_is_kept_for_longer_than_five_minutes() -> None:
    kept = Readings()
    for name, age in (("young", LIFETIME_SECONDS - 5), ("old", LIFETIME_SECONDS)):
        kept.keep(name, Kept((), [name], 50, monotonic() - age))
    assert kept.get("young")
    assert not kept.get("old")


def test_a_reading_replaces_the_one_before_it() -> None:
    kept = Readings(max_characters=100)
    for count in (1, 2):
        kept.keep("one", Kept((count,), [], 60, monotonic()))
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
            patch.setattr(keeping, "readings", Readings())
            fresh = told(agent, team, max_tokens=15_999)  # another question, so that no answer is repeated
        assert (kept.content, kept.decisions) == (fresh.content, fresh.decisions), edit
