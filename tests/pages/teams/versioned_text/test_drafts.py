"""Drafts in the editor: kept, shown again, discarded and brought back; of two windows, and of two people in one."""

from typing import Any

import pytest
from django.test import Client

from teams.models import Membership, Team, User
from teams.text_diff.alignment import MAX_LINES
from teams.versioned_text.drafts import Draft
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import AS_SCRIPT, GOALS, draft_in, goals, keep, write


def test_a_draft_is_kept_and_nobody_else_sees_it(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    kept = keep(signed_in(owner), "Ship it.").json()
    draft = draft_in(team, owner)
    assert draft
    assert (draft.content, draft.based_on, draft.revision) == ("Ship it.", 1, kept["revision"])
    assert kept["kept"]
    assert goals(team).version == 1
    assert "Ship it." in text_of(signed_in(owner).get(GOALS))
    assert "Ship it." not in text_of(signed_in(editor).get(GOALS))


def test_each_save_goes_on_from_the_one_before(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    first = keep(browser, "One").json()["revision"]
    assert keep(browser, "One", revision=first).json()["revision"] == first
    assert keep(browser, "Two", revision=first).json()["revision"] == first + 1


def test_a_text_that_is_published_anyway_is_no_draft(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    first = keep(browser, "One").json()["revision"]
    answer = keep(browser, "", revision=first).json()
    assert (answer["kept"], answer["revision"]) == (False, 0)
    assert draft_in(team, owner) is None


def test_two_windows_of_one_person_are_told_and_lose_nothing(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    first = keep(browser, "One").json()["revision"]
    second = keep(browser, "From window A", revision=first).json()["revision"]
    stale = keep(browser, "From window B", revision=first)
    assert stale.status_code == 412
    told = stale.json()
    assert (told["code"], told["content"], told["revision"]) == ("stale_draft", "From window A", second)
    going_on = keep(browser, "From window B", revision=second, keeping="on")
    assert going_on.status_code == 200
    page = text_of(browser.get(GOALS))
    assert "From window A</pre>" in page  # set aside
    assert ">\nFrom window B</textarea>" in page


def test_two_windows_without_scripts_get_both_texts_merged(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "one\ntwo\nthree", owner)
    browser = signed_in(owner)
    keep(browser, "ONE\ntwo\nthree", version=2)
    data = {"deed": "keep", "content": "one\ntwo\nTHREE", "version": 2, "revision": 0}
    stale = browser.post(GOALS, data)
    page = text_of(stale)
    assert stale.status_code == 412
    assert "You also edited this text in another window." in page
    assert "The changes are in different places and can be merged without conflicts." in page
    assert ">ONE\ntwo\nTHREE</pre>" in page
    assert ">\none\ntwo\nTHREE</textarea>" in page, "the text of this window is sent along"


@pytest.mark.finding("5.1b")
def test_texts_too_long_to_be_brought_together_stand_side_by_side(signed_in: SignedIn, owner: User, team: Team) -> None:
    lines = "a\nb\n" * (MAX_LINES // 4)
    write(team, lines, owner)
    browser = signed_in(owner)
    keep(browser, f"{lines}first", version=2)
    stale = browser.post(GOALS, {"deed": "keep", "content": f"{lines}second", "version": 2, "revision": 0})
    page = text_of(stale)
    assert stale.status_code == 412
    assert "Place 1 of 1" in page
    assert "b\nsecond</pre>" in page
    assert "b\nfirst</pre>" in page


def test_a_window_from_before_an_earlier_draft_does_not_take_a_new_one_for_its_own(
    signed_in: SignedIn, owner: User, team: Team
) -> None:
    browser = signed_in(owner)
    old = keep(browser, "Old").json()["revision"]
    browser.post(GOALS, {"deed": "discard", "content": "Old", "version": 1})
    keep(browser, "New")
    assert keep(browser, "Old and more", revision=old).status_code == 412


def test_discarding_can_be_undone(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    keep(browser, "Precious")
    page = text_of(browser.post(GOALS, {"deed": "discard", "content": "Precious & more", "version": 1}, follow=True))
    assert "Draft discarded. You can restore it below." in page
    assert "Precious &amp; more</pre>" in page
    assert draft_in(team, owner) is None
    page = text_of(browser.post(GOALS, {"deed": "bring_back"}, follow=True))
    assert ">\nPrecious &amp; more</textarea>" in page
    assert "Discarded draft" not in page


def test_bringing_back_changes_places_with_the_draft(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    keep(browser, "First")
    browser.post(GOALS, {"deed": "discard"})
    keep(browser, "Second")
    page = text_of(browser.post(GOALS, {"deed": "bring_back"}, follow=True))
    assert ">\nFirst</textarea>" in page
    assert "Second</pre>" in page
    page = text_of(browser.post(GOALS, {"deed": "forget"}, follow=True))
    assert "Second</pre>" not in page
    assert ">\nFirst</textarea>" in page


def test_a_form_saves_a_draft_without_scripts(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    page = text_of(browser.post(GOALS, {"deed": "keep", "content": "Ship it.", "version": 1}, follow=True))
    assert "Draft saved. Only you can see it." in page
    assert "Discard draft" in page
    assert "your draft" in page


@pytest.mark.parametrize("deed", ["keep", "review", "preview", "publish", "discard", "bring_back", "here", "merge"])
def test_who_may_not_edit_drafts_nothing(
    deed: str, signed_in: SignedIn, teammate: User, outsider: User, team: Team
) -> None:
    data = {"deed": deed, "content": "No", "version": 1, "revision": 0}
    for headers in ({}, AS_SCRIPT):
        assert signed_in(teammate).post(GOALS, data, headers=headers).status_code == 403
        assert signed_in(outsider).post(GOALS, data, headers=headers).status_code == 404
    assert not Draft.objects.exists()


def test_a_draft_of_what_one_may_no_longer_edit_is_hidden_and_kept(
    signed_in: SignedIn, editor: User, team: Team
) -> None:
    browser = signed_in(editor)
    keep(browser, "Precious")
    Membership.objects.filter(user=editor).update(role="viewer")
    assert browser.get(GOALS)["Location"] == f"{GOALS}history/1/"
    assert keep(browser, "More").status_code == 403
    Membership.objects.filter(user=editor).update(role="editor")
    assert ">\nPrecious</textarea>" in text_of(browser.get(GOALS))


def test_a_text_is_never_kept_for_somebody_else(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    response = keep(signed_in(editor), "By Olga", person=owner.id)
    assert (response.status_code, response.json()["code"]) == (422, "other_person")
    page = signed_in(editor).post(GOALS, {"deed": "review", "content": "By Olga", "version": 1, "person": owner.id})
    assert page.status_code == 422
    assert "Someone else has signed in in this browser. Sign in with your account to save your text." in text_of(page)
    assert ">\nBy Olga</textarea>" in text_of(page)
    assert not Draft.objects.exists()


def test_a_script_is_told_what_cannot_be_kept(signed_in: SignedIn, owner: User, team: Team) -> None:
    response = keep(signed_in(owner), "nul \x00 in it")
    assert response.status_code == 422
    assert "Null characters" in response.json()["detail"]


def test_a_script_that_is_signed_out_is_told_so(client: Client, team: Team) -> None:
    response = keep(client, "Precious")
    assert (response.status_code, response.json()["code"]) == (401, "signed_out")


def test_a_text_sent_after_the_session_ended_comes_back_and_can_be_sent_again(
    client: Client, owner: User, team: Team
) -> None:
    sent: dict[str, Any] = {"deed": "review", "content": "\nPrecious <b>", "version": 1, "person": owner.id}
    response = client.post(GOALS, sent)
    page = text_of(response)
    assert response.status_code == 401
    assert "Sign in in a new tab" in page
    assert ">\n\nPrecious &lt;b&gt;</textarea>" in page
    assert '<input type="hidden" name="deed" value="review">' in page
    client.force_login(owner)
    client.post(GOALS, sent)
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "\nPrecious <b>"


def test_a_text_sent_with_an_old_token_comes_back(owner: User, team: Team) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    sent = {"deed": "keep", "content": "Precious", "version": 1, "csrfmiddlewaretoken": "x" * 64}
    response = browser.post(GOALS, sent)
    assert response.status_code == 403
    assert ">\nPrecious</textarea>" in text_of(response)
    token = response.context["csrf_token"]
    browser.post(GOALS, {**sent, "csrfmiddlewaretoken": str(token)})
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "Precious"


def test_others_see_who_is_there(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    mine, theirs = signed_in(owner), signed_in(editor)
    assert "is also editing" not in text_of(mine.get(GOALS))
    page = text_of(theirs.get(GOALS))
    assert "Olga Owner is also editing" in page
    here = mine.post(GOALS, {"deed": "here"}, headers=AS_SCRIPT).json()
    assert here["others"] == "Edda is also editing"
    theirs.post(GOALS, {"deed": "leave"})
    assert mine.post(GOALS, {"deed": "here"}, headers=AS_SCRIPT).json()["others"] == ""


def test_an_open_editor_hears_of_a_newer_version(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    browser = signed_in(owner)
    write(team, "Theirs", editor)
    news = keep(browser, "Mine").json()
    assert news["published"] == 2
    assert news["newer"] == "Edda published version 2."
    assert "Merge now" in text_of(browser.get(GOALS))
