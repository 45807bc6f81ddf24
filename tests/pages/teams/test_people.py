"""The people of the organisation, on pages for its admins."""

import re
from typing import Any

import pytest

from teams.models import Team, User
from teams.people import person_update
from tests.pages.conftest import SignedIn, text_of

PEOPLE = "/people/"


def password_in(response: Any) -> str:
    found = re.search(r"Password: (\S+)", text_of(response))
    assert found is not None
    return found[1]


def test_an_account_is_made_with_a_password_that_is_shown_once(signed_in: SignedIn, admin: User, client: Any) -> None:
    browser = signed_in(admin)
    response = browser.post(PEOPLE, {"name": "Nora New", "username": "nora"}, follow=True)
    made = User.objects.get(username="nora")
    assert made.check_password(password_in(response))
    assert not made.is_admin
    assert "no-store" in response["Cache-Control"]
    assert client.post("/accounts/login/", {"login": "nora", "password": password_in(response)}).status_code == 302
    assert client.get("/").status_code == 200
    assert "Nora New" in text_of(browser.get(PEOPLE))


@pytest.mark.finding("E7")
def test_reloading_the_page_neither_makes_a_second_account_nor_shows_the_password_again(
    signed_in: SignedIn, admin: User
) -> None:
    browser = signed_in(admin)
    response = browser.post(PEOPLE, {"name": "Nora New", "username": "nora"})
    assert response.status_code == 302
    stored = browser.session.items()
    password = password_in(browser.get(response["Location"]))
    assert password not in str(stored), "it waits encrypted"
    again = browser.get(response["Location"], follow=True)
    assert password not in text_of(again)
    assert "The password was already shown. If it is lost, reset it here." in text_of(again)


@pytest.mark.parametrize(
    "wrong",
    [
        {"username": "otto"},
        {"username": "two words"},
        {"username": "a/b"},
        {"username": ""},
        {"name": ""},
        {"name": "\x00"},
    ],
)
def test_what_cannot_be_an_account_is_explained(
    wrong: dict[str, str], signed_in: SignedIn, admin: User, outsider: User
) -> None:
    response = signed_in(admin).post(PEOPLE, {"name": "Nora", "username": "nora", **wrong})
    assert response.status_code == 422
    assert 'class="fault"' in text_of(response)
    assert User.objects.count() == 2


def test_who_may_not_sign_in_is_signed_out_at_once(signed_in: SignedIn, admin: User, teammate: User) -> None:
    theirs = signed_in(teammate)
    assert theirs.get("/").status_code == 200
    signed_in(admin).post(f"{PEOPLE}{teammate.id}/", {"name": "Tim"})
    assert theirs.get("/").status_code == 302
    assert teammate.memberships.count() == 1
    assert "deactivated" in text_of(signed_in(admin).get(PEOPLE))


@pytest.mark.finding("6.8c")
def test_switching_off_the_only_admin_of_a_team_asks_about_the_team(
    signed_in: SignedIn, admin: User, owner: User, team: Team
) -> None:
    browser, address = signed_in(admin), f"{PEOPLE}{owner.id}/"
    assert "Teams without an admin" not in text_of(browser.get(address))
    response = browser.post(address, {"name": "Olga"})
    assert response.status_code == 422
    page = text_of(response)
    assert f"is the only admin of these teams: {team.name}. Make someone else an admin of each" in page
    assert f'type="checkbox" name="without_admin" value="{team.id}"' in page
    owner.refresh_from_db()
    assert owner.is_active
    assert browser.post(address, {"name": "Olga", "without_admin": "x"}).status_code == 422
    assert browser.post(address, {"name": "Olga", "without_admin": str(team.id)}).status_code == 302
    owner.refresh_from_db()
    assert not owner.is_active
    assert browser.post(f"{PEOPLE}{owner.id}/", {"name": "Olga Off"}).status_code == 302, "it is one question"


def test_a_new_password_ends_sessions(signed_in: SignedIn, admin: User, teammate: User) -> None:
    theirs = signed_in(teammate)
    response = signed_in(admin).post(f"{PEOPLE}{teammate.id}/password/", follow=True)
    teammate.refresh_from_db()
    assert teammate.check_password(password_in(response))
    assert theirs.get("/").status_code == 302


def test_the_only_admin_stays_one(signed_in: SignedIn, admin: User, outsider: User) -> None:
    browser = signed_in(admin)
    for facts in ({"is_active": "on"}, {"is_admin": "on"}):
        response = browser.post(f"{PEOPLE}{admin.id}/", {"name": "Ada", **facts})
        assert response.status_code == 422
        assert "the only admin" in text_of(response)
    browser.post(f"{PEOPLE}{outsider.id}/", {"name": "Otto", "is_admin": "on", "is_active": "on"})
    response = browser.post(f"{PEOPLE}{admin.id}/", {"name": "Ada", "is_active": "on"}, follow=True)
    assert response.redirect_chain[-1] == ("/", 302)
    assert list(User.objects.filter(is_admin=True)) == [outsider]


def test_an_inactive_admin_does_not_count(admin: User, outsider: User) -> None:
    person_update(person=outsider, name="Otto", is_admin=True, is_active=False)
    with pytest.raises(Exception, match="the only admin"):
        person_update(person=admin, name="Ada", is_admin=False, is_active=True)


def test_people_are_found_by_name(signed_in: SignedIn, admin: User, outsider: User, teammate: User) -> None:
    page = text_of(signed_in(admin).get(f"{PEOPLE}?q=OTT"))
    assert "Otto Outsider" in page
    assert "tim ·" not in page
    assert "No user has this name." in text_of(signed_in(admin).get(f"{PEOPLE}?q=%00nobody"))


def test_only_admins_of_the_organisation_may(
    signed_in: SignedIn, owner: User, teammate: User, outsider: User, team: Team
) -> None:
    for person in (owner, teammate, outsider):
        browser = signed_in(person)
        assert browser.post(PEOPLE, {"name": "X", "username": "x"}).status_code == 403
        assert browser.post(f"{PEOPLE}{person.id}/", {"name": "X", "is_admin": "on"}).status_code == 403
        assert browser.post(f"{PEOPLE}{owner.id}/password/").status_code == 403
        assert "People" not in text_of(browser.get("/"))
    assert not User.objects.filter(is_admin=True).exists()


def test_the_list_takes_few_queries(signed_in: SignedIn, admin: User, django_assert_num_queries: Any) -> None:
    for number in range(10):
        User.objects.create_user(f"person-{number}")
    browser = signed_in(admin)
    with django_assert_num_queries(5):
        browser.get(PEOPLE)


def test_an_account_gets_its_team_and_role_at_once(signed_in: SignedIn, admin: User, team: Team) -> None:
    data = {"username": "newbie", "name": "New", "team": str(team.id), "role": "viewer"}
    page = text_of(signed_in(admin).post("/people/", data, follow=True))
    assert "Sign-in details" in page
    assert "not in a team yet" not in page
    made = User.objects.get(username="newbie")
    assert [(one.team_id, one.role) for one in made.memberships.all()] == [(team.id, "viewer")]
    assert "not in a team yet" in text_of(
        signed_in(admin).post("/people/", {"username": "loner", "name": "Loner"}, follow=True)
    )


@pytest.mark.parametrize("change", [{"team": "x"}, {"role": "king"}])
def test_an_unknown_team_or_role_makes_no_account(
    change: dict[str, str], signed_in: SignedIn, admin: User, team: Team
) -> None:
    data = {"username": "newbie", "name": "New", "team": str(team.id), "role": "viewer", **change}
    assert signed_in(admin).post("/people/", data).status_code == 422
    assert not User.objects.filter(username="newbie").exists()


@pytest.mark.usefixtures("owner", "team")
@pytest.mark.parametrize(
    ("sort", "ends"),
    [
        ("name", ("Ada Admin", "Olga Owner")),
        ("-name", ("Olga Owner", "Ada Admin")),
        ("-seen", ("Ada Admin", "Nora Never")),
        ("seen", ("Ada Admin", "Nora Never")),
        ("-teams", ("Olga Owner", "Ada Admin")),
    ],
)
def test_each_column_sorts_the_list(sort: str, ends: tuple[str, str], signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    if "name" not in sort:
        User.objects.create_user("nora", name="Nora Never")
    people = list(browser.get(PEOPLE, {"sort": sort}).context["page"])
    assert (str(people[0]), str(people[-1])) == ends
