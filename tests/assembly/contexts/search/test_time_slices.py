"""Slices of time: of the statistics that PostgreSQL keeps of the table."""

import pytest
from django.db import connections

from agents.models import Agent
from assembly.contexts.search import search
from assembly.contexts.search.sql import SearchRange
from teams.models import Team
from tests.assembly.contexts.context_rows import MINUTE, NOON, context


@pytest.mark.usefixtures("committed_database")
def test_slices_lie_between_moments_that_postgresql_keeps(
    team: Team, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE assemblies SET (autovacuum_enabled = false)")
    for number in range(300):
        context(agent, team, age=number)
    whole = SearchRange(None, None, None)
    assert [*search.time_slices(whole)] == [whole], "nothing is known of a table that nobody looked at"
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE assemblies")
    assert len([*search.time_slices(whole)]) <= 2, "a small table is no more than its rest"
    monkeypatch.setattr(search, "SLICE_ROWS", 30)
    found = [*search.time_slices(whole)]
    assert len(found) in range(8, 13)
    assert found[0].until is found[-1].since is None
    assert [one.since for one in found[:-1]] == [one.until for one in found[1:]]
    hour = SearchRange(None, NOON - 90 * MINUTE, NOON - 30 * MINUTE)
    found = [*search.time_slices(hour)]
    assert len(found) in range(2, 4)
    assert (found[0].until, found[-1].since) == (hour.until, hour.since)
