"""The editor: byte for byte, its preview and sizes, what cannot be kept, who may use it."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from teams.forms import TextForm, match_line_endings
from teams.models import Team, User
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import GOALS, draft_in, goals, publish, write


def test_a_text_that_begins_with_line_breaks_survives_the_form(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "\n\n  Ship it.  \n\n", owner)
    page = text_of(signed_in(owner).get(GOALS))
    # A browser drops exactly one line break after the tag.
    assert ">\n\n\n  Ship it.  \n\n</textarea>" in page


@pytest.mark.parametrize(
    ("sent", "stored", "saved"),
    [
        ("a\r\nb", "", "a\nb"),
        ("a\r\nb", "x\ny", "a\nb"),
        ("a\r\nb", "x\r\ny", "a\r\nb"),
        ("x\r\ny\r\nz", "x\r\ny\nz", "x\r\ny\nz"),
        ("x\r\ny", "x\ry", "x\ry"),
        (" a \r\n\r\n", "", " a \n\n"),
    ],
)
def test_line_ends_stay_as_they_are_stored(sent: str, stored: str, saved: str) -> None:
    assert match_line_endings(sent, stored) == saved


@pytest.mark.parametrize(
    ("bad", "words"),
    [("nul \x00 in it", "Null characters"), ("word " * (MAX_FILE_CHARACTERS // 5) + "!", "the maximum is 1,000,000")],
)
def test_what_cannot_be_saved_is_explained_and_kept(
    bad: str, words: str, signed_in: SignedIn, owner: User, team: Team
) -> None:
    response = signed_in(owner).post(GOALS, {"version": 1, "content": bad})
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert bad in page
    assert draft_in(team, owner) is None


def test_broken_characters_are_refused(team: Team) -> None:
    form = TextForm({"version": "1", "content": "broken \ud800"}, stored=goals(team))
    assert form.errors.as_data()["content"][0].code == "surrogate"


@pytest.mark.parametrize("version", ["", "x", "-1", "99999999999999"])
def test_a_form_without_a_usable_version_keeps_the_text(
    version: str, signed_in: SignedIn, owner: User, team: Team
) -> None:
    response = signed_in(owner).post(GOALS, {"version": version, "content": "Precious"})
    assert response.status_code == 422
    assert ">\nPrecious</textarea>" in text_of(response)


def test_the_preview_renders_without_saving(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser, data = signed_in(owner), {"version": 1, "content": "**bold** <script>x</script>", "deed": "preview"}
    whole, part = browser.post(GOALS, data), browser.post(GOALS, data, headers={"HX-Request": "true"})
    for response in (whole, part):
        assert "<strong>bold</strong> &lt;script&gt;" in text_of(response)
    assert "<html" not in text_of(part)
    assert goals(team).version == 1


def test_a_reader_cannot_save(signed_in: SignedIn, teammate: User, outsider: User, team: Team) -> None:
    data = {"version": 1, "content": "No"}
    assert signed_in(teammate).post(GOALS, data).status_code == 403
    assert signed_in(outsider).post(GOALS, data).status_code == 404
    assert goals(team).version == 1


def test_a_form_from_elsewhere_is_refused(owner: User, team: Team) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    data = {"version": 1, "content": "No"}
    response = browser.post(GOALS, data, headers={"Origin": "https://elsewhere.example"})
    assert response.status_code == 403
    assert "open for too long" in text_of(response)
    assert "No</textarea>" not in text_of(response)
    assert draft_in(team, owner) is None


def test_the_agents_files_have_the_same_editor(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    page = publish(signed_in(editor), "You are Luna.", address="/agents/luna/files/IDENTITY/")
    assert "Published version 2." in text_of(page)
    assert agent.files.get(file_key="IDENTITY").content == "You are Luna."


@pytest.mark.finding("E6")
@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("GOALS", "7 tokens (of a budget of 16,000)"),
        ("IDENTITY", "6 tokens · always included in full"),
        ("KNOWLEDGE", "7 / 2,000 tokens: about 1,993 more are available"),
        ("RECENT_ACTIVITY", "tokens; the last 7 days share 3,000."),
    ],
)
def test_the_size_of_what_is_being_written(key: str, said: str, signed_in: SignedIn, owner: User) -> None:
    page = text_of(signed_in(owner).post(f"/size/{key}/", {"content": "one two three"}))
    assert "3 words" in page
    assert said in page


def test_what_would_be_cut_is_told_and_shown(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    address = "/agents/luna/files/KNOWLEDGE/"
    text = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(20))
    browser = signed_in(owner)
    size = text_of(browser.post("/size/KNOWLEDGE/", {"content": text}))
    assert "/ 2,000 tokens: the last 5 paragraphs are truncated." in size
    preview = text_of(browser.post(address, {"version": 1, "content": text, "deed": "preview"}))
    before, after = preview.split('<div class="prose"', 1)[1].split("cut-line")
    assert ("Paragraph 15:" in before, "Paragraph 16:" in after) == (True, True)


def test_the_size_of_nothing_known_is_not_found(signed_in: SignedIn, owner: User) -> None:
    assert signed_in(owner).post("/size/NONSENSE/", {"content": "x"}).status_code == 404


def test_the_editor_takes_few_queries(
    signed_in: SignedIn, owner: User, team: Team, django_assert_max_num_queries: Any
) -> None:
    browser = signed_in(owner)
    with django_assert_max_num_queries(11):
        browser.get(GOALS)
