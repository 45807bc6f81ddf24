"""Comparing two versions, or one and the reader's own draft; addresses that name none are answered in plain words."""

import datetime
import html

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent
from agents.services import daily_log_append, daily_log_replace
from assembly.models import StoredRule
from assembly.rules.services import rule_save
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_create
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import goals, write

COMPARE = "/teams/demo/files/GOALS/history/compare/"


@pytest.fixture
def browser(signed_in: SignedIn, owner: User, editor: User, team: Team) -> Client:
    """The owner's, with three versions of the team's goals."""
    write(team, "Ship **it** by March.\n", owner)
    write(team, "Ship **it** by April.\n\nAnd rest.\n", editor)
    return signed_in(owner)


def page_at(browser: Client, query: str) -> str:
    return html.unescape(text_of(browser.get(COMPARE + query)))


def test_what_changed_is_shown_rendered(browser: Client) -> None:
    page = page_at(browser, "?from=2&to=3")
    assert "2 changes: 3 words added, 1 word removed." in page
    assert "March</span>" not in page
    assert "Ship <strong>it</strong> by <del" in page
    assert page.index("by <b>Olga Owner</b>") < page.index("by <b>Edda</b>")
    assert 'href="#change-2"' in page


def test_what_changed_is_shown_as_it_is_written(browser: Client) -> None:
    page = page_at(browser, "?from=2&to=3&as=source")
    assert "Ship **it** by " in page
    assert '<tr class="removed"><td class="number">1</td><td class="number"></td>' in page
    assert 'id="change-1"' in page


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("", "Version 2</a> by", ),
        ("?to=2", "Version 1</a> by"),
        ("?from=1", "Version 1</a> by"),
        ("?from=3&to=1", "The versions were swapped: changes are shown from the earlier to the later version."),
    ],
)  # fmt: skip
def test_what_is_left_out_is_the_newest_or_the_one_before(browser: Client, query: str, title: str) -> None:
    assert title in page_at(browser, query)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("?from=2&to=2", 422, "You selected version 2 twice."),
        ("?from=2&to=9", 404, "There is no version 9 of this text."),
        ("?from=x&to=2", 404, "“x” is not a version."),
        ("?from=99999999999999999999&to=2", 404, "” is not a version. Choose two versions by their numbers."),
        ("?from=-1&to=2", 404, "“-1” is not a version."),
        ("?to=1", 422, "Version 1 is the first"),
        ("?from=draft&to=draft", 422, "You selected your draft twice. Choose a version to compare it with."),
        ("?from=%00&to=2", 404, "” is not a version. Choose two versions by their numbers."),
    ],
)
def test_an_address_that_names_nothing_is_answered_in_plain_words(
    browser: Client, query: str, status: int, words: str
) -> None:
    response = browser.get(COMPARE + query)
    assert response.status_code == status
    assert words in html.unescape(text_of(response))
    assert 'name="from"' in text_of(response)


def test_a_single_version_has_nothing_to_compare(signed_in: SignedIn, owner: User, team: Team) -> None:
    assert "There is only one version. You can compare versions when there is a second one." in page_at(
        signed_in(owner), "?from=1&to=1"
    )


def test_a_draft_is_compared_with_what_it_was_made_from(browser: Client, owner: User, team: Team) -> None:
    content = "Ship **it** by May.\n"
    draft_save(person_id=owner.id, about=goals(team).about, content=content, based_on=2, expected_revision=0)
    page = page_at(browser, "?to=draft")
    assert "<b>Your draft</b>" in page
    assert "Version 2</a>" in page
    assert "May" in page
    assert "Your draft" in page_at(browser, "?from=draft&to=3")


def test_a_draft_is_seen_by_nobody_else(browser: Client, signed_in: SignedIn, editor: User, team: Team) -> None:
    draft_save(person_id=editor.id, about=goals(team).about, content="secret", based_on=3, expected_revision=0)
    assert browser.get(f"{COMPARE}?to=draft").status_code == 302
    assert signed_in(editor).get(f"{COMPARE}?to=draft").status_code == 200


def test_who_may_only_read_compares_but_is_offered_no_restoring(
    browser: Client, signed_in: SignedIn, teammate: User
) -> None:
    assert "Restore version 2" in page_at(browser, "?from=2&to=3")
    page = page_at(signed_in(teammate), "?from=2&to=3")
    assert "by <del" in page
    assert "Restore version" not in page


def test_comparing_takes_few_queries(browser: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    browser.get(f"{COMPARE}?from=1&to=3")
    with django_assert_num_queries(9):
        browser.get(f"{COMPARE}?from=1&to=3")


def test_daily_logs_are_compared(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    log = daily_log_append(agent=agent, date=datetime.date(2026, 3, 1), text="Met.", principal=owner.principal)
    daily_log_replace(log=log, content="Met Jon.", expected_version=1, principal=owner.principal)
    page = text_of(signed_in(owner).get("/agents/luna/logs/2026-03-01/history/compare/"))
    assert "1 change: 1 word added." in page


def test_rules_are_compared_as_they_are_written(signed_in: SignedIn, owner: User, team: Team) -> None:
    old, new = ("then: {exclude: [{source: %s}]}" % name for name in ("daily_logs", "threads"))  # noqa: UP031 - braces
    rule = file_create(file=StoredRule(name="hush", content=old, team=team), author=SYSTEM.author)
    rule_save(rule=rule, content=new, enabled=True, expected_version=1, principal=SYSTEM)
    page = text_of(signed_in(owner).get("/rules/hush/history/compare/"))
    assert "daily_logs" in page
    assert '<tr class="removed">' in page
    assert "Formatted" not in page
