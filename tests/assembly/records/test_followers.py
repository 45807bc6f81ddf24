"""New assemblies are handed to every follower once, in order, whatever fails or dies meanwhile."""

import logging
from collections.abc import Sequence
from uuid import UUID

import pytest

from agents.models import Agent
from assembly.models import Assembly, FollowFailure, NewAssembly, Seal
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.followers import (
    MAX_BATCH,
    failures_retry,
    follow,
    followers,
    new_assemblies_follow,
    parked_failures,
)
from teams.principal import SYSTEM
from tests.assembly.records.conftest import Follower, make_assemblies

pytestmark = pytest.mark.django_db


def test_they_come_in_the_order_in_which_they_were_made_and_once(agent: Agent, follower: Follower) -> None:
    ids = make_assemblies(agent, 3)
    assert new_assemblies_follow() == 3
    assert new_assemblies_follow() == 0
    assert follower.told == [ids]
    assert not NewAssembly.objects.exists()
    assert [seal.assemblies for seal in Seal.objects.all()] == [ids]


def test_a_repetition_is_followed_too(agent: Agent, follower: Follower) -> None:
    for _ in range(2):
        assemble(agent=agent, asked=AssemblyRequest(topic="tea"), principal=SYSTEM)
    new_assemblies_follow()
    assert len(follower.told[0]) == 2


def test_only_so_many_are_taken_at_a_time(agent: Agent, follower: Follower, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.records.followers.MAX_TAKEN", 2)
    ids = make_assemblies(agent, 3)
    assert [new_assemblies_follow() for _ in range(3)] == [2, 1, 0]
    assert follower.told == [ids[:2], ids[2:]]


def test_what_comes_meanwhile_is_left_for_the_next_sweep(agent: Agent, follower: Follower) -> None:
    ids = make_assemblies(agent, 2)
    later: list[UUID] = []

    def one_more(_: Sequence[Assembly]) -> None:
        if len(later) < 2:  # so that who followed them all would come to an end
            later.extend(make_assemblies(agent, 1))

    followers.append(one_more)
    try:
        follow()
    finally:
        followers.remove(one_more)
    assert follower.told == [ids]
    follow()
    assert follower.told == [ids, later]


def test_one_that_fails_stops_the_others_no_longer_than_it_has_to(
    agent: Agent, follower: Follower, caplog: pytest.LogCaptureFixture
) -> None:
    ids = make_assemblies(agent, 3)
    follower.fails_on = {ids[1]}
    with caplog.at_level(logging.ERROR):
        assert [new_assemblies_follow() for _ in range(MAX_BATCH)] == [0] * MAX_BATCH
    assert len(caplog.records) == MAX_BATCH, "nothing fails silently"
    assert not Seal.objects.exists(), "what another follower did is undone"
    [later] = make_assemblies(agent, 1)
    assert [new_assemblies_follow() for _ in range(5)] == [1, 1, 0, 1, 0]
    assert follower.told[MAX_BATCH:] == [[later], [ids[0]], [ids[1]], [ids[2]]]
    assert [failure.assembly for failure in parked_failures()] == [ids[1]]
    assert "as expected" in FollowFailure.objects.get().error
    assert set(NewAssembly.objects.values_list("assembly", flat=True)) == {ids[1]}


def test_what_was_parked_is_tried_again_where_somebody_asks(agent: Agent, follower: Follower) -> None:
    [id_] = make_assemblies(agent, 1)
    follower.fails_on = {id_}
    for _ in range(MAX_BATCH + 2):
        new_assemblies_follow()
    assert len(follower.told) == MAX_BATCH + 1
    follower.fails_on = set()
    assert failures_retry() == 1
    assert new_assemblies_follow() == 1
    assert not FollowFailure.objects.exists()
    assert not NewAssembly.objects.exists()
