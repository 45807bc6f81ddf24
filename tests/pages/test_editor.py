"""The editor: byte for byte, with two people at once, and with what cannot be saved."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from teams.files import MAX_FILE_CHARACTERS, file_save
from teams.forms import TextForm, with_line_ends_of
from teams.models import Team, TeamFile, User
from tests.pages.conftest import SignedIn, text_of

GOALS = "/teams/demo/files/GOALS/"


def goals(team: Team) -> TeamFile:
    return TeamFile.objects.get(team=team, file_key="GOALS")


def write(team: Team, content: str, by: User) -> TeamFile:
    file = goals(team)
    return file_save(file=file, content=content, expected_version=file.version, author=by.principal.author)


def test_saving_makes_a_version_and_says_so(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    response = browser.post(GOALS, {"version": 1, "content": "Ship it."}, follow=True)
    assert response.redirect_chain == [(GOALS, 302)]
    assert "Saved as version 2." in text_of(response)
    assert goals(team).content == "Ship it."
    assert goals(team).editor_name == "Olga Owner"


def test_saving_an_unchanged_text_makes_no_version(signed_in: SignedIn, owner: User, team: Team) -> None:
    response = signed_in(owner).post(GOALS, {"version": 1, "content": ""}, follow=True)
    assert "Nothing had changed" in text_of(response)
    assert goals(team).version == 1


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
    assert with_line_ends_of(sent, stored) == saved


def test_somebody_elses_newer_version_is_shown_and_nothing_is_lost(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    browser = signed_in(owner)
    write(team, "Theirs & more", editor)
    stale = browser.post(GOALS, {"version": 1, "content": "Mine <b>"})
    page = text_of(stale)
    assert stale.status_code == 412
    assert "Edda saved a newer version while you were writing" in page
    assert "Theirs &amp; more" in page
    assert ">\nMine &lt;b&gt;</textarea>" in page
    assert 'name="version" value="2"' in page
    assert goals(team).content == "Theirs & more"
    browser.post(GOALS, {"version": 2, "content": "Mine and theirs"})
    assert [goals(team).version, goals(team).content] == [3, "Mine and theirs"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [("nul \x00 in it", "Null characters"), ("x" * (MAX_FILE_CHARACTERS + 1), "at most 1,000,000 fit")],
)
def test_what_cannot_be_saved_is_explained_and_kept(
    bad: str, words: str, signed_in: SignedIn, owner: User, team: Team
) -> None:
    response = signed_in(owner).post(GOALS, {"version": 1, "content": bad})
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert bad in page
    assert goals(team).version == 1


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
    browser, data = signed_in(owner), {"version": 1, "content": "**bold** <script>x</script>", "preview": "1"}
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
    response = browser.post(GOALS, {"version": 1, "content": "No"})
    assert response.status_code == 403
    assert "open for too long" in text_of(response)
    assert goals(team).version == 1


def test_the_agents_files_have_the_same_editor(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    address = "/agents/luna/files/IDENTITY/"
    assert "Saved as version 2." in text_of(
        signed_in(editor).post(address, {"version": 1, "content": "You are Luna."}, follow=True)
    )
    assert agent.files.get(file_key="IDENTITY").content == "You are Luna."


@pytest.mark.parametrize("key", ["GOALS", "KNOWLEDGE", "RECENT_ACTIVITY"])
def test_the_size_of_what_is_being_written(key: str, signed_in: SignedIn, owner: User) -> None:
    page = text_of(signed_in(owner).post(f"/size/{key}/", {"content": "one two three"}))
    assert "3 words" in page
    assert "About 3 tokens." in page


def test_the_size_of_nothing_known_is_not_found(signed_in: SignedIn, owner: User) -> None:
    assert signed_in(owner).post("/size/NONSENSE/", {"content": "x"}).status_code == 404


def test_the_editor_takes_few_queries(
    signed_in: SignedIn, owner: User, team: Team, django_assert_max_num_queries: Any
) -> None:
    browser = signed_in(owner)
    with django_assert_max_num_queries(7):
        browser.get(GOALS)
