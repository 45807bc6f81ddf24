"""The form of rules: what it says becomes the same text that others type, and nothing that was filled in is lost."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from assembly.models import StoredRule
from assembly.rules.services import rule_create, rule_save
from teams.models import User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of

pytestmark = pytest.mark.django_db

QUIET = "description: No logs.\nthen:\n  exclude: [{source: daily_logs}]\n"
EDIT = "/rules/quiet/edit/"
NEW = "/rules/new/"
Data = dict[str, Any]


@pytest.fixture
def browser(signed_in: SignedIn, editor: User, agent: Agent) -> Client:
    """Of somebody who may edit the agent."""
    return signed_in(editor)


@pytest.fixture
def rule(agent: Agent) -> StoredRule:
    return rule_create(name="quiet", content=QUIET, owner=agent, principal=SYSTEM)


def filled(*lines: Data, initial: int = 0, **fields: Any) -> Data:
    """The form as a browser sends it."""
    data = {"then-TOTAL_FORMS": len(lines), "then-INITIAL_FORMS": initial, **fields}
    for number, line in enumerate(lines):
        data |= {f"then-{number}-{name}": value for name, value in {**LINE, **line}.items()}
    return data


LINE: Data = {"what": "always_include", "by": "", "value": "", "weight": ""}
GOALS: Data = {"by": "path", "value": "GOALS"}
WHO: Data = {"name": "own", "owner": "agent:luna"}


def test_all_that_the_form_can_say_becomes_a_rule(browser: Client) -> None:
    page = text_of(browser.get(NEW))
    for words in ("Description", 'value="luna"', 'value="demo"', 'value="coding"', "All items of source", "Add action"):
        assert words in page
    data = filled(
        GOALS,
        {"what": "boost", "by": "kg_entity", "value": " Ink ", "weight": "0.5"},
        {},
        {"what": "boost", "by": "source:turns", "value": "no matter", "weight": "2"},
        {"what": "exclude", "by": "memory_kind", "value": "fact", "weight": "99"},
        description="On: ink", words=" ink \r\n\r\npaper mill", agents=["luna"], teams=["demo"], profiles=["coding"],
        intents=["fix"], first="2026-11-01", last="2026-11-30", weekdays=["mon", "fri"], opens="22:00", closes="06:00",
        **WHO,
    )  # fmt: skip
    made = browser.post(NEW, data, follow=True)
    assert made.redirect_chain == [("/rules/own/", 302)], text_of(made)
    row = StoredRule.objects.get()
    assert (row.enabled, row.scope) == (True, "agent")
    assert (
        row.content
        == """\
description: 'On: ink'
when:
  task_contains: [ink, paper mill]
  agent: [luna]
  team: [demo]
  profile: [coding]
  intent: [fix]
  between:
    from: '2026-11-01'
    until: '2026-11-30'
    weekdays: [mon, fri]
    hours: 22:00-06:00
then:
  always_include:
  - path: GOALS
  boost:
  - kg_entity: Ink
    weight: 0.5
  - source: turns
    weight: 2
  exclude:
  - memory_kind: fact
"""
    )
    page = text_of(made)
    for words in (
        "the topic contains “ink” or “paper mill”", "the agent is luna", "the team is demo", "the profile is coding",
        "the intent is fix", "the day is from 1 November 2026 to 30 November 2026",
        "it is a Monday or Friday", "local time is 22:00 to 06:00", "<dt>Boosts by 2</dt>",
    ):  # fmt: skip
        assert words in page
    unchanged = browser.get("/rules/own/edit/")
    assert 'value="fact"' in text_of(unchanged)
    assert 'value="22:00"' in text_of(unchanged)


def test_a_rule_can_begin_switched_off(browser: Client) -> None:
    made = browser.post(NEW, filled(GOALS, off="on", **WHO), follow=True)
    assert "Rule created, but disabled. Test it, then enable it." in text_of(made)
    assert not StoredRule.objects.get().enabled
    text = {"content": QUIET, "off": "on", "name": "other", "owner": "agent:luna"}
    assert browser.post(NEW, text).status_code == 302
    assert not StoredRule.objects.get(name="other").enabled


@pytest.mark.parametrize(
    ("lines", "fields", "words"),
    [
        ([], {}, "Add at least one action."),
        ([{}], {}, "Add at least one action."),
        ([{"what": "exclude"}], {}, "Add at least one action."),
        ([{"value": "GOALS"}], {}, "Choose a value."),
        ([{"by": "path"}], {}, "Enter a value."),
        ([{"by": "path", "value": "x" * 501}], {}, "at most 500 characters"),
        ([{"by": "path", "value": "a\u200bb"}], {}, "It contains an invisible character. Type it again."),
        ([{"by": "path", "value": "a\x00b"}], {}, "Null characters are not allowed."),
        ([{"by": "stars", "value": "a"}], {}, "Select a valid choice."),
        ([{"by": "source:moons"}], {}, "Select a valid choice."),
        ([{"what": "hide", **GOALS}], {}, "Select a valid choice."),
        ([{"by": "source:turns"}], {}, "A source cannot always be included. Boost it instead."),
        ([{"what": "boost", **GOALS}], {}, "Enter a weight: 2 doubles the score, 0.5 halves it."),
        ([{"what": "boost", **GOALS, "weight": "11"}], {}, "less than or equal to 10"),
        ([{"what": "boost", **GOALS, "weight": "-1"}], {}, "greater than or equal to 0"),
        ([{"what": "boost", **GOALS, "weight": "nan"}], {}, "Enter a number."),
        ([GOALS] * 51, {}, "At most 50 actions of a kind."),
        ([GOALS], {"then-TOTAL_FORMS": "x"}, "Not saved: see the errors below."),
        ([GOALS], {"description": "x" * 301}, "at most 300 characters"),
        ([GOALS], {"description": "a\nb"}, "Use one line without line breaks and invisible characters."),
        ([GOALS], {"words": "\n".join(["a"] * 101)}, "At most 100 lines."),
        ([GOALS], {"words": "x" * 201}, "At most 200 characters on a line."),
        ([GOALS], {"words": "a\u200bb"}, "It contains an invisible character. Type it again."),
        ([GOALS], {"agents": ["x" * 201]}, "Select a valid choice."),
        ([GOALS], {"intents": ["guess"]}, "Select a valid choice."),
        ([GOALS], {"first": "2026-02-30"}, "Enter a valid date."),
        ([GOALS], {"first": "2026-02-03", "last": "2026-02-02"}, "The end is before the start. Change one of them."),
        ([GOALS], {"weekdays": ["someday"]}, "Select a valid choice."),
        ([GOALS], {"opens": "25:00"}, "Enter a valid time."),
        ([GOALS], {"opens": "09:00"}, "Enter both times, or none."),
        ([GOALS], {"closes": "09:00"}, "Enter both times, or none."),
        ([GOALS], {"opens": "09:00", "closes": "09:00"}, "Enter two different times."),
        ([GOALS], {"name": ""}, "This field is required."),
        ([GOALS], {"name": "quiet"}, "There is a rule “quiet” already."),
        ([GOALS], {"name": "try"}, "is the address of a page"),
        ([GOALS], {"owner": "everywhere"}, "Select a valid choice."),
        ([GOALS], {"owner": ""}, "This field is required."),
    ],
)
def test_what_makes_no_rule_is_told_at_the_field_and_kept(
    lines: list[Data], fields: Data, words: str, browser: Client, rule: StoredRule
) -> None:
    response = browser.post(NEW, filled(*lines, **{**WHO, "words": "kept words", **fields}))
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert "kept words" in page or "words" in fields
    assert StoredRule.objects.count() == 1
    hurried = browser.post(NEW, filled(*lines, do="try", **{**WHO, **fields}))
    assert hurried.status_code in {200, 422}
    assert StoredRule.objects.count() == 1


def test_one_more_line_keeps_what_was_filled_in_and_judges_nothing(browser: Client) -> None:
    data = filled({"value": "half done"}, do="add", words="ink", agents=["luna", "gone"], name="A b", opens="9")
    response = browser.post(NEW, data)
    page = text_of(response)
    assert (response.status_code, 'class="fault"' in page) == (200, False)
    for words in ("half done", "ink</textarea>", 'value="luna" ', 'value="gone"', 'value="A b"', 'name="then-1-what"'):
        assert words in page
    assert 'name="then-2-what"' not in page


def test_saving_an_unchanged_form_makes_no_version(browser: Client, rule: StoredRule) -> None:
    page = text_of(browser.get(EDIT))
    assert '<option value="source:daily_logs" selected>' in page
    line = {"what": "exclude", "by": "source:daily_logs"}
    data = filled(line, {}, initial=1, version=1, description="No logs.")
    assert "No changes, so there is no new version." in text_of(browser.post(EDIT, data, follow=True))
    assert StoredRule.objects.get().content == QUIET
    data["description"] = "No logs at all."
    assert "Saved as version 2." in text_of(browser.post(EDIT, data, follow=True))
    assert StoredRule.objects.get().content == QUIET.replace("logs.", "logs at all.")


def test_names_that_are_gone_or_hidden_stay_in_the_rule(browser: Client, rule: StoredRule) -> None:
    rule_save(
        rule=rule, content=f"when: {{agent: [gone]}}\n{QUIET}", enabled=True, expected_version=1, principal=SYSTEM
    )
    assert 'value="gone" id="id_agents_' in text_of(browser.get(EDIT))
    line = {"what": "exclude", "by": "source:daily_logs"}
    browser.post(EDIT, filled(line, version=2, description="Other.", agents=["gone", "luna"]))
    assert "agent: [gone, luna]" in StoredRule.objects.get().content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("when: {not: {agent: luna}}\nthen: {exclude: [{tag: x}]}\n", "all, any, not: nested conditions."),
        ("# Why.\nthen: {exclude: [{tag: x}]}\n", "The form would lose the comments of the text."),
    ],
)
def test_what_the_form_cannot_say_opens_as_text_and_says_why(
    content: str, reason: str, browser: Client, rule: StoredRule
) -> None:
    rule_save(rule=rule, content=content, enabled=True, expected_version=1, principal=SYSTEM)
    page = text_of(browser.get(EDIT))
    assert reason in page
    assert f">\n{content}</textarea>" in page
    page = text_of(browser.post(EDIT, {"version": 2, "content": content, "do": "switch"}))
    assert reason in page
    assert f">\n{content}</textarea>" in page


def test_an_unreadable_text_stays_a_text(browser: Client, rule: StoredRule) -> None:
    page = text_of(browser.post(EDIT, {"version": 1, "content": "then: [", "do": "switch"}))
    assert "The form cannot show this text because of an error. Line 1:" in page
    assert ">\nthen: [</textarea>" in page


def test_going_from_form_to_text_and_back_loses_nothing(browser: Client) -> None:
    data = filled(GOALS, words="ink", description="Ink.", **WHO)
    page = text_of(browser.post(NEW, {**data, "do": "switch"}))
    content = "description: Ink.\nwhen:\n  task_contains: [ink]\nthen:\n  always_include:\n  - path: GOALS\n"
    assert f">\n{content}</textarea>" in page
    assert 'value="own"' in page
    back = text_of(browser.post(NEW, {**WHO, "content": content, "do": "switch"}))
    for words in ('value="Ink."', "ink</textarea>", 'value="GOALS"'):
        assert words in back
    faulty = text_of(browser.post(NEW, {**data, "then-0-value": "", "do": "switch"}))
    assert "Enter a value." in faulty
    empty = text_of(browser.post(NEW, filled({}, do="switch", **WHO)))
    assert "docs/security-decisions.md" in empty


def test_somebody_elses_newer_version_is_shown_beside_what_was_filled_in(browser: Client, rule: StoredRule) -> None:
    rule_save(rule=rule, content="then: {exclude: [{tag: x}]}\n", enabled=True, expected_version=1, principal=SYSTEM)
    stale = browser.post(EDIT, filled(GOALS, version=1, description="Mine."))
    page = text_of(stale)
    assert stale.status_code == 412
    for words in ("saved a newer version", "exclude: [{tag: x}]", 'value="Mine."', 'name="version" value="2"'):
        assert words in page
    assert browser.post(EDIT, filled(GOALS, version=2, description="Mine.")).status_code == 302


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 30])
def test_an_incomplete_page_saves_nothing(version: str, browser: Client, rule: StoredRule) -> None:
    response = browser.post(EDIT, filled(GOALS, version=version))
    assert response.status_code == 422
    assert "The request was incomplete." in text_of(response)
    assert StoredRule.objects.get().version == 1


@pytest.mark.finding("E17")
def test_the_form_keeps_the_layout_of_the_text(browser: Client, agent: Agent) -> None:
    text = "then:\n    boost:\n      - {tag: ink,   weight: 1.5}\n      - {tag: paper, weight: 2}\n"
    rule_create(name="loud", content=text, owner=agent, principal=SYSTEM)
    lines = [
        {"what": "boost", "by": "tag", "value": "ink", "weight": "3"},
        {"what": "boost", "by": "tag", "value": "paper", "weight": "2"},
    ]
    browser.post("/rules/loud/edit/", filled(*lines, {}, initial=2, version=1))
    assert StoredRule.objects.get().content == text.replace("1.5", "3")
    browser.post("/rules/loud/edit/", filled(lines[0], {}, initial=1, version=2))
    assert "paper" not in StoredRule.objects.get().content


@pytest.mark.finding("E30")
def test_an_action_is_removed(browser: Client, rule: StoredRule) -> None:
    lines = [
        {"what": "exclude", "by": "source:daily_logs"},
        {"what": "boost", "by": "tag", "value": "ink", "weight": "2"},
    ]
    page = text_of(browser.get(EDIT))
    assert 'value="remove-0"' in page
    page = text_of(browser.post(EDIT, filled(*lines, version=1, do="remove-0")))
    assert 'value="ink"' in page
    assert '<option value="source:daily_logs" selected>' not in page
    assert StoredRule.objects.get().version == 1
    for strange in ("remove-9", "remove-x", "remove--1", "remove-99999999999"):
        assert browser.post(EDIT, filled(*lines, version=1, do=strange)).status_code in {200, 302, 412, 422}
