"""Where a team demands it, people say why before they open or download what is confidential or restricted."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Reading, Team, User
from teams.principal import SYSTEM
from teams.readings import reading_reasons
from teams.sensitivity import Sensitivity
from tests.client import Api, errors_of, problem
from tests.pages.conftest import SignedIn, text_of

pytestmark = pytest.mark.django_db

SECRET = "Vyqxreason"


@pytest.fixture
def asking(team: Team) -> Team:
    """A team that demands a reason for what is restricted."""
    Team.objects.filter(pk=team.pk).update(reading_reasons="restricted")
    return team


def remembered(owner: Agent | Team, level: Sensitivity = Sensitivity.RESTRICTED) -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=SECRET, sensitivity=level), principal=SYSTEM)


def page_of(memory: Memory) -> str:
    return f"/memories/{memory.id}/"


def led_away(browser: Client, path: str) -> str:
    """The address of the question for the reason, to which the page leads."""
    answer = browser.get(path)
    assert answer.status_code == 302, answer.content
    assert SECRET not in text_of(answer)
    address: str = answer["Location"]
    assert address.startswith("/readings/reason/")
    assert parse_qs(urlsplit(address).query)["next"] == [path]
    return address


def test_a_page_is_shown_after_the_reason_was_given_and_the_line_has_it(
    signed_in: SignedIn, owner: User, agent: Agent, asking: Team
) -> None:
    of_agent, of_team = remembered(agent), remembered(asking)
    browser = signed_in(owner)
    question = led_away(browser, page_of(of_agent))
    assert not Reading.objects.exists()
    assert "Why do you read this?" in text_of(browser.get(question))
    for wrong in ("", "x", "x" * 201, "\x00\x00\x00"):
        assert browser.post(question, {"reason": wrong}).status_code == 422
    answer = browser.post(question, {"reason": "Ticket 7"}, follow=True)
    assert SECRET in text_of(answer)
    assert [(line.kind, line.reason) for line in Reading.objects.all()] == [("read", "Ticket 7")]
    led_away(browser, page_of(of_team))  # another owner


def test_a_reason_expires(signed_in: SignedIn, owner: User, asking: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, browser = remembered(asking), signed_in(owner)
    question = led_away(browser, page_of(memory))
    with monkeypatch.context() as patched:
        patched.setattr(reading_reasons, "VALID_SECONDS", -1)
        browser.post(question, {"reason": "Ticket 7"})
    led_away(browser, page_of(memory))
    browser.post(question, {"reason": "Ticket 7"})
    assert browser.get(page_of(memory)).status_code == 200


@pytest.mark.parametrize(
    ("demanded", "level", "is_asked"),
    [
        ("never", Sensitivity.RESTRICTED, False),
        ("restricted", Sensitivity.CONFIDENTIAL, False),
        ("restricted", Sensitivity.RESTRICTED, True),
        ("confidential", Sensitivity.CONFIDENTIAL, True),
        ("confidential", Sensitivity.INTERNAL, False),
    ],
)
def test_what_is_asked_for(
    demanded: str, level: Sensitivity, *, is_asked: bool, signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    Team.objects.update(reading_reasons=demanded)
    memory = remembered(agent, level)
    assert signed_in(owner).get(page_of(memory)).status_code == (302 if is_asked else 200)


def test_lists_need_no_reason(signed_in: SignedIn, owner: User, agent: Agent, asking: Team) -> None:
    remembered(agent)
    assert SECRET in text_of(signed_in(owner).get(f"/agents/{agent.slug}/memories/"))


def test_a_part_of_a_page_leads_the_whole_page_to_the_question(
    signed_in: SignedIn, owner: User, agent: Agent, asking: Team
) -> None:
    memory = remembered(agent)
    answer = signed_in(owner).get(page_of(memory), HTTP_HX_REQUEST="true")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["HX-Redirect"].startswith("/readings/reason/")


def test_rest_takes_the_reason_in_a_header(owner: User, agent: Agent, asking: Team) -> None:
    memory, api = remembered(agent), Api(person=owner.principal)
    path = f"agents/{agent.slug}/memories/{memory.id}"
    for headers in ({}, {"reading_reason": "x"}, {"reading_reason": "x" * 201}):
        answer = api.get(path, **headers)
        assert problem(answer) == (403, "reason_required")
        assert SECRET not in answer.content.decode()
    assert SECRET in api.get(path, reading_reason="Ticket 8").content.decode()
    assert Reading.objects.get().reason == "Ticket 8"
    (line,) = api.get("readings").json()["results"]
    assert line["reason"] == "Ticket 8"


def test_an_agent_is_not_asked(agent: Agent, asking: Team, agent_api: Api) -> None:
    remembered(agent, Sensitivity.INTERNAL)
    assert agent_api.get(f"agents/{agent.slug}/memories").status_code == 200


@pytest.mark.parametrize("address", ["https://evil.example.org/", "//evil.example.org", "javascript:alert(1)", ""])
def test_the_question_leads_nowhere_else(address: str, signed_in: SignedIn, owner: User) -> None:
    answer = signed_in(owner).post(f"/readings/reason/?next={address}&of=made-up", {"reason": "Ticket 7"})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_a_made_up_owner_counts_for_nothing(signed_in: SignedIn, owner: User, asking: Team) -> None:
    memory, browser = remembered(asking), signed_in(owner)
    browser.post(f"/readings/reason/?next=/&of={asking.id}", {"reason": "Ticket 7"})
    led_away(browser, page_of(memory))


def test_the_setting_is_the_admins(owner: User, editor: User, team: Team) -> None:
    api = Api(person=owner.principal)
    assert errors_of(api.patch("teams/care", {"reading_reasons": "x"}, if_match='"1"')) == {"reading_reasons"}
    refused = Api(person=editor.principal).patch("teams/care", {"reading_reasons": "restricted"}, if_match='"1"')
    assert refused.status_code == 403
    answer = api.patch("teams/care", {"reading_reasons": "restricted"}, if_match='"1"')
    assert (answer.status_code, answer.json()["reading_reasons"]) == (200, "restricted")
