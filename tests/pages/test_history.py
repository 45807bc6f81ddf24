"""History: every version can be read, and an old one restored as a new one."""

from typing import Any

from django.test import Client

from teams.models import Team, TeamFile, User
from tests.pages.conftest import SignedIn, text_of
from tests.pages.writing import goals, write

HISTORY = "/teams/demo/files/GOALS/history/"


def restored(browser: Client, number: int, based_on: int) -> Any:
    return browser.post(f"{HISTORY}{number}/restore/", {"version": based_on}, follow=True)


def test_versions_are_listed_newest_first(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    write(team, "One", owner)
    write(team, "Two words", editor)
    page = text_of(signed_in(owner).get(HISTORY))
    assert page.index("Version 3") < page.index("Version 2") < page.index("Version 1")
    assert "9 characters" in page
    assert "Edda" in page


def test_the_list_goes_on_for_long_histories(signed_in: SignedIn, owner: User, team: Team) -> None:
    for number in range(3):
        write(team, str(number), owner)
    browser = signed_in(owner)
    page = text_of(browser.get(f"{HISTORY}?limit=2"))
    following = page.split('class="btn" href="')[-1].split('"')[0].replace("&amp;", "&")
    assert "Version 2" in text_of(browser.get(following))


def test_a_version_is_shown_rendered_and_as_written(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Ship **it** ![x](https://example.com/x.png)", owner)
    browser = signed_in(owner)
    rendered, source = text_of(browser.get(f"{HISTORY}2/")), text_of(browser.get(f"{HISTORY}2/?as=source"))
    assert "<strong>it</strong>" in rendered
    assert "<img" not in rendered
    assert "Ship **it**" in source


def test_restoring_makes_a_new_version(signed_in: SignedIn, owner: User, team: Team) -> None:
    write(team, "Good", owner)
    write(team, "Bad", owner)
    response = restored(signed_in(owner), 2, 3)
    assert "Saved as version 4." in text_of(response)
    assert goals(team).content == "Good"
    assert TeamFile.objects.get(pk=goals(team).pk).versions.count() == 4


def test_restoring_over_a_newer_version_is_refused(signed_in: SignedIn, owner: User, editor: User, team: Team) -> None:
    write(team, "Good", owner)
    browser = signed_in(owner)
    write(team, "Newer", editor)
    response = browser.post(f"{HISTORY}1/restore/", {"version": 2})
    assert response.status_code == 412
    assert goals(team).content == "Newer"


def test_readers_cannot_restore(signed_in: SignedIn, teammate: User, team: Team, owner: User) -> None:
    write(team, "Good", owner)
    assert signed_in(teammate).post(f"{HISTORY}1/restore/", {"version": 2}).status_code == 403
    assert goals(team).content == "Good"
