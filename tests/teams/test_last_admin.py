"""A team keeps an admin, whoever is demoted, removed or leaves, also at the same moment."""

from collections.abc import Callable
from functools import partial

import pytest

from teams.models import Membership, Team, User, admins_of
from teams.people import LeavesTeamsWithoutAdmin, person_update
from teams.principal import Role
from teams.services import LastAdmin, membership_remove, membership_set, team_create, team_delete
from tests.client import Api, problem
from tests.concurrency import at_once

pytestmark = pytest.mark.finding("6.8c")


@pytest.mark.django_db
def test_the_last_admin_is_neither_demoted_nor_removed(
    team: Team, owner: User, editor: User, admin_api: Api, as_person: Callable[[User], Api]
) -> None:
    for api in (as_person(owner), admin_api):
        answer = api.put("teams/care/members/owner", {"role": "editor"})
        assert problem(answer) == (409, "last_admin")
        assert "is the only admin of this team. Make someone else an admin first." in answer.json()["detail"]
        assert problem(api.delete("teams/care/members/owner")) == (409, "last_admin")
    assert as_person(owner).put("teams/care/members/owner", {"role": "admin"}).status_code == 200
    membership_set(team=team, user=editor, role=Role.ADMIN)
    assert as_person(owner).delete("teams/care/members/owner").status_code == 204
    assert list(admins_of(team)) == [editor]


@pytest.mark.django_db
def test_who_may_not_sign_in_is_no_admin(team: Team, owner: User, editor: User) -> None:
    membership_set(team=team, user=editor, role=Role.ADMIN)
    User.objects.filter(pk=editor.pk).update(is_active=False)
    with pytest.raises(LastAdmin):
        membership_remove(team=team, user=owner)
    membership_remove(team=team, user=editor)


@pytest.mark.django_db
def test_a_team_without_an_admin_changes_and_goes(admin: User, editor: User) -> None:
    bare = team_create(slug="bare", name="Bare")
    membership_set(team=bare, user=editor, role=Role.VIEWER)
    membership_remove(team=bare, user=editor)
    team_delete(team=bare, principal=admin.principal)
    assert not Team.objects.filter(slug="bare").exists()


@pytest.mark.django_db
def test_the_only_admin_of_a_team_is_switched_off_only_on_purpose(team: Team, owner: User, editor: User) -> None:
    second = team_create(slug="second", name="Second", principal=owner.principal)
    update = partial(person_update, person=owner, name="Olga", is_admin=False)
    for confirmed in ([], [team.id]):
        with pytest.raises(LeavesTeamsWithoutAdmin, match=r"only admin of these teams: .*Second"):
            update(is_active=False, without_admin=confirmed)
    owner.refresh_from_db()
    assert owner.is_active
    membership_set(team=team, user=editor, role=Role.ADMIN)
    update(is_active=False, without_admin=[second.id])
    assert list(admins_of(team)) == [editor]
    assert not admins_of(second).exists()
    update(is_active=False)  # nothing is left by it any more
    assert update(is_active=True).is_active


@pytest.mark.parametrize("way", ["demote", "remove", "switch off"])
def test_of_two_admins_who_go_at_once_one_stays(committed_database: str, way: str) -> None:
    for number in range(5):
        team = team_create(slug=f"race-{way[:6]}-{number}", name="Race")
        people = [User.objects.create_user(f"{way[:6]}-{number}-{n}") for n in range(2)]
        for person in people:
            membership_set(team=team, user=person, role=Role.ADMIN)
        assert sorted(at_once([partial(_goes, way, team, person) for person in people])) == ["refused", "went"]
        assert admins_of(team).count() == 1


def _goes(way: str, team: Team, person: User) -> str:
    try:
        if way == "demote":
            membership_set(team=team, user=person, role=Role.VIEWER)
        elif way == "remove":
            membership_remove(team=team, user=person)
        else:
            person_update(person=person, name="X", is_admin=False, is_active=False)
    except (LastAdmin, LeavesTeamsWithoutAdmin):
        return "refused"
    return "went"


@pytest.mark.django_db
@pytest.mark.finding("6.8b")
@pytest.mark.usefixtures("team", "outsider")
def test_an_admin_of_a_team_does_not_find_out_which_usernames_exist(
    owner: User, admin_api: Api, as_person: Callable[[User], Api]
) -> None:
    api, mine = as_person(owner), team_create(slug="mine", name="Mine", principal=owner.principal)
    answers = []
    for name in ("outsider", "nobody"):
        for method in ("PUT", "GET", "DELETE"):
            answer = api.send(method, f"teams/mine/members/{name}", {"role": "viewer"} if method == "PUT" else None)
            assert problem(answer) == (404, "not_found")
            answers.append(answer.json()["detail"].replace(name, "…"))
    assert len(set(answers)) == 1
    assert api.put("teams/mine/members/teammate", {"role": "viewer"}).status_code == 201
    assert admin_api.put("teams/mine/members/outsider", {"role": "viewer"}).status_code == 201
    assert api.put("teams/mine/members/outsider", {"role": "editor"}).status_code == 200
    assert set(Membership.objects.filter(team=mine).values_list("user__username", flat=True)) == {
        "owner", "teammate", "outsider",
    }  # fmt: skip
