"""Teams and their members over REST."""

from collections.abc import Callable

import pytest

from teams.models import Erasure, Membership, Team, TeamFile, User
from tests.client import Api, problem

pytestmark = pytest.mark.django_db


def test_an_admins_key_creates_a_team_with_its_files(admin_api: Api) -> None:
    response = admin_api.post("teams", {"slug": "new-team", "name": " New team "})
    assert response.status_code == 201
    assert response["Location"] == "/api/v1/teams/new-team"
    assert response["ETag"] == '"1"'
    assert response.json() == admin_api.get(response["Location"]).json()
    assert response.json()["name"] == " New team "
    assert TeamFile.objects.filter(team__slug="new-team").count() == 3


def test_a_slug_is_taken_once(team: Team, admin_api: Api) -> None:
    assert problem(admin_api.post("teams", {"slug": "care", "name": "Again"})) == (409, "conflict")


def test_agents_and_members_do_not_create_teams(agent_api: Api, owner: User, as_person: Callable[[User], Api]) -> None:
    for api in (agent_api, as_person(owner)):
        assert problem(api.post("teams", {"slug": "new", "name": "New"})) == (403, "forbidden")


def test_a_team_admin_renames_and_deletes(team: Team, owner: User, as_person: Callable[[User], Api]) -> None:
    api = as_person(owner)
    assert api.patch("teams/care", {"name": "Renamed"}, if_match='"1"').json()["name"] == "Renamed"
    assert api.delete("teams/care").status_code == 204
    assert not Team.objects.filter(slug="care").exists()
    erasure = Erasure.objects.get()
    assert (erasure.kind, erasure.target, erasure.by_ref) == ("teams", team.id, f"person:{owner.id}")


def test_an_admin_adds_changes_and_removes_members(team: Team, outsider: User, admin_api: Api) -> None:
    path = "teams/care/members/outsider"
    assert problem(admin_api.get(path)) == (404, "not_found")
    joined = admin_api.put(path, {"role": "viewer"})
    assert (joined.status_code, joined["Location"]) == (201, f"/api/v1/{path}")
    assert joined.json().items() >= {"username": "outsider", "name": "Otto Outsider", "role": "viewer"}.items()
    assert admin_api.put(path, {"role": "admin"}).status_code == 200
    assert admin_api.get(path).json()["role"] == "admin"
    usernames = [row["username"] for row in admin_api.get("teams/care/members").json()["results"]]
    assert usernames == ["outsider", "teammate", "editor", "owner"]
    assert admin_api.delete(path).status_code == 204
    assert problem(admin_api.delete(path)) == (404, "not_found")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_members_are_the_admins_business(
    method: str, team: Team, editor: User, agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    for api in (as_person(editor), agent_api):
        response = api.send(method, "teams/care/members/teammate", {"role": "admin"})
        assert problem(response) == (403, "forbidden")
    assert Membership.objects.get(user__username="teammate").role == "viewer"


def test_a_person_with_an_odd_name_can_be_a_member(team: Team, admin_api: Api) -> None:
    User.objects.create_user("zoë+1@example.org")
    response = admin_api.put("teams/care/members/zo%C3%AB%2B1%40example.org", {"role": "viewer"})
    assert response.status_code == 201
    assert admin_api.get(response["Location"]).json()["username"] == "zoë+1@example.org"
