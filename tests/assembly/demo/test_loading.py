"""Loading the demo: on any day, once, and into nothing that is there."""

import datetime
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command

from agents.models import Agent
from assembly.demo import loading
from assembly.demo.loading import demo_load, load_plan, resolve_days, resolve_moments
from memories.models import (
    Event,
    Memory,
    Session,
    Thread,
)
from teams.models import Team, TeamFile, User
from teams.services import team_create

pytestmark = pytest.mark.django_db

# In November, late in the evening, and the last day of February: dates move across years and months.
MOMENTS = [
    pytest.param(datetime.datetime(2025, 11, 20, 23, 30, tzinfo=datetime.UTC), marks=pytest.mark.deep),
    datetime.datetime(2026, 1, 2, 0, 5, tzinfo=datetime.UTC),
    pytest.param(datetime.datetime(2028, 2, 29, 12, 0, tzinfo=datetime.UTC), marks=pytest.mark.deep),
]


@pytest.mark.parametrize("now", MOMENTS, ids=str)
def test_days_are_counted_from_today(now: datetime.datetime) -> None:
    demo_load(plan=load_plan(), now=now, advance=lambda _: None)
    for agent in Agent.objects.all():
        today = agent.today(now)
        ages = {(today - log.date).days for log in agent.daily_logs.all()}
        assert ages < set(range(7))  # all within the week, at least one day without a log
    opening = now.date() + datetime.timedelta(days=26)
    goals = TeamFile.objects.get(team__slug="story-room", file_key="GOALS").content
    assert re.search(rf"opens in Harrow Quay on {opening.day} {opening:%B}\.", goals.replace("*", ""))
    assert not Memory.objects.filter(occurred_at__gte=now).exists()
    assert not Event.objects.filter(occurred_at__gte=now).exists()
    assert not Event.objects.filter(occurred_at__lt=now - datetime.timedelta(days=7)).exists()
    assert not Thread.objects.filter(touched_at__gte=now).exists()
    loft = Session.objects.select_related("agent").get(external_id="luna-net-loft")
    assert loft.ended_at is not None
    assert loft.agent.today(loft.ended_at) == loft.agent.today(now) - datetime.timedelta(days=1)


def test_moments_are_those_of_the_agents_clock() -> None:
    london = ZoneInfo("Europe/London")
    now = datetime.datetime(2026, 10, 25, 3, 0, tzinfo=london)  # two hours after summer time ended
    text = "{{at -1 09:12}} {{at -0 00:30}} {{ago 150}} {{day +1}}"
    dated = resolve_days(resolve_moments(text, now), now.date())
    assert dated == "2026-10-24T09:12:00+01:00 2026-10-25T00:30:00+01:00 2026-10-25T00:30:00+00:00 26 October"


def test_the_command_loads_once(capsys: Any) -> None:
    call_command("load_demo")
    assert (
        "Loaded 2 teams, 4 agents, 3 people who cannot sign in, and 12 contexts after 30 days of past."
        in capsys.readouterr().out
    )
    before = Memory.objects.count()
    call_command("load_demo")
    assert "There are teams or agents here already. Nothing was loaded." in capsys.readouterr().out
    assert Memory.objects.count() == before


def test_it_leaves_alone_what_is_there(capsys: Any) -> None:
    team_create(slug="mine", name="Mine")
    call_command("load_demo")
    assert "Nothing was loaded" in capsys.readouterr().out
    assert not Agent.objects.exists()


def test_a_person_of_the_same_name_stops_it(capsys: Any) -> None:
    User.objects.create_user("tomasz.lind")
    call_command("load_demo")
    assert "There is a person “tomasz.lind” here already. Nothing was loaded." in capsys.readouterr().out
    assert (User.objects.count(), Team.objects.count()) == (1, 0)


def test_failing_in_the_middle_leaves_nothing_behind(monkeypatch: Any) -> None:
    def out_of_order(**_: Any) -> None:
        raise RuntimeError("the last step failed")

    monkeypatch.setattr(loading, "assemble", out_of_order)
    with pytest.raises(RuntimeError):
        call_command("load_demo")
    assert not Team.objects.exists()
    assert not User.objects.exists()
