"""From a draft to a version, and what happens when somebody else was quicker."""

import pytest

from agents.models import Agent
from teams.models import Team, User
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import GOALS, LOOK, draft_in, goals, keep, publish, write


def test_publishing_makes_a_version_with_a_note(signed_in: SignedIn, owner: User, team: Team) -> None:
    page = publish(signed_in(owner), "Ship it.", note="A first goal")
    assert page.redirect_chain == [(GOALS, 302)]
    assert "Published version 2." in text_of(page)
    file = goals(team)
    assert (file.content, file.editor_name) == ("Ship it.", "Olga Owner")
    assert file.versions.get(version=2).note == "A first goal"
    assert draft_in(team, owner) is None


def test_the_first_text_of_a_log_is_published_with_its_note(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    page = publish(
        signed_in(editor), "Met Mara.", version=0, note="Started", address="/agents/luna/logs/2026-03-01/edit/"
    )
    assert "Published version 1." in text_of(page)
    assert agent.daily_logs.get().versions.get().note == "Started"


def test_an_unchanged_text_makes_no_version(signed_in: SignedIn, owner: User, team: Team) -> None:
    page = publish(signed_in(owner), "")
    assert "No changes, so there is no new version." in text_of(page)
    assert goals(team).version == 1
    assert draft_in(team, owner) is None


def test_line_ends_are_published_as_they_were_stored(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "---\r\ntitle: x\r\n---\r\n\r\none", owner)
    publish(signed_in(owner), "---\r\ntitle: x\r\n---\r\n\r\none\r\ntwo", version=2)
    assert goals(team).content == "---\r\ntitle: x\r\n---\r\n\r\none\r\ntwo"


def test_the_changes_are_looked_at_before(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    keep(browser, "Ship **it**.")
    page = text_of(browser.get(LOOK))
    assert "Publish Goals of Demo" in page
    assert "<strong>it</strong>" in page
    assert f'href="{GOALS}history/compare/?from=1&amp;to=draft&amp;as=source"' in page
    assert "Change summary" in page


def test_without_a_draft_there_is_nothing_to_publish(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    assert browser.get(LOOK)["Location"] == GOALS
    assert browser.get(f"{GOALS}?step=merge")["Location"] == GOALS


def test_a_note_that_is_too_long_is_told(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    revision = keep(browser, "Ship it.").json()["revision"]
    response = browser.post(GOALS, {"deed": "publish", "revision": revision, "note": "x" * 201})
    assert response.status_code == 422
    assert "at most 200 characters" in text_of(response)
    assert goals(team).version == 1


@pytest.mark.parametrize("revision", ["", "x", "-1", "7"])
def test_only_what_was_looked_at_is_published(revision: str, signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    keep(browser, "Ship it.")
    response = browser.post(GOALS, {"deed": "publish", "revision": revision})
    assert response["Location"] == LOOK
    assert goals(team).version == 1
    assert draft_in(team, owner)


def test_a_version_between_looking_and_publishing_is_told(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    browser = signed_in(owner)
    revision = keep(browser, "Mine").json()["revision"]
    write(team, "Theirs", editor)
    response = browser.post(GOALS, {"deed": "publish", "revision": revision, "note": "x"})
    assert response.status_code == 412
    assert "Edda published version 2" in text_of(response)
    draft = draft_in(team, owner)
    assert draft
    assert draft.content == "Mine"
    assert 'value="theirs"' in text_of(browser.get(LOOK))
