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
from assembly.models import Assembly, DayCount, FileLoss
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.monitoring.trends.count_factories import day_of, day_of_all
from tests.pages.conftest import SignedIn, text_of

TODAY = timezone.now().astimezone(datetime.UTC).date()
ALL, OF_TEAM, OF_AGENT = "/trends/", "/teams/demo/trends/", "/agents/luna/trends/"
FACTS: dict[str, Any] = {
    "contexts": 4,
    "contexts_with_file_loss": 3,
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
    "Contexts used 2,000 of 16,000 tokens on average. The largest part is Daily logs: 75 %.",
    "Knowledge of Luna was truncated or excluded in 3 of 4 contexts.",
    "20 % of the candidates were excluded. The main reason is low rank: 75 %.",
    "Sources timed out 2 times and failed 1 time; tickets most often.",
    "p50: 9 ms, p95: 40 ms.",
    "1 were served from the cache",
)


@pytest.mark.parametrize("address", [ALL, OF_TEAM, OF_AGENT])
def test_each_chart_says_what_happened(address: str, browser: Client, counted: DayCount) -> None:
    told = words(text_of(browser.get(address)))
    for sentence in (*SENTENCES, "in 30 days", "Days are in UTC"):
        assert sentence in told


@pytest.mark.parametrize(("address", "asked"), [(ALL, ""), (OF_TEAM, "team=demo&"), (OF_AGENT, "agent=luna&")])
def test_bars_and_tables_lead_to_the_contexts_of_their_day(
    address: str, asked: str, browser: Client, counted: DayCount
) -> None:
    page = unescape(text_of(browser.get(address)))
    wanted = f"/contexts/?{asked}since={counted.day}&until={counted.day}"
    assert page.count(f'href="{wanted}"') == 8, "four bars, and four rows of tables"
    assert page.count(f'href="{wanted}&file_loss=any"') == 2
    assert 'style="' not in page
    assert "<script>" not in page
    assert browser.get(wanted).status_code == 200


def test_every_chart_has_a_title_and_a_table_with_its_numbers(browser: Client, counted: DayCount) -> None:
    page = text_of(browser.get(OF_AGENT))
    assert page.count('<svg class="chart"') == page.count("<title id=") == page.count("<desc id=") == 5
    assert page.count("<table") == 5
    table = words("<main" + page[page.index('class="trend-table"') : page.index("</table>")])
    assert table.endswith("view contexts 4 500 tokens 1,500 tokens")


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
    assert "No contexts in the last" in text_of(stranger.get(ALL))
    assert "Luna: 4 contexts in 30 days" in text_of(signed_in(admin).get(OF_AGENT))
    day_of_all(counted)
    assert "4 contexts in 30 days" in text_of(signed_in(admin).get(ALL))
    assert client.get(ALL).status_code == 302


def test_without_contexts_it_says_what_it_is_for(browser: Client, agent: Agent) -> None:
    page = words(text_of(browser.get(OF_AGENT)))
    assert "No contexts in the last 30 days" in page
    assert "Preview a context" in page


def test_files_that_are_gone_are_told_as_such(browser: Client, counted: DayCount) -> None:
    DayCount.objects.update(cut={"team_file:00000000-0000-7000-8000-000000000000": 2})
    assert "A deleted file was truncated or excluded in 2 of 4 contexts." in words(text_of(browser.get(ALL)))


def test_memories_that_nobody_was_told_are_named(browser: Client, agent: Agent, counted: DayCount) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="The ferry is <late>"), principal=SYSTEM)
    page = text_of(browser.get(OF_AGENT))
    assert "1 of 1 memories was not included in the last 30 days." in words(page)
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
    with django_assert_max_num_queries(12):
        browser.get(f"{OF_AGENT}?days=90")


LONG = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30))


@pytest.fixture
def cut(agent: Agent, team: Team, admin: User) -> list[Assembly]:
    """Three contexts of today: Knowledge truncated, excluded, and small enough."""
    file = agent.files.get(file_key="KNOWLEDGE")
    file_save(file=file, content=LONG, expected_version=1, author=admin.principal.author)
    found = [
        assemble(agent=agent, team=team, asked=AssemblyRequest(max_tokens=most), principal=SYSTEM).assembly
        for most in (16_000, 3)
    ]
    file_save(file=file, content="Short.", expected_version=2, author=admin.principal.author)
    found.append(assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM).assembly)
    follow_assemblies(found)
    return found


@pytest.mark.finding("E15")
def test_numbers_of_files_lead_to_exactly_their_contexts(browser: Client, cut: list[Assembly]) -> None:
    page = unescape(text_of(browser.get(OF_AGENT)))
    table = page[page.index("Files over their limits, by day") :]
    (address,) = set(re.findall(r'href="(/contexts/[^"]*file_loss=agent_file[^"]*)"', table))
    assert re.search(r">2<span class", table)
    found = text_of(browser.get(address))
    assert [str(one.id) in found for one in cut] == [True, True, False]
    chart = re.search(r'href="(/contexts/[^"]*file_loss=any)"', page)
    assert chart
    listed = text_of(browser.get(chart[1]))
    assert [str(one.id) in listed for one in cut] == [True, True, False]
    assert "Agent: Luna" in listed
    assert "a file truncated or excluded" in listed


def test_the_amounts_are_a_table_and_a_csv(browser: Client, cut: list[Assembly], agent: Agent) -> None:
    lost = {row.assembly_id: row.tokens_lost for row in FileLoss.objects.all()}
    answer = browser.get(f"/trends/files-over-limit.csv?agent=luna&days=7&file=agent_file:{knowledge_of(agent)}")
    header, line = answer.content.decode().splitlines()
    line = line.replace('"', "")
    assert header == "day,file,contexts,truncated,excluded,tokens_lost_min,tokens_lost_mean,tokens_lost_max"
    few, many = sorted(lost[one.id] for one in cut[:2])
    mean = round((few + many) / 2)
    assert line == f"{TODAY:%Y-%m-%d},Knowledge of Luna,2,1,1,{few},{mean},{many}"
    page = words(text_of(browser.get(f"{ALL}?agent=luna&file=agent_file:{knowledge_of(agent)}")))
    assert f"{many:,}" in page


def knowledge_of(agent: Agent) -> str:
    return str(agent.files.get(file_key="KNOWLEDGE").id)


def test_filters_are_on_the_page(browser: Client, counted: DayCount, signed_in: SignedIn, outsider: User) -> None:
    page = text_of(browser.get(f"{ALL}?agent=luna&team=demo&days=7"))
    assert "Trends of Luna · Demo" in page
    assert '<option value="luna" selected>' in page
    for query in ("agent=nobody", "team=x", "days=8", "file=what", "file=agent_file:x"):
        assert browser.get(f"{ALL}?{query}").status_code == 422, query
    assert signed_in(outsider).get(f"{ALL}?agent=luna").status_code == 422
    assert signed_in(outsider).get("/trends/files-over-limit.csv").content.count(b"\n") == 1
