"""Counting days anew: what was recorded before anybody counted, day by day, and never more than once."""

import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent
from assembly.models import Assembly, DayCount, NewAssembly
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.monitoring.trends import recount
from teams.models import Team
from tests.assembly.monitoring.trends.count_factories import counts, told


def said(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("count_contexts", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def recorded(luna: Agent, demo_team: Team) -> list[Assembly]:
    """Five contexts, one of which repeats another; nobody has counted them, and none waits to be counted."""
    found = [told(luna, demo_team), told(luna, demo_team), told(luna), told(luna, max_tokens=50)]
    found.append(told(luna, topic="acts"))
    NewAssembly.objects.all().delete()
    return found


def test_it_gives_what_counting_at_once_would_have_given(
    recorded: list[Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recount, "BATCH", 2)
    follow_assemblies(recorded)
    together = counts()
    DayCount.objects.all().delete()
    today = recorded[0].created.date()
    assert said() == [f"{today}: 5 contexts counted"]
    assert counts() == together
    assert said() == [f"{today}: counted already"]
    assert counts() == together
    assert said("--again") == [f"{today}: 5 contexts counted"]
    assert counts() == together


def test_it_goes_on_where_it_was_broken_off(recorded: list[Assembly]) -> None:
    follow_assemblies(recorded[:2])  # as if the rest of the day had been lost
    assert said() == [f"{recorded[0].created.date()}: 5 contexts counted"]
    assert sum(row["contexts"] for row in counts()) == 5


def test_what_waits_in_the_queue_is_left_to_it(recorded: list[Assembly]) -> None:
    NewAssembly.objects.create(assembly=recorded[-1].id)
    assert said() == [f"{recorded[0].created.date()}: 4 contexts counted"]
    follow_assemblies(recorded[-1:])
    assert sum(row["contexts"] for row in counts()) == 5
    NewAssembly.objects.all().delete()
    assert said("--again") == [f"{recorded[0].created.date()}: 5 contexts counted"]


def test_counts_of_contexts_that_retention_took_stay(recorded: list[Assembly]) -> None:
    follow_assemblies(recorded)
    DayCount.objects.filter(team_id=None).update(contexts=30)
    before = counts()
    assert said("--again") == [f"{recorded[0].created.date()}: counted already"]
    assert counts() == before


def test_days_before_are_left_out_where_it_is_asked_for(recorded: list[Assembly]) -> None:
    tomorrow = recorded[0].created.date() + datetime.timedelta(days=1)
    assert said("--since", tomorrow.isoformat()) == []
    with pytest.raises(CommandError, match="Write the day like"):
        call_command("count_contexts", "--since", "yesterday")


def test_nothing_recorded_is_nothing_to_count(db: None) -> None:
    assert said() == []
