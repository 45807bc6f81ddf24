"""The pages of trends: sentences first, bars that lead to the contexts of a day, and a table that says the same."""

import datetime
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.models import DayCount
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.monitoring.trends.count_factories import day_of, day_of_all
from tests.pages.conftest import SignedIn, text_of

TODAY = timezone.now().astimezone(datetime.UTC).date()
ALL, OF_TEAM, OF_AGENT = "/trends/", "/teams/demo/trends/", "/agents/luna/trends/"
FACTS: dict[str, Any] = {
    "contexts": 4,
    "repeats": 1,
    "tokens": 8_000,
    "budget": 64_000,
    "considered": 40,
    "layers": {"L1": 2_000, "L3": 6_000},
    "left_out": {"outranked": 6, "over_section_budget": 2},
    "late": {"external:tickets": 2},
    "failed": {"external:tickets": 1},
    "durations": {"9": 3, "40": 1},
}


@pytest.fixture
def counted(agent: Agent, team: Team) -> DayCount:
    """Four contexts, yesterday; in three of them the agent's knowledge was cut."""
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    cut = {f"agent_file:{knowledge.id}": 3}
    return day_of(agent, TODAY - datetime.timedelta(days=1), team_id=team.id, cut=cut, **FACTS)


@pytest.fixture
def browser(signed_in: SignedIn, teammate: User) -> Client:
    """Of somebody who may only read."""
    return signed_in(teammate)


def words(page: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", page.partition("<main")[2]).split()))


SENTENCES = (
    "A context took 2,000 of 16,000 tokens on average. The most went to Recent Activity: 75 %.",
    "Knowledge of Luna was cut, in 3 of 4 contexts.",
    "20 % of what was considered was left out. The main reason: outranked, 75 % of it.",
    "A source was late 2 times and failed 1 time; tickets most often.",
    "Half of the contexts were ready within 9 ms, 95 of 100 within 40 ms.",
    "1 of them said again what was said just before",
)


@pytest.mark.parametrize("address", [ALL, OF_TEAM, OF_AGENT])
def test_each_chart_says_what_happened(address: str, browser: Client, counted: DayCount) -> None:
    told = words(text_of(browser.get(address)))
    for sentence in (*SENTENCES, "in 30 days", "Days are counted in UTC"):
        assert sentence in told


@pytest.mark.parametrize(("address", "asked"), [(ALL, ""), (OF_TEAM, "team=demo&"), (OF_AGENT, "agent=luna&")])
def test_bars_and_tables_lead_to_the_contexts_of_their_day(
    address: str, asked: str, browser: Client, counted: DayCount
) -> None:
    page = unescape(text_of(browser.get(address)))
    wanted = f"/contexts/?{asked}since={counted.day}&until={counted.day}"
    assert page.count(f'href="{wanted}"') == 8, "four bars, and four rows of tables"
    assert page.count(f'href="{wanted}&reason=truncated"') == 2
    assert 'style="' not in page
    assert "<script>" not in page
    assert browser.get(wanted).status_code == 200


def test_every_chart_has_a_title_and_a_table_with_its_numbers(browser: Client, counted: DayCount) -> None:
    page = text_of(browser.get(OF_AGENT))
    assert page.count('<svg class="chart"') == page.count("<title id=") == page.count("<desc id=") == 5
    assert page.count("<table") == 5
    table = words("<main" + page[page.index('class="trend-table"') : page.index("</table>")])
    assert table.endswith("its contexts 4 500 tokens 1,500 tokens")


def test_numbers_are_those_of_the_days_asked_for(browser: Client, agent: Agent, team: Team) -> None:
    for back in (0, 6, 7, 29, 30, 89, 90):
        day_of(agent, TODAY - datetime.timedelta(days=back), team_id=team.id)
    found = {days: words(text_of(browser.get(f"{ALL}?days={days}"))) for days in (7, 30, 90)}
    assert "2 contexts in 7 days" in found[7]
    assert "4 contexts in 30 days" in found[30]
    assert "6 contexts in 90 days" in found[90]
    assert browser.get(f"{ALL}?days=12").status_code == 422


def test_nobody_sees_what_is_not_theirs(
    counted: DayCount, signed_in: SignedIn, outsider: User, admin: User, client: Client
) -> None:
    stranger = signed_in(outsider)
    assert [stranger.get(address).status_code for address in (ALL, OF_TEAM, OF_AGENT)] == [200, 404, 404]
    assert "No context was made" in text_of(stranger.get(ALL))
    assert "4 contexts of Luna in 30 days" in text_of(signed_in(admin).get(OF_AGENT))
    day_of_all(counted)
    assert "4 contexts in 30 days" in text_of(signed_in(admin).get(ALL))
    assert client.get(ALL).status_code == 302


def test_without_contexts_it_says_what_it_is_for(browser: Client, agent: Agent) -> None:
    page = words(text_of(browser.get(OF_AGENT)))
    assert "No context was made in the last 30 days" in page
    assert "Preview a context" in page


def test_files_that_are_gone_are_told_as_such(browser: Client, counted: DayCount) -> None:
    DayCount.objects.update(cut={"team_file:00000000-0000-7000-8000-000000000000": 2})
    assert "A file that is gone was cut, in 2 of 4 contexts." in words(text_of(browser.get(ALL)))


def test_memories_that_nobody_was_told_are_named(browser: Client, agent: Agent, counted: DayCount) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="The ferry is <late>"), principal=SYSTEM)
    page = text_of(browser.get(OF_AGENT))
    assert "One memory of 1 was in no context in the last 30 days." in words(page)
    assert f'href="/memories/{memory.id}/">The ferry is &lt;late&gt;</a>' in page


def test_it_takes_as_many_queries_for_many_days(
    browser: Client,
    agent: Agent,
    team: Team,
    django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    for back in range(90):
        day_of(agent, TODAY - datetime.timedelta(days=back), team_id=team.id, **FACTS)
    # Session, person, agent; sums, maps; memories twice; alerts; files of agents and teams are only asked for if cut.
    with django_assert_max_num_queries(10):
        browser.get(f"{OF_AGENT}?days=90")
