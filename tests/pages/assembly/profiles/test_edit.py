"""Writing profiles on their pages: saved, refused with a line, restored and deleted, and nothing typed is lost."""

import pytest
from django.test import Client
from django.utils.html import escape

from assembly.models import StoredProfile
from assembly.profiles.services import profile_create, profile_save
from teams.models import User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.profiles.test_services import BRIEF, BRIEFER, GONE
from tests.pages.conftest import SignedIn, text_of

EDIT = "/profiles/brief/edit/"
HISTORY = "/profiles/brief/history/"


@pytest.fixture
def signed_in_admin(signed_in: SignedIn, admin: User) -> Client:
    return signed_in(admin)


@pytest.fixture
def brief(admin: User) -> StoredProfile:
    return profile_create(name="brief", content=BRIEF, principal=admin.principal)


def test_saving_makes_a_version_and_shows_it(signed_in: SignedIn, admin: User, brief: StoredProfile) -> None:
    response = signed_in(admin).post(EDIT, {"version": 1, "content": BRIEFER.replace("\n", "\r\n")}, follow=True)
    assert response.redirect_chain == [("/profiles/brief/", 302)]
    assert "Saved as version 2." in text_of(response)
    assert "400 tokens in total" in text_of(response)
    assert StoredProfile.objects.get().content == BRIEFER
    again = signed_in(admin).post(EDIT, {"version": 2, "content": BRIEFER}, follow=True)
    assert "No changes, so there is no new version." in text_of(again)


def test_the_first_change_of_a_shipped_profile_keeps_its_text(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    assert "Shipped version" in text_of(browser.get("/profiles/coding/edit/"))
    assert "Saved as version 2." in text_of(
        browser.post("/profiles/coding/edit/", {"version": 1, "content": BRIEF}, follow=True)
    )
    page = text_of(browser.get("/profiles/coding/history/"))
    assert page.index("Version 2") < page.index("Version 1")
    back = browser.post("/profiles/coding/delete/", follow=True)
    assert back.redirect_chain == [("/profiles/coding/", 302)]
    assert "reset to default." in text_of(back)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GONE, "Line 5: “source” must be one of"),
        ("<b>", "Line 1: A profile is written as lines of"),
        ("nul \x00", "Null characters are not allowed."),
        ("", "Line 1: The text is empty."),
    ],
)
def test_what_cannot_be_saved_is_explained_with_its_line_and_kept(
    content: str, words: str, signed_in: SignedIn, admin: User, brief: StoredProfile
) -> None:
    response = signed_in(admin).post(EDIT, {"version": 1, "content": content})
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert f">\n{escape(content)}</textarea>" in page
    assert "Not saved; your text is below." in page
    assert StoredProfile.objects.get().version == 1


def test_somebody_elses_newer_version_is_shown_and_nothing_is_lost(
    signed_in: SignedIn, admin: User, brief: StoredProfile
) -> None:
    profile_save(name="brief", content=BRIEFER, expected_version=1, principal=SYSTEM)
    mine = BRIEF.replace("500", "300")
    browser = signed_in(admin)
    stale = browser.post(EDIT, {"version": 1, "content": mine})
    page = text_of(stale)
    assert stale.status_code == 412
    assert "Dossier saved a newer version" in page
    assert "budget: 400" in page
    assert f">\n{mine}</textarea>" in page
    assert 'name="version" value="2"' in page
    assert browser.post(EDIT, {"version": 2, "content": mine}).status_code == 302
    assert StoredProfile.objects.get().version == 3


@pytest.mark.parametrize("version", ["", "x", "-1"])
def test_a_form_without_a_usable_version_keeps_the_text(
    version: str, signed_in: SignedIn, admin: User, brief: StoredProfile
) -> None:
    response = signed_in(admin).post(EDIT, {"version": version, "content": "Precious"})
    assert response.status_code == 422
    assert ">\nPrecious</textarea>" in text_of(response)


def test_a_new_profile_begins_as_a_copy_without_its_name(
    signed_in: SignedIn, admin: User, brief: StoredProfile
) -> None:
    browser = signed_in(admin)
    page = text_of(browser.get("/profiles/new/?from=conversation"))
    assert "description: The start of a conversation" in page
    assert "\nname: conversation" not in page
    made = browser.post("/profiles/new/", {"name": "own", "content": BRIEF.replace("\n", "\r\n")}, follow=True)
    assert made.redirect_chain == [("/profiles/own/", 302)]
    assert StoredProfile.objects.get(name="own").content == BRIEF


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("brief", BRIEF, "There is a profile “brief” already. Choose another name."),
        ("coding", BRIEF, "There is a profile “coding” already. Choose another name."),
        ("new", BRIEF, "is the address of a page"),
        ("A b", BRIEF, "Use lower-case letters"),
        ("", BRIEF, "This field is required."),
        ("own", GONE, "Line 5: “source” must be one of"),
        ("own", "", "This field is required."),
    ],
)
def test_what_makes_no_profile_is_explained_and_kept(
    name: str, content: str, words: str, brief: StoredProfile, signed_in_admin: Client
) -> None:
    response = signed_in_admin.post("/profiles/new/", {"name": name, "content": content})
    page = text_of(response)
    assert response.status_code == 422
    assert words in page
    assert f">\n{content}</textarea>" in page
    assert StoredProfile.objects.count() == 1


def test_the_text_is_checked_while_it_is_written(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    good, bad = (text_of(browser.post("/profiles/check/", {"content": text})) for text in (BRIEF, GONE))
    assert "valid" in good
    assert "line 5" in bad
    assert "- {key: moons, heading: Moons" in bad
    assert "<html" not in good + bad
    assert not StoredProfile.objects.exists()


def test_an_old_version_is_read_and_restored(signed_in: SignedIn, admin: User, brief: StoredProfile) -> None:
    profile_save(name="brief", content=BRIEFER, expected_version=1, principal=SYSTEM)
    browser = signed_in(admin)
    page = text_of(browser.get(f"{HISTORY}1/"))
    assert "budget: 500" in page
    assert "Restore version 1" in page
    restored = browser.post(f"{HISTORY}1/restore/", {"version": 2}, follow=True)
    assert "Restored version 1 as version 3." in text_of(restored)
    assert StoredProfile.objects.get().content == BRIEF
    assert browser.post(f"{HISTORY}2/restore/", {"version": 2}).status_code == 412


def test_a_version_that_can_no_longer_be_read_is_not_restored(signed_in: SignedIn, admin: User) -> None:
    file_create(file=StoredProfile(name="brief", content=GONE), author=SYSTEM.author)
    profile_save(name="brief", content=BRIEF, expected_version=1, principal=SYSTEM)
    response = signed_in(admin).post(f"{HISTORY}1/restore/", {"version": 2})
    assert response.status_code == 422
    assert "Line 5" in text_of(response)
    assert StoredProfile.objects.get().content == BRIEF


def test_a_profile_of_ones_own_is_deleted(signed_in: SignedIn, admin: User, brief: StoredProfile) -> None:
    response = signed_in(admin).post("/profiles/brief/delete/", follow=True)
    assert response.redirect_chain == [("/profiles/", 302)]
    assert "Profile brief deleted." in text_of(response)
    assert not StoredProfile.objects.exists()
