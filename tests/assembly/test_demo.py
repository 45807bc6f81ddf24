"""The demo: what a newcomer meets first must show what Dossier does, on any day."""

import datetime
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents.models import Agent, AgentFile, DailyLog
from assembly.demo import loading
from assembly.demo.loading import demo_load, plan_read
from assembly.demo.workspaces import FOLDER
from assembly.engine.codes import Code
from assembly.models import Assembly, Decision
from assembly.replay import replay
from assembly.sources.memories import LIMIT
from memories.memory_lines import memory_lines
from memories.models import Memory
from teams.files import VersionedFile
from teams.models import Membership, Role, Team, TeamFile, User
from teams.services import team_create

pytestmark = pytest.mark.django_db

# In November, late in the evening, and the last day of February: dates move across years and months.
MOMENTS = [
    datetime.datetime(2025, 11, 20, 23, 30, tzinfo=datetime.UTC),
    datetime.datetime(2026, 1, 2, 0, 5, tzinfo=datetime.UTC),
    datetime.datetime(2028, 2, 29, 12, 0, tzinfo=datetime.UTC),
]


@pytest.fixture
def demo() -> None:
    demo_load(plan=plan_read(), now=timezone.now(), advance=lambda _: None)


def codes(section: str, **of: Any) -> set[str]:
    decisions = Decision.objects.filter(section=section, **{f"assembly__{key}": value for key, value in of.items()})
    return set(decisions.values_list("code", flat=True))


def test_it_has_teams_agents_and_people(demo: None) -> None:
    assert Team.objects.count() == 2
    assert {agent.slug for agent in Agent.objects.all()} == {"luna", "edda", "otis", "wren"}
    assert {person.has_usable_password() for person in User.objects.all()} == {False}
    assert not User.objects.filter(is_admin=True).exists()
    assert set(Membership.objects.values_list("role", flat=True)) == set(Role.values)
    files: list[VersionedFile] = [*AgentFile.objects.all(), *TeamFile.objects.all()]
    assert len(files) == 4 * 3 + 2 * 3
    assert all(file.content and file.editor_name for file in files)
    assert any(file.version == 3 for file in files)  # some have an earlier text to compare with


def test_it_has_memories_of_several_kinds(demo: None) -> None:
    for agent in Agent.objects.all():
        assert 20 <= agent.memories.count() <= 40
        assert agent.memories.values("kind").distinct().count() >= 4
    for team in Team.objects.all():
        assert team.memories.count() >= 15
        assert team.memories.values("kind").distinct().count() >= 4
    assert Memory.objects.exclude(superseded_by=None).get().superseded_by is not None


def test_nothing_in_its_texts_is_left_over_or_passed_over(demo: None) -> None:
    texts = [
        *AgentFile.objects.values_list("content", flat=True),
        *TeamFile.objects.values_list("content", flat=True),
        *DailyLog.objects.values_list("content", flat=True),
        *Memory.objects.values_list("text", flat=True),
    ]
    assert not [text for text in texts if "{{" in text]
    for path in FOLDER.glob("*/*/MEMORY.md"):
        lines = memory_lines(path.read_text(encoding="utf-8"), path.name)
        assert (lines.other, lines.repeated) == ((), 0)


@pytest.mark.parametrize("now", MOMENTS, ids=str)
def test_days_are_counted_from_today(now: datetime.datetime) -> None:
    demo_load(plan=plan_read(), now=now, advance=lambda _: None)
    for agent in Agent.objects.all():
        today = agent.today(now)
        ages = {(today - log.date).days for log in agent.daily_logs.all()}
        assert ages < set(range(7))  # all within the week, at least one day without a log
    opening = now.date() + datetime.timedelta(days=26)
    goals = TeamFile.objects.get(team__slug="story-room", file_key="GOALS").content
    assert re.search(rf"opens in Harrow Quay on {opening.day} {opening:%B}\.", goals.replace("*", ""))
    assert not Memory.objects.filter(occurred_at__gte=now).exists()


def test_its_contexts_show_what_dossier_does(demo: None) -> None:
    assert Assembly.objects.count() == len(plan_read().contexts)
    luna = {"agent_slug": "luna", "budget": 16_000}
    assert codes("knowledge", **luna) == {Code.TRUNCATED}
    assert Code.SUPERSEDED in codes("team_knowledge", **luna, topic="")
    assert Code.OUTRANKED in codes("personal_memories", **luna, topic="")
    assert codes("knowledge", agent_slug="luna", budget=2_500) == {Code.OVER_TOTAL_BUDGET}
    assert codes("recent_activity", agent_slug="wren") == {Code.FITS, Code.OVER_SECTION_BUDGET}  # the very long day
    assert not Assembly.objects.exclude(warnings=[]).exists()
    assert (
        Memory.objects.filter(team__slug="story-room").count() <= LIMIT
    )  # or the superseded one may not be considered


def test_a_search_in_it_finds_what_one_would_hope_for(demo: None) -> None:
    ferry = Assembly.objects.get(agent_slug="edda")
    best = Decision.objects.get(assembly=ferry, section="personal_memories", rank=1)
    assert "rowing ferry across the Harrow" in Memory.objects.get(id=best.ref[7:43]).text


def test_its_contexts_can_be_replayed(demo: None) -> None:
    assert all(replay(assembly).identical for assembly in Assembly.objects.all())


def test_the_command_loads_once(capsys: Any) -> None:
    call_command("load_demo")
    assert "Loaded 2 teams, 4 agents, 3 people who cannot sign in, and 8 contexts." in capsys.readouterr().out
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
