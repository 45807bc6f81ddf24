"""Two people changed one text: the page on which a person merges them, place by place."""

from typing import Any

import pytest
from django.test import Client

from teams.models import Team, User
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import GOALS, draft_in, goals, keep, publish, write

BASE, MINE, THEIRS = "a\nb\nc\nd\ne", "a\nMINE\nc\nd\nE mine", "a\nTHEIRS\nc\nd\nE theirs"


def conflict(browser: Client, team: Team, editor: User, mine: str = MINE, theirs: str = THEIRS) -> Any:
    """Return the page that a person gets who publishes a text while somebody else published another one."""
    write(team, BASE, editor)
    browser.post(GOALS, {"deed": "keep", "version": 2, "content": mine})
    write(team, theirs, editor)
    return browser.get(f"{GOALS}?step=publish")


def merge(browser: Client, team: Team, person: User, **choices: str) -> Any:
    draft = draft_in(team, person)
    assert draft
    sent = {"deed": "merge", "base": 2, "version": 3, "revision": draft.revision, "content": draft.content}
    return browser.post(GOALS, {**sent, **choices}, follow=True)


def test_the_page_shows_each_place_with_its_differing_words(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    page = text_of(conflict(signed_in(owner), team, editor, "a <b>\nMINE", "a <b>\nTHEIRS & more"))
    assert "Edda published version 3 after you started your draft." in page
    assert "Both texts changed 1 place: choose which text to use." in page
    assert "Place 1 of 1" in page
    assert "MINE<" in page
    assert "THEIRS &amp; more<" in page
    assert "<b>\n" not in page
    assert "[Here both" not in page


@pytest.mark.finding("E2")
def test_the_merged_text_has_what_was_chosen_and_no_markers(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    browser = signed_in(owner)
    assert text_of(conflict(browser, team, editor)).count("<legend>") == 2
    page = merge(browser, team, owner, **{"choice-1": "mine", "choice-2": "own", "own-2": "E\r\nboth"})
    assert page.redirect_chain == [(GOALS, 302)]
    assert "Both texts are merged in your draft." in text_of(page)
    draft = draft_in(team, owner)
    assert draft
    assert (draft.content, draft.based_on) == ("a\nMINE\nc\nd\nE\nboth", 3)
    assert goals(team).content == THEIRS
    assert f"{MINE}</pre>" in text_of(page)  # the draft before, which can be restored


def test_a_place_can_keep_the_other_text_or_both(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    merge(browser, team, owner, **{"choice-1": "theirs", "choice-2": "both"})
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "a\nTHEIRS\nc\nd\nE mine\nE theirs"


def test_one_button_keeps_all_of_ones_own_text(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    merge(browser, team, owner, all="mine")
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == MINE


def test_to_take_all_of_theirs_discards_the_draft(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    page = text_of(merge(browser, team, owner, all="theirs"))
    assert "The published text is not changed. Your draft can be restored below." in page
    assert draft_in(team, owner) is None
    assert f"{MINE}</pre>" in page  # offered back


@pytest.mark.parametrize("choices", [{}, {"choice-1": "mine"}, {"choice-1": "mine", "choice-2": "x"}])
def test_a_place_without_a_choice_is_asked_for_again(
    choices: dict[str, str], signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    page = merge(browser, team, owner, **choices)
    assert page.status_code == 422
    assert "Choose a text at place" in text_of(page)
    assert ('value="mine" checked' in text_of(page)) == bool(choices)
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == MINE


def test_changes_in_different_places_need_no_choice(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    page = text_of(conflict(browser, team, editor, "A\nb\nc\nd\ne", f"{BASE}\nf"))
    assert "The changes are in different places" in page
    merge(browser, team, owner)
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "A\nb\nc\nd\ne\nf"


def test_a_version_published_while_merging_is_shown(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    write(team, f"{THEIRS}!", editor)
    page = merge(browser, team, owner, all="mine")
    assert page.status_code == 412
    assert "Edda published version 4" in text_of(page)
    assert "E theirs!" in text_of(page)


def test_texts_of_two_windows_are_merged(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    revision = keep(browser, "first window").json()["revision"]
    page = browser.post(GOALS, {"deed": "review", "version": 1, "revision": 0, "content": "second window"})
    assert page.status_code == 412
    assert "You also edited this text in another window." in text_of(page)
    sent = {"deed": "merge", "base": 1, "version": 1, "revision": revision, "content": "second window"}
    browser.post(GOALS, {**sent, "other_window": "on", "choice-1": "both"})
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "second window\nfirst window"


def test_an_incomplete_page_loses_no_text(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    conflict(browser, team, editor)
    page = browser.post(GOALS, {"deed": "merge", "base": "x", "version": 3, "content": "My words"})
    assert page.status_code == 422
    assert ">\nMy words</textarea>" in text_of(page)


@pytest.mark.finding("E2")
@pytest.mark.parametrize(
    "markers",
    [
        "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main",
        "[Here both texts changed. Yours says:]\nx\n[Edda says:]\ny\n[Keep what is right, and take out these lines.]",
    ],
)
def test_conflict_markers_are_not_published(markers: str, signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    page = publish(browser, f"a\n{markers}\nb")
    assert page.status_code == 422
    assert "The text contains conflict markers. Remove them before you publish." in text_of(page)
    revision = keep(browser, f"a\n{markers}\nb").json()["revision"]
    page = browser.post(GOALS, {"deed": "publish", "revision": revision}, follow=True)
    assert "The text contains conflict markers. Remove them before you publish." in text_of(page)
    assert goals(team).version == 1


@pytest.mark.finding("E26")
def test_comparing_without_a_draft_leads_to_the_editor(signed_in: SignedIn, owner: User, team: Team) -> None:
    page = signed_in(owner).get(f"{GOALS}history/compare/?from=1&to=draft", follow=True)
    assert page.redirect_chain == [(GOALS, 302)]
    assert "You have no draft to compare." in text_of(page)


@pytest.mark.finding("E13")
def test_the_changes_of_a_draft_lead_back_to_it(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    keep(browser, "Ship it.")
    page = text_of(browser.get(f"{GOALS}history/compare/?from=1&to=draft"))
    assert "Back to your draft" in page
    assert f'<a href="{GOALS}">Goals</a>' in page


@pytest.mark.finding("E20")
def test_who_wrote_nothing_is_not_told_that_they_were_writing(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    browser = signed_in(owner)
    write(team, "New", editor)
    news = browser.post(GOALS, {"deed": "here", "version": 1}, headers={"Accept": "application/json"}).json()
    assert news["newer"] == "Edda published version 2."


@pytest.mark.finding("E19")
def test_the_page_says_nothing_of_the_size_of_the_draft(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    page = text_of(conflict(signed_in(owner), team, editor))
    assert 'id="size"' not in page
    assert 'id="draft-preview"' not in page
