"""The pages of rules: who sees whom they are for reads them, who edits there writes them, and no text is lost."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from agents.models import Agent
from assembly import sources
from assembly.models import StoredRule
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create, rule_save
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.pages.conftest import SignedIn, text_of

QUIET = "description: No logs.\nthen: {exclude: [{source: daily_logs}]}\n"
LOUD = "description: More logs.\nthen: {boost: [{source: daily_logs, weight: 2}]}\n"
GONE = "when:\n  agent: luna\nthen: {exclude: [{source: moons}]}\n"
EDIT = "/rules/quiet/edit/"
HISTORY = "/rules/quiet/history/"


@pytest.fixture
def rule(agent: Agent) -> StoredRule:
    """A rule for the agent."""
    return rule_create(name="quiet", content=QUIET, owner=agent, principal=SYSTEM)


@pytest.fixture
def people(editor: User, teammate: User, outsider: User, admin: User) -> tuple[User, ...]:
    """In the order of the table."""
    return (editor, teammate, outsider, admin)


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    """Of somebody who may edit the agent."""
    return signed_in(editor)


# Address: what an editor, a teammate (a viewer), the outsider and the admin are answered.
PAGES = {
    "/rules/": (200, 200, 200, 200),
    "/rules/new/": (200, 403, 403, 200),
    "/rules/check/": (405, 405, 405, 405),
    "/rules/quiet/": (200, 200, 404, 200),
    EDIT: (200, 403, 404, 200),
    "/rules/quiet/backtest/": (405, 405, 405, 405),
    "/rules/quiet/switch/": (405, 405, 405, 405),
    "/rules/quiet/delete/": (200, 403, 404, 200),
    HISTORY: (200, 200, 404, 200),
    f"{HISTORY}1/": (200, 200, 404, 200),
    f"{HISTORY}2/": (404, 404, 404, 404),
    f"{HISTORY}{'9' * 30}/": (404, 404, 404, 404),
    f"{HISTORY}1/restore/": (405, 405, 405, 405),
    "/rules/for-all/": (200, 200, 200, 200),
    "/rules/for-all/edit/": (403, 403, 403, 200),
    "/rules/nobody/": (404, 404, 404, 404),
}


@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, people: tuple[User, ...], rule: StoredRule
) -> None:
    rule_create(name="for-all", content=QUIET, owner=None, principal=SYSTEM)
    answers = tuple(signed_in(person).get(address).status_code for person in people)
    assert answers == PAGES[address]


@pytest.mark.parametrize("address", PAGES)
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Any, rule: StoredRule) -> None:
    response = client.get(address)
    assert (response.status_code, response["Location"][:16]) == (302, "/accounts/login/")


@pytest.mark.parametrize(
    ("address", "data"),
    [
        (EDIT, {"version": 1, "content": LOUD}),
        (f"{HISTORY}1/restore/", {"version": 1}),
        ("/rules/quiet/switch/", {"version": 1}),
        ("/rules/quiet/delete/", {}),
        ("/rules/new/", {"name": "own", "owner": "agent:luna", "content": QUIET}),
    ],
)
def test_who_may_not_edit_there_changes_nothing(
    address: str, data: dict[str, Any], signed_in: SignedIn, people: tuple[User, ...], rule: StoredRule
) -> None:
    _editor, teammate, outsider, _admin = people
    assert signed_in(teammate).post(address, data).status_code == 403
    assert signed_in(outsider).post(address, data).status_code == (403 if "new" in address else 404)
    row = StoredRule.objects.get()
    assert (row.version, row.enabled) == (1, True)


def test_the_list_says_whom_each_is_for_and_what(
    signed_in: SignedIn, teammate: User, outsider: User, rule: StoredRule, team: Team
) -> None:
    rule_create(name="loud", content=LOUD, owner=team, enabled=False, principal=SYSTEM)
    page = text_of(signed_in(teammate).get("/rules/"))
    assert page.index("loud</a>") < page.index("quiet</a>")
    for words in ("No logs.", ">Luna</a>", ">Demo</a>", '<span class="tag plain">off</span>', "by Dossier"):
        assert words in page
    assert "New rule" not in page
    assert "No rules yet. Example: if the topic is signing in, always include security decisions." in text_of(
        signed_in(outsider).get("/rules/")
    )


def test_the_list_takes_few_queries(
    signed_in: SignedIn,
    teammate: User,
    agent: Agent,
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    for number in range(20):
        rule_create(name=f"r-{number}", content=QUIET, owner=agent, principal=SYSTEM)
    browser = signed_in(teammate)
    with django_assert_num_queries(
        6
    ):  # session, person, rules, their number, and for whom the person may write: teams, agents
        browser.get("/rules/")


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("", ["loud", "quiet"]), ("-updated", ["loud", "quiet"]), ("updated", ["quiet", "loud"]),
        ("-name", ["quiet", "loud"]), ("-status", ["quiet", "loud"]), ("scope", ["loud", "quiet"]),
        ("nothing", ["loud", "quiet"]),
    ],
)  # fmt: skip
def test_each_column_sorts_the_list(sort: str, names: list[str], browser: Client, rule: StoredRule, team: Team) -> None:
    rule_create(name="loud", content=LOUD, owner=team, enabled=False, principal=SYSTEM)
    response = browser.get("/rules/", {"sort": sort})
    assert [entry.name for entry in response.context["entries"]] == names
    assert text_of(response).count("aria-sort=") == 1


def test_a_rule_says_what_it_does(browser: Client, rule: StoredRule) -> None:
    page = text_of(browser.get("/rules/quiet/"))
    assert "<dt>Excludes</dt><dd>Daily logs</dd>" in page
    assert "Disable" in page
    content = "then: {always_include: [{path: 'docs/**'}], boost: [{tag: ops, weight: 0.5}]}"
    rule_save(rule=rule, content=content, enabled=False, expected_version=1, principal=SYSTEM)
    page = text_of(browser.get("/rules/quiet/"))
    assert "<dt>Always includes</dt><dd>files at docs/**</dd>" in page
    assert "<dt>Boosts by 0.5</dt><dd>items with tag ops</dd>" in page
    assert "Enable" in page


def test_a_rule_is_switched_off_and_on(browser: Client, rule: StoredRule) -> None:
    assert "Rule disabled." in text_of(browser.post("/rules/quiet/switch/", {"version": 1}, follow=True))
    assert not StoredRule.objects.get().enabled
    assert browser.post("/rules/quiet/switch/", {"version": 1, "on": ""}).status_code == 412
    assert "Rule enabled." in text_of(browser.post("/rules/quiet/switch/", {"version": 2, "on": ""}, follow=True))
    assert StoredRule.objects.get().version == 3


def test_saving_makes_a_version_and_shows_it(browser: Client, rule: StoredRule) -> None:
    response = browser.post(EDIT, {"version": 1, "content": LOUD.replace("\n", "\r\n")}, follow=True)
    assert response.redirect_chain == [("/rules/quiet/", 302)]
    assert "Saved as version 2." in text_of(response)
    assert StoredRule.objects.get().content == LOUD
    assert "No changes, so there is no new version." in text_of(
        browser.post(EDIT, {"version": 2, "content": LOUD}, follow=True)
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GONE, "Line 3: “source” must be one of"),
        ("<b>", "Line 1: A rule is written as lines of"),
        ("nul \x00", "Null characters are not allowed."),
        ("", "Line 1: The text is empty."),
    ],
)
def test_what_cannot_be_saved_is_explained_with_its_line_and_kept(
    content: str, words: str, browser: Client, rule: StoredRule
) -> None:
    response = browser.post(EDIT, {"version": 1, "content": content})
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert f">\n{escape(content)}</textarea>" in page
    assert StoredRule.objects.get().version == 1


def test_somebody_elses_newer_version_is_shown_and_nothing_is_lost(browser: Client, rule: StoredRule) -> None:
    rule_save(rule=rule, content=LOUD, enabled=True, expected_version=1, principal=SYSTEM)
    mine = QUIET.replace("No", "None of the")
    stale = browser.post(EDIT, {"version": 1, "content": mine})
    page = text_of(stale)
    assert stale.status_code == 412
    assert "Dossier saved a newer version" in page
    assert "More logs." in page
    assert f">\n{mine}</textarea>" in page
    assert browser.post(EDIT, {"version": 2, "content": mine}).status_code == 302


def test_a_new_text_begins_as_an_example(browser: Client, rule: StoredRule) -> None:
    page = text_of(browser.get("/rules/new/?as=text"))
    assert "docs/security-decisions.md" in page
    assert '<option value="agent:luna">Luna</option>' in page
    assert "All agents of the organisation" not in page
    data = {"name": "own", "owner": "team:demo", "content": QUIET.replace("\n", "\r\n")}
    made = browser.post("/rules/new/", data, follow=True)
    assert made.redirect_chain == [("/rules/own/", 302)]
    row = StoredRule.objects.get(name="own")
    assert (row.content, row.scope, row.editor_name) == (QUIET, "team", "Edda")


def test_an_admin_writes_for_everybody(signed_in: SignedIn, admin: User) -> None:
    data = {"name": "own", "owner": "everywhere", "content": QUIET}
    assert signed_in(admin).post("/rules/new/", data).status_code == 302
    assert StoredRule.objects.get().scope == "everywhere"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "quiet"}, "There is a rule “quiet” already. Choose another name."),
        ({"name": "new"}, "is the address of a page"),
        ({"name": "A b"}, "Use lower-case letters"),
        ({"owner": "everywhere"}, "Select a valid choice."),
        ({"owner": "agent:other"}, "Select a valid choice."),
        ({"content": GONE}, "Line 3: “source” must be one of"),
        ({"content": ""}, "Line 1: The text is empty."),
    ],
)
def test_what_makes_no_rule_is_explained_and_kept(
    changed: dict[str, str], words: str, browser: Client, rule: StoredRule
) -> None:
    data = {"name": "own", "owner": "agent:luna", "content": QUIET, **changed}
    response = browser.post("/rules/new/", data)
    assert response.status_code == 422
    assert words in text_of(response)
    assert f">\n{data['content']}</textarea>" in text_of(response)
    assert StoredRule.objects.count() == 1


def test_the_text_is_checked_while_it_is_written(browser: Client) -> None:
    good, bad = (text_of(browser.post("/rules/check/", {"content": text})) for text in (QUIET, GONE))
    assert "valid" in good
    assert "line 3" in bad
    assert "then: {exclude: [{source: moons}]}" in bad
    assert not StoredRule.objects.exists()


def test_an_old_version_is_read_and_restored(browser: Client, rule: StoredRule) -> None:
    rule_save(rule=rule, content=LOUD, enabled=True, expected_version=1, principal=SYSTEM)
    page = text_of(browser.get(f"{HISTORY}1/"))
    assert "No logs." in page
    assert "Restore version 1" in page
    restored = browser.post(f"{HISTORY}1/restore/", {"version": 2}, follow=True)
    assert "Restored version 1 as version 3." in text_of(restored)
    assert StoredRule.objects.get().content == QUIET


def test_a_rule_is_deleted(browser: Client, rule: StoredRule) -> None:
    response = browser.post("/rules/quiet/delete/", follow=True)
    assert response.redirect_chain == [("/rules/", 302)]
    assert "Rule quiet deleted." in text_of(response)
    assert not StoredRule.objects.exists()


def test_a_context_shows_what_its_rules_did_and_which_promise_was_broken(
    browser: Client, agent: Agent, rule: StoredRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sources.SOURCES, "moons", sources.SOURCES["daily_logs"])
    file_create(file=StoredRule(name="moonlight", content=GONE), author=SYSTEM.author)
    monkeypatch.delitem(sources.SOURCES, "moons")
    content = "then: {always_include: [{path: KNOWLEDGE}]}"
    rule_create(name="promise", content=content, owner=agent, principal=SYSTEM)
    agent.files.filter(file_key="KNOWLEDGE").update(content="Stories have a beginning. " * 20)
    told = assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest(max_tokens=9)).assembly
    page = text_of(browser.get(f"/contexts/{told.id}/"))
    assert "An item that a rule always includes did not fit." in page
    page = text_of(browser.get(f"/contexts/{told.id}/rules-and-sources/"))
    assert ">promise</a>, version 1" in page
    assert "The rule moonlight has an error: Line 3" in page
    list_page = text_of(browser.get("/rules/moonlight/"))
    assert "This rule is invalid." in list_page
