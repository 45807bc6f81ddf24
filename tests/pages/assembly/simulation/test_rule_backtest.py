"""The panel of a rule that says what it would have changed: of one that is written, and of the stored one."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly, StoredRule
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create, file_save
from tests.pages.assembly.rules.test_form import GOALS, WHO, filled
from tests.pages.conftest import SignedIn, text_of

pytestmark = pytest.mark.django_db

QUIET = "then: {exclude: [{source: daily_logs}]}\n"


@pytest.fixture
def told(agent: Agent, team: Team) -> Assembly:
    """A context with goals and a daily log."""
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="Ship it by March.", expected_version=1, author=SYSTEM.author)
    answer = assemble(agent=agent, principal=SYSTEM, team=team, asked=AssemblyRequest(topic="the stage"))
    daily_log_append(agent=agent, date=agent.today(answer.assembly.now), text="Rehearsed.", principal=SYSTEM)
    return assemble(agent=agent, principal=SYSTEM, team=team, asked=AssemblyRequest(topic="the stage")).assembly


@pytest.fixture
def rule(told: Assembly, agent: Agent) -> StoredRule:
    return rule_create(name="quiet", content=QUIET, owner=agent, principal=SYSTEM)


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


def tried(page: str) -> str:
    """The panel."""
    return page.partition('id="tried"')[2].partition("</section>")[0]


def test_who_reads_a_rule_may_try_it(
    signed_in: SignedIn, teammate: User, outsider: User, admin: User, rule: StoredRule
) -> None:
    for person in (teammate, admin):
        panel = tried(text_of(signed_in(person).post("/rules/quiet/backtest/")))
        assert "The rule matches 2 of the last 2 contexts. 1 would change." in panel
        assert "The rule matches, but changes nothing." in panel
        assert '<span class="tag bad">removed</span>' in panel
        assert "Excluded by the rule “quiet”." in panel
    assert signed_in(outsider).post("/rules/quiet/backtest/").status_code == 404
    rule_create(name="all", content=QUIET, owner=None, principal=SYSTEM)
    assert "There is no context to test the rule on yet." in text_of(signed_in(outsider).post("/rules/all/backtest/"))


@pytest.mark.parametrize("data", [filled(GOALS, **WHO), {**WHO, "content": "then: {always_include: [{path: GOALS}]}"}])
def test_a_new_rule_is_tried_before_it_is_made(data: dict[str, Any], browser: Client, told: Assembly) -> None:
    response = browser.post("/rules/new/backtest/", {**data, "name": ""})
    panel = tried(text_of(response))
    assert response.status_code == 200
    assert '<p class="what">Goals</p><span class="tag plain">moved</span>' in panel
    assert "Always Included: Included by a rule." in panel
    assert (
        "Items that are always included are used as they are today, unless the context contained them already." in panel
    )
    assert 'class="fault"' not in text_of(response)
    assert not StoredRule.objects.exists()


def test_the_next_version_is_tried_before_it_is_saved(browser: Client, rule: StoredRule) -> None:
    for data in (filled(GOALS, version=1), {"version": 1, "content": "then: {always_include: [{path: GOALS}]}"}):
        panel = tried(text_of(browser.post("/rules/quiet/edit/backtest/", data)))
        assert ">Goals<" in panel
        assert "removed" not in panel
    assert StoredRule.objects.get().content == QUIET


def test_what_had_applied_is_taken_out_where_it_would_not_any_more(
    browser: Client, rule: StoredRule, agent: Agent, team: Team
) -> None:
    assemble(agent=agent, principal=SYSTEM, team=team, asked=AssemblyRequest(topic="the stage"))
    data = {"version": 1, "content": f"when: {{task_contains: moon}}\n{QUIET}"}
    panel = tried(text_of(browser.post("/rules/quiet/edit/backtest/", data)))
    assert "The rule matches none of the last 3 contexts. 1 would change." in panel
    assert "The rule matched, but no longer does:" in panel
    assert '<span class="tag good">added</span>' in panel


def test_a_boost_says_how_the_score_changes(browser: Client, agent: Agent, team: Team) -> None:
    for text in ("The stage is free", "The stage lamp is broken"):
        memory_create(owner=team, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    assemble(agent=agent, principal=SYSTEM, team=team, asked=AssemblyRequest(topic="the stage"))
    line = {"what": "boost", "by": "memory_kind", "value": "fact", "weight": "2"}
    panel = tried(text_of(browser.post("/rules/new/backtest/", filled(line, **WHO))))
    assert "Team memories: score" in panel


def test_a_promise_that_would_be_broken_is_told(browser: Client, agent: Agent, team: Team, told: Assembly) -> None:
    assemble(agent=agent, principal=SYSTEM, team=team, asked=AssemblyRequest(max_tokens=1))
    panel = tried(text_of(browser.post("/rules/new/backtest/", filled(GOALS, **WHO))))
    assert "not satisfied" in panel


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (filled({"by": "path"}, **WHO), "Some values are invalid"),
        ({**WHO, "content": "then: ["}, "Line 1: This is no YAML"),
        (filled(GOALS, name="own", owner="agent:nobody"), "Choose the scope of the rule."),
        (filled(GOALS, name="own", owner="everywhere"), "Choose the scope of the rule."),
    ],
)
def test_what_cannot_be_tried_says_why(data: dict[str, Any], words: str, browser: Client, told: Assembly) -> None:
    response = browser.post("/rules/new/backtest/", data)
    assert response.status_code == 422
    assert words in tried(text_of(response))
    swapped = browser.post("/rules/new/backtest/", data, headers={"HX-Request": "true"})
    assert (swapped.status_code, words in tried(text_of(swapped))) == (200, True)


def test_a_rule_that_cannot_be_read_cannot_be_tried(browser: Client, agent: Agent) -> None:
    file_create(file=StoredRule(name="lost", content="", agent=agent), author=SYSTEM.author)
    page = text_of(browser.get("/rules/lost/"))
    assert "Test rule" not in page
    assert browser.post("/rules/lost/backtest/").status_code == 422


def test_who_may_not_write_tries_no_text(signed_in: SignedIn, teammate: User, outsider: User, rule: StoredRule) -> None:
    for person, status in ((teammate, 403), (outsider, 404)):
        assert signed_in(person).post("/rules/quiet/edit/", filled(GOALS, do="try", version=1)).status_code == status
        assert signed_in(person).post("/rules/new/", filled(GOALS, do="try", **WHO)).status_code == 403
