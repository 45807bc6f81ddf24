"""What would the agent have been told then? The page."""

import datetime
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.simulation.time_travel.edit_story import BEGUN, PROFILE, Clock, clock_set
from tests.pages.conftest import SignedIn, text_of

ADDRESS = "/agents/luna/as-of/"
THEN = f"{ADDRESS}?day=2026-03-01&time=08:00&team=demo&profile=conversation&topic=&max_tokens="


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return clock_set(monkeypatch, BEGUN)


@pytest.fixture
def told(clock: Clock, agent: Agent, team: Team) -> Assembly:
    """What was told at eight; a day has passed, and the goals were changed."""
    write(team, "Ship the demo.")
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="The hall is booked"), principal=SYSTEM)
    clock.goes_on(hours=2)
    told = assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM).assembly
    clock.goes_on(hours=2)
    write(team, "Celebrate.")
    clock.goes_on(days=1)
    return told


@pytest.fixture
def browser(signed_in: SignedIn, teammate: User, told: Assembly) -> Client:
    return signed_in(teammate)


def write(team: Team, content: str) -> None:
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content=content, expected_version=goals.version, author=SYSTEM.author)


def test_it_offers_the_last_noon_where_the_agent_works(browser: Client, agent: Agent) -> None:
    Agent.objects.filter(id=agent.id).update(timezone="Pacific/Auckland")
    page = browser.get(ADDRESS)  # at ten in the morning UTC it is eleven at night there
    assert page.status_code == 200
    form = page.context["form"]
    assert (form["day"].value(), form["time"].value()) == (datetime.date(2026, 3, 2), datetime.time(12))
    assert "In Pacific/Auckland" in text_of(page)
    assert "would have used" not in text_of(page)


def test_an_agent_without_a_noon_is_offered_the_present(browser: Client, clock: Clock, agent: Agent) -> None:
    Agent.objects.filter(id=agent.id).update(created=clock.now - datetime.timedelta(minutes=9))
    form = browser.get(ADDRESS).context["form"]
    assert (form["day"].value(), form["time"].value()) == (clock.now.date(), datetime.time(10))


def test_it_says_what_would_have_been_told_with_its_versions(browser: Client, told: Assembly, team: Team) -> None:
    rows = Assembly.objects.count()
    page = browser.get(THEN)
    said = text_of(page)
    assert f"On Sunday, 1 March 2026 at 08:00, the context of Luna would have used {told.tokens} of 16,000" in said
    assert "Ship the demo." in said
    assert "Celebrate." not in said
    assert "Limitations" in said
    assert b'href="/teams/demo/files/GOALS/history/2/"' in page.content
    memory = Agent.objects.get(slug="luna").memories.get()
    assert f'href="/memories/{memory.id}/versions/1/"'.encode() in page.content
    assert f'href="/contexts/{told.id}/"'.encode() in page.content
    assert Assembly.objects.count() == rows


def test_beside_it_stands_what_is_different_now(browser: Client) -> None:
    assert "Differences from now" not in text_of(browser.get(THEN))
    said = text_of(browser.get(f"{THEN}&beside=on"))
    assert "Version 2 then, version 3 now." in said
    assert "Celebrate" in said
    alone = text_of(browser.get(f"{THEN.replace('team=demo', 'team=')}&beside=on"))
    assert "None: the same request would give the same context now." in alone


def test_what_was_cut_is_marked(browser: Client, clock: Clock, agent: Agent) -> None:
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    text = "\n\n".join(f"Fact {number} of the hall and the stage." for number in range(400))
    file_save(file=knowledge, content=text, expected_version=knowledge.version, author=SYSTEM.author)
    day = f"{ADDRESS}?day={clock.now:%Y-%m-%d}&time={clock.now:%H:%M}&team=demo"
    clock.goes_on(hours=1)
    page = browser.get(day)
    assert "1 text would have been truncated." in text_of(page)
    assert b'<mark class="cut">... [truncated]</mark>' in page.content


def test_without_a_time_it_is_noon(browser: Client) -> None:
    assert "at 12:00, the context of Luna" in text_of(browser.get(THEN.replace("time=08:00", "time=")))


def test_the_second_it_was_made_in_is_not_too_early(browser: Client, clock: Clock, agent: Agent) -> None:
    Agent.objects.filter(id=agent.id).update(created=clock.now + datetime.timedelta(microseconds=300))
    moment = f"{ADDRESS}?day={clock.now:%Y-%m-%d}&time={clock.now:%H:%M:%S}"
    clock.goes_on(seconds=0.5)
    assert "would have used" in text_of(browser.get(moment))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("day=2026-03-01&time=05:00&team=demo", "Luna was created on 2026-03-01 06:00:00 (UTC). Choose a later time."),
        ("day=0001-01-01&team=demo", "). Choose a later time."),
        ("day=9999-12-31&time=23:59&team=demo", "This time is in the future. Choose an earlier one."),
        ("day=2026-03-02&time=10:01&team=demo", "This time is in the future. Choose an earlier one."),
        ("day=tomorrow", "Enter a valid date."),
        ("day=", "This field is required."),
        ("day=2026-03-01&time=noon", "Enter a valid time."),
        ("day=2026-03-01&team=elsewhere", "Select a valid choice."),
        ("day=2026-03-01&profile=nope", "Select a valid choice."),
        ("day=2026-03-01&max_tokens=-1", "greater than or equal to 0"),
        ("day=2026-03-01&topic=%00", "Null characters are not allowed."),
    ],
)
def test_what_cannot_be_looked_back_to_comes_back_with_a_reason(browser: Client, query: str, said: str) -> None:
    page = browser.get(f"{ADDRESS}?{query}")
    assert page.status_code == 422
    assert said in text_of(page)


def test_a_profile_that_was_not_written_then_is_named(browser: Client, admin: User) -> None:
    profile_create(name="quay", content=PROFILE.format(budget=100, cap=30), principal=admin.principal)
    page = browser.get(THEN.replace("profile=conversation", "profile=quay"))
    assert page.status_code == 422
    assert "There is no profile “quay”." in text_of(page)


def test_it_begins_with_what_an_address_says(browser: Client) -> None:
    form = browser.get(f"{ADDRESS}?topic=the+hall&team=&profile=coding").context["form"]
    assert (form["topic"].value(), form["team"].value(), form["profile"].value()) == ("the hall", "", "coding")


def test_it_is_only_read(browser: Client) -> None:
    assert browser.post(ADDRESS).status_code == 405


def test_the_same_number_of_questions_however_much_there_is(
    browser: Client, agent: Agent, clock: Clock, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"Fact {number}"), principal=SYSTEM)
    with django_assert_max_num_queries(60):
        assert browser.get(f"{THEN}&beside=on").status_code == 200
