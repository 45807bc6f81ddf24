"""The pages of profiles: everybody reads, admins edit, and nothing that was typed is lost."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from assembly.models import StoredProfile
from assembly.profiles.services import profile_create, profile_save
from teams.files import file_create
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.test_profile_services import BRIEF, BRIEFER, GONE
from tests.pages.conftest import SignedIn, text_of

EDIT = "/profiles/brief/edit/"
HISTORY = "/profiles/brief/history/"


@pytest.fixture
def signed_in_admin(signed_in: SignedIn, admin: User) -> Client:
    return signed_in(admin)


@pytest.fixture
def brief(admin: User) -> StoredProfile:
    return profile_create(name="brief", content=BRIEF, principal=admin.principal)


@pytest.fixture
def people(teammate: User, outsider: User, admin: User) -> tuple[User, ...]:
    """In the order of the table."""
    return (teammate, outsider, admin)


# Address: what a teammate (a viewer), the outsider and the admin are answered.
PAGES = {
    "/profiles/": (200, 200, 200),
    "/profiles/new/": (403, 403, 200),
    "/profiles/new/?from=brief": (403, 403, 200),
    "/profiles/new/?from=nobody": (403, 403, 404),
    "/profiles/check/": (405, 405, 405),
    "/profiles/brief/": (200, 200, 200),
    EDIT: (403, 403, 200),
    HISTORY: (200, 200, 200),
    f"{HISTORY}1/": (200, 200, 200),
    f"{HISTORY}2/": (404, 404, 404),
    f"{HISTORY}{'9' * 30}/": (404, 404, 404),
    f"{HISTORY}1/restore/": (405, 405, 405),
    "/profiles/brief/delete/": (405, 405, 405),
    "/profiles/conversation/": (200, 200, 200),
    "/profiles/conversation/edit/": (403, 403, 409),
    "/profiles/conversation/history/": (404, 404, 404),
    "/profiles/coding/": (200, 200, 200),
    "/profiles/coding/edit/": (403, 403, 200),
    "/profiles/nobody/": (404, 404, 404),
    "/profiles/nobody/edit/": (403, 403, 404),
}


@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, people: tuple[User, ...], brief: StoredProfile
) -> None:
    answers = tuple(signed_in(person).get(address).status_code for person in people)
    assert answers == PAGES[address]


@pytest.mark.parametrize("address", PAGES)
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Any, brief: StoredProfile) -> None:
    response = client.get(address)
    assert (response.status_code, response["Location"][:16]) == (302, "/accounts/login/")


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("/profiles/new/", {"name": "own", "content": BRIEF}),
        (EDIT, {"version": 1, "content": BRIEFER}),
        (f"{HISTORY}1/restore/", {"version": 1}),
        ("/profiles/brief/delete/", {}),
    ],
)
def test_who_may_only_read_changes_nothing(
    address: str, data: dict[str, Any], signed_in: SignedIn, owner: User, brief: StoredProfile
) -> None:
    assert signed_in(owner).post(address, data).status_code == 403
    assert StoredProfile.objects.get().version == 1


def test_the_list_says_what_each_is_for_and_who_changed_it(
    signed_in: SignedIn, teammate: User, brief: StoredProfile
) -> None:
    page = text_of(signed_in(teammate).get("/profiles/"))
    assert page.index("conversation</a>") < page.index("brief</a>")
    assert "Who it is, and no more." in page
    assert "Version 1 by Ada Admin," in page
    assert "1 section<" in page
    assert "New profile" not in page


def test_the_list_takes_few_queries(
    signed_in: SignedIn, teammate: User, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(20):
        profile_create(name=f"brief-{number}", content=BRIEF, principal=SYSTEM)
    browser = signed_in(teammate)
    with django_assert_num_queries(3):  # session, person, profiles
        browser.get("/profiles/")


def test_a_profile_is_shown_as_a_table(signed_in: SignedIn, teammate: User) -> None:
    page = text_of(signed_in(teammate).get("/profiles/conversation/"))
    assert "16,000 tokens in all" in page
    assert '<tr class="l3">' in page
    assert "Memories of the team, the best 5" in page
    assert "never cut" in page
    assert "what remains" in page
    assert "Stays as it is for good" in page
    assert "Edit" not in page
    assert "Copy" not in page


def test_a_profile_says_what_becomes_of_what_has_no_room(signed_in: SignedIn, teammate: User) -> None:
    profile_create(name="strict", content=f"quality_min: 0.4\n{BRIEF}", principal=SYSTEM)
    browser = signed_in(teammate)
    plain, eager = text_of(browser.get("/profiles/strict/")), text_of(browser.get("/profiles/coding/"))
    assert "What is still too long is cut where the room ends." in plain
    assert "All else is left out." in plain
    assert "The weakest hits go first." not in plain
    assert "Called weak below a mean relevance of</dt><dd>0.4<" in plain
    assert "Called weak" not in eager
    lines = [
        "The weakest hits go first.",
        "Older turns of the conversation are made shorter.",
        "Long results, and then the weakest items, are summarised.",
        "What is still too long is cut at the end of a paragraph.",
        "All else is left out, and gets another chance, shorter,",
    ]
    places = [eager.find(line) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(("share", "warned"), [(100, False), (60, True)])
def test_shares_of_more_than_the_whole_are_warned_of(
    share: int, warned: bool, signed_in: SignedIn, teammate: User
) -> None:
    shared = "".join(
        f"  - {{key: {key}, heading: H, layer: L2, source: team_files, shape: text, share: {share}}}\n"
        for key in (("goals", "context") if warned else ("goals",))
    )
    profile_create(name="wide", content=BRIEF + shared, principal=SYSTEM)
    page = text_of(signed_in(teammate).get("/profiles/wide/"))
    assert ("The shares add up to 120 %: when all sections" in page) is warned
    assert ("The shares add up to 100 %." in page) is not warned


def test_a_profile_that_cannot_be_read_says_why(signed_in: SignedIn, teammate: User, admin: User) -> None:
    file_create(file=StoredProfile(name="gone", content=GONE), author=SYSTEM.author)
    assert "cannot be used" in text_of(signed_in(teammate).get("/profiles/"))
    page = text_of(signed_in(teammate).get("/profiles/gone/"))
    assert "Line 5: “source” must be one of" in page
    assert "An admin of the organisation can correct it." in page
    assert signed_in(admin).get("/profiles/gone/edit/").status_code == 200


def test_saving_makes_a_version_and_shows_it(signed_in: SignedIn, admin: User, brief: StoredProfile) -> None:
    response = signed_in(admin).post(EDIT, {"version": 1, "content": BRIEFER.replace("\n", "\r\n")}, follow=True)
    assert response.redirect_chain == [("/profiles/brief/", 302)]
    assert "Saved as version 2." in text_of(response)
    assert "400 tokens in all" in text_of(response)
    assert StoredProfile.objects.get().content == BRIEFER
    again = signed_in(admin).post(EDIT, {"version": 2, "content": BRIEFER}, follow=True)
    assert "Nothing had changed" in text_of(again)


def test_the_first_change_of_a_shipped_profile_keeps_its_text(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    assert "As it came with Dossier" in text_of(browser.get("/profiles/coding/edit/"))
    assert "Saved as version 2." in text_of(
        browser.post("/profiles/coding/edit/", {"version": 1, "content": BRIEF}, follow=True)
    )
    page = text_of(browser.get("/profiles/coding/history/"))
    assert page.index("Version 2") < page.index("Version 1")
    back = browser.post("/profiles/coding/delete/", follow=True)
    assert back.redirect_chain == [("/profiles/coding/", 302)]
    assert "is as it came with Dossier again" in text_of(back)


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
    assert "Nothing was saved yet; your text is below." in page
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
    assert "Dossier saved a newer version while you were writing" in page
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
    assert "can be used" in good
    assert "line 5" in bad
    assert "- {key: moons, heading: Moons" in bad
    assert "<html" not in good + bad
    assert not StoredProfile.objects.exists()


def test_an_old_version_is_read_and_restored(signed_in: SignedIn, admin: User, brief: StoredProfile) -> None:
    profile_save(name="brief", content=BRIEFER, expected_version=1, principal=SYSTEM)
    browser = signed_in(admin)
    page = text_of(browser.get(f"{HISTORY}1/"))
    assert "budget: 500" in page
    assert "Restore this version" in page
    restored = browser.post(f"{HISTORY}1/restore/", {"version": 2}, follow=True)
    assert "Saved as version 3." in text_of(restored)
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
    assert "The profile brief is deleted." in text_of(response)
    assert not StoredProfile.objects.exists()
