"""History: every version can be read, and an old one restored as a new one."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from teams.models import Team, TeamFile, TeamFileVersion, User
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, file_save
from teams.versioned_text.views import MAX_OWN_CHARACTERS
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import goals, write

HISTORY = "/teams/demo/files/GOALS/history/"


def restored(browser: Client, number: int, based_on: int, note: str = "") -> Any:
    return browser.post(f"{HISTORY}{number}/restore/", {"version": based_on, "note": note}, follow=True)


def newest_note(team: Team) -> str:
    return str(TeamFileVersion.objects.filter(file=goals(team)).latest("version").note)


def test_versions_are_listed_newest_first(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    write(team, "One", owner)
    file_save(
        file=goals(team),
        content="Two more words",
        expected_version=2,
        author=editor.principal.author,
        note="Longer <b>",
    )
    page = text_of(signed_in(owner).get(HISTORY))
    assert page.index("Version 3</a>") < page.index("Version 2</a>") < page.index("Version 1</a>")
    assert "3 words<br>+2 words" in page
    assert "1 word<br>+1 word" in page
    assert "Edda" in page
    assert "Longer &lt;b&gt;" in page


def test_the_list_goes_on_for_long_histories(signed_in: SignedIn, owner: User, team: Team) -> None:
    for number in range(3):
        write(team, "word " * (number + 1), owner)
    browser = signed_in(owner)
    page = text_of(browser.get(f"{HISTORY}?limit=2"))
    assert "2 words<br>+1 word" in page  # beside a version that is on the next page
    following = page.split('class="btn" href="')[-1].split('"')[0].replace("&amp;", "&")
    assert "Version 2" in text_of(browser.get(following))


@pytest.mark.parametrize("versions", [3, 30])
def test_a_list_of_any_length_takes_as_many_queries(
    signed_in: SignedIn, owner: User, team: Team, versions: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(versions):
        write(team, f"{number} words", owner)
    browser = signed_in(owner)
    browser.get(HISTORY)
    with django_assert_num_queries(10):
        browser.get(HISTORY)


def test_a_version_is_shown_rendered_and_as_written(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Ship **it** ![x](https://example.com/x.png)", owner)
    browser = signed_in(owner)
    rendered, source = text_of(browser.get(f"{HISTORY}2/")), text_of(browser.get(f"{HISTORY}2/?as=source"))
    assert "<strong>it</strong>" in rendered
    assert "<img" not in rendered
    assert "Ship **it**" in source


def test_restoring_makes_a_new_version_and_says_why(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    write(team, "Bad", owner)
    response = restored(signed_in(owner), 2, 3, note="the demo  moved")
    assert "Restored version 2 as version 4." in text_of(response)
    assert goals(team).content == "Good"
    assert TeamFile.objects.get(pk=goals(team).pk).versions.count() == 4
    assert newest_note(team) == "Restored version 2: the demo moved"


def test_restoring_can_be_undone(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    write(team, "Better", owner)
    browser = signed_in(owner)
    assert "Undo restore (version 3)" in text_of(restored(browser, 2, 3))
    restored(browser, 3, 4)
    assert goals(team).content == "Better"
    assert newest_note(team) == "Restored version 3"
    assert "Undo" not in text_of(browser.get(f"{HISTORY}?restored=4"))  # somebody saved since


def test_restoring_what_stands_there_makes_no_version(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    assert "No changes, so there is no new version." in text_of(restored(signed_in(owner), 2, 2))
    assert goals(team).version == 2


def test_a_draft_survives_restoring(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    draft = draft_save(person_id=owner.id, about=goals(team).about, content="Mine", based_on=2, expected_revision=0)
    page = text_of(restored(signed_in(owner), 1, 2))
    assert "Your draft is not changed; only you can see it." in page
    draft.refresh_from_db()
    assert draft.content == "Mine"


def test_restoring_over_a_newer_version_shows_it_first(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    write(team, "Good", owner)
    browser = signed_in(owner)
    write(team, "Newer", editor)
    response = browser.post(f"{HISTORY}2/restore/", {"version": 2, "note": "my words"})
    assert response.status_code == 412
    assert goals(team).content == "Newer"
    page = text_of(response)
    assert "Edda saved a newer version while you were reading." in page
    assert 'value="my words"' in page
    assert 'name="version" value="3"' in page
    restored(browser, 2, 3, "my words")
    assert goals(team).content == "Good"


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"version": "x"},
        {"version": "2", "note": "x" * (MAX_OWN_CHARACTERS + 1)},
    ],
)
def test_a_form_that_cannot_be_used_is_shown_again(
    signed_in: SignedIn, owner: User, team: Team, sent: dict[str, str]
) -> None:
    write(team, "Good", owner)
    response = signed_in(owner).post(f"{HISTORY}1/restore/", sent)
    assert response.status_code == 422
    assert "Restore version 1" in text_of(response)
    assert goals(team).version == 2


def test_the_longest_note_fits(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    restored(signed_in(owner), 1, 2, "x" * MAX_OWN_CHARACTERS)
    assert len(newest_note(team)) <= MAX_NOTE_CHARACTERS


def test_readers_cannot_restore(signed_in: SignedIn, teammate: User, team: Team, owner: User) -> None:
    write(team, "Good", owner)
    assert signed_in(teammate).post(f"{HISTORY}1/restore/", {"version": 2}).status_code == 403
    assert goals(team).content == "Good"
