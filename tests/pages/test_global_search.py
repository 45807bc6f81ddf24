"""The search over everything finds what the person may see, and nothing else."""

import datetime
import re
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def filled(agent: Agent, team: Team) -> None:
    memories_create(owner=team, facts=[MemoryFacts(kind="fact", text="The ferry leaves at nine.")], principal=SYSTEM)
    daily_log_append(agent=agent, date=datetime.date(2026, 5, 4), text="Rehearsed.", principal=SYSTEM)
    rule_create(name="ferries", content="then: {exclude: [{source: daily_logs}]}", owner=agent, principal=SYSTEM)
    assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic="ferry times"))


def found(browser: Client, words: str) -> dict[str, list[str]]:
    """The addresses of the results, by the label of their group."""
    page = text_of(browser.get("/search/", {"q": words}, headers={"HX-Request": "true"}))
    groups = re.findall(r"<h2>([^<]+)</h2><ul>(.*?)</ul>", page, re.DOTALL)
    return {label: re.findall(r'href="([^"]+)"', rows) for label, rows in groups}


def test_each_kind_is_found(signed_in: SignedIn, admin: User, filled: None, teammate: User) -> None:
    browser = signed_in(admin)
    ferry = found(browser, "ferry")
    assert len(ferry["Memories"]) == len(ferry["Contexts"]) == 1
    assert found(browser, "ferries")["Context rules"] == ["/rules/ferries/"]
    luna = found(browser, "luna")
    assert luna["Agents"] == ["/agents/luna/"]
    assert "/agents/luna/files/IDENTITY/" in luna["Files"]
    assert found(browser, "luna ident")["Files"] == ["/agents/luna/files/IDENTITY/"]
    assert found(browser, "demo guidelines")["Files"] == ["/teams/demo/files/RULES/"]
    assert found(browser, "2026-05-04")["Daily logs"] == ["/agents/luna/logs/2026-05-04/"]
    assert found(browser, "conversation")["Context profiles"] == ["/profiles/conversation/"]
    assert found(browser, "tim")["People"] == [f"/people/{teammate.id}/"]
    assert found(browser, "create team")["Actions"] == ["/teams/new/"]
    (context,) = ferry["Contexts"]
    assert found(browser, context.split("/")[2])["Contexts"] == [context]


def test_nobody_finds_what_they_may_not_see(
    signed_in: SignedIn, outsider: User, teammate: User, admin: User, filled: None
) -> None:
    browser = signed_in(outsider)
    (context,) = found(signed_in(admin), "ferry")["Contexts"]
    for words in ("ferry", "luna", "ferries", "demo", "2026-05-04", "tim", "create team", context.split("/")[2]):
        assert set(found(browser, words)) <= {"Context profiles", "Actions"}, words
    assert "/teams/new/" not in str(found(browser, "create team"))
    assert "People" not in found(signed_in(teammate), "olga")
    assert Client().get("/search/?q=luna").status_code == 302


@pytest.mark.parametrize(
    "words", ["", "x", "%00", "100%", "a'b\"c", "\\", "☃", "x" * 200, " ".join("abcdefghijk"), "[](){}"]
)
def test_any_words_are_answered(words: str, signed_in: SignedIn, owner: User, filled: None) -> None:
    assert signed_in(owner).get("/search/", {"q": words}).status_code == 200


@pytest.mark.parametrize("words", ["\x00", "x" * 201, "\ud800"])
def test_what_cannot_be_searched_is_refused(words: str, signed_in: SignedIn, owner: User) -> None:
    answer = signed_in(owner).get(f"/search/?q={quote(words, errors='surrogatepass')}")
    assert answer.status_code in {200, 422}


def test_more_of_a_kind_takes_no_more_queries(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    browser = signed_in(owner)
    found(browser, "luna")
    counts = []
    for number in (0, 1, 2):
        for other in range(number * 3):
            agent_create(slug=f"luna-{number}-{other}", name=f"Luna {other}", teams=[team])
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found(browser, "luna")
        counts.append(len(queries))
    assert counts[1] == counts[2]
    assert team_create(slug="x", name="Luna's", principal=SYSTEM).name not in str(found(browser, "luna"))
