"""Several workers, and workers that die: each new assembly is followed once all the same, in one chain."""

from collections.abc import Sequence

import pytest
from django.db import connection, transaction

from agents.models import Agent
from assembly.models import Assembly, FollowFailure, Seal
from assembly.records.followers import followers, new_assemblies_follow
from assembly.records.seals import lock_chain
from tests.assembly.records.conftest import Follower, make_assemblies
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")


def test_while_one_worker_is_at_it_others_do_not_wait(agent: Agent, follower: Follower) -> None:
    make_assemblies(agent, 2)
    with transaction.atomic():
        lock_chain()
        assert at_once([new_assemblies_follow]) == [0]
    assert new_assemblies_follow() == 2


def test_several_workers_seal_each_record_once_and_in_one_chain(agent: Agent) -> None:
    ids = at_once(
        [
            lambda: make_assemblies(agent, 6),
            lambda: [_follow() for _ in range(30)],
            lambda: [_follow() for _ in range(30)],
        ]
    )
    while _follow():
        pass
    seals = list(Seal.objects.order_by("number"))
    sealed = [id_ for seal in seals for id_ in seal.assemblies]
    assert sealed == sorted(ids[0])
    assert [seal.number for seal in seals] == list(range(1, len(seals) + 1))


def test_a_worker_that_dies_in_the_middle_leaves_everything_to_the_next(agent: Agent, follower: Follower) -> None:
    ids = make_assemblies(agent, 2)

    def die(_: Sequence[Assembly]) -> None:
        with connection.cursor() as cursor:  # the session ends as when its process is killed: without a goodbye
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    followers.append(die)
    try:
        assert new_assemblies_follow() == 0
    finally:
        followers.remove(die)
    assert not Seal.objects.exists()
    assert FollowFailure.objects.filter(attempts=1).count() == 2
    assert new_assemblies_follow() == 2
    assert follower.told[-1] == ids


def _follow() -> int:
    return new_assemblies_follow()
