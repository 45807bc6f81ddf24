"""Keys over REST: which teams they reach, how long they are valid, who lists, makes and revokes them."""

import datetime
import importlib
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.authentication import principal_behind, principal_of_key
from agents.keys import api_key_create
from agents.models import Agent, AgentTeam, ApiKey, KeyGrant
from agents.services import agent_update
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.http.errors import Forbidden
from config.http.models import IdempotentRequest
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.people import person_update
from teams.principal import SYSTEM, Role
from teams.services import membership_set, team_create
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def joined(agent: Agent, agent_api: Api) -> Team:
    """A team that the agent joined after its key was made."""
    other = team_create(slug="other", name="Other Team")
    move(agent, [*agent.teams.all(), other])
    return other


def move(agent: Agent, teams: list[Team]) -> None:
    agent.refresh_from_db()
    agent_update(
        agent=agent, expected_version=agent.version, name=agent.name, timezone="UTC", teams=teams, principal=SYSTEM
    )


def key_of(agent: Agent) -> ApiKey:
    return ApiKey.objects.get(agent=agent)


@pytest.mark.finding("1k")
def test_a_key_does_not_reach_a_team_that_its_agent_joins_later(agent: Agent, agent_api: Api, joined: Team) -> None:
    memory = memory_create(owner=joined, facts=MemoryFacts(kind="fact", text="Secret."), principal=SYSTEM)
    context = assemble(agent=agent, team=joined, principal=SYSTEM, asked=AssemblyRequest()).assembly
    for path in (
        "teams/other",
        "teams/other/files/GOALS",
        "teams/other/memories",
        f"teams/other/memories/{memory.id}",
        f"assemblies/{context.id}",
    ):
        assert problem(agent_api.get(path)) == (404, "not_found"), path
    assert agent_api.get("agents/ada").json()["teams"] == ["care"]
    assert problem(agent_api.post("assemblies", {"agent": "ada", "team": "other"})) == (404, "not_found")
    assert agent_api.post("assemblies", {"agent": "ada", "team": "care"}).status_code == 201
    assert problem(agent_api.post("teams/other/memories", {"kind": "fact", "text": "x"})) == (404, "not_found")


@pytest.mark.finding("1k")
def test_an_admin_of_that_team_decides_whether_the_key_reaches_it(
    agent: Agent, agent_api: Api, joined: Team, owner: User, as_person: Callable[[User], Api]
) -> None:
    decider = User.objects.create_user("decider")
    membership_set(team=joined, user=decider, role=Role.ADMIN)
    key = key_of(agent)
    assert problem(as_person(owner).put(f"teams/other/keys/{key.id}", None)) == (404, "not_found")
    membership_set(team=joined, user=owner, role=Role.EDITOR)
    assert problem(as_person(owner).put(f"teams/other/keys/{key.id}", None)) == (403, "forbidden")
    assert problem(agent_api.put(f"teams/other/keys/{key.id}", None)) == (404, "not_found")
    assert problem(agent_api.put(f"teams/care/keys/{key.id}", None)) == (403, "forbidden")
    api = as_person(decider)
    listed = api.get("teams/other/keys").json()["results"]
    assert [(row["id"], row["agent"], row["reaches"]) for row in listed] == [(str(key.id), "ada", False)]
    assert api.put(f"teams/other/keys/{key.id}", None).json()["reaches"] is True
    assert api.put(f"teams/other/keys/{key.id}", None).status_code == 200
    assert agent_api.get("teams/other/files/GOALS").status_code == 200
    assert agent_api.post("assemblies", {"agent": "ada", "team": "other"}).status_code == 201
    assert api.get(f"teams/other/keys/{key.id}").json()["reaches"] is True
    assert api.delete(f"teams/other/keys/{key.id}").status_code == 204
    assert problem(agent_api.get("teams/other")) == (404, "not_found")
    # Although the same context was assembled a moment ago.
    assert problem(agent_api.post("assemblies", {"agent": "ada", "team": "other"})) == (404, "not_found")


@pytest.mark.finding("1k")
def test_leaving_a_team_and_coming_back_restores_no_reach(
    agent: Agent, agent_api: Api, team: Team, admin_api: Api
) -> None:
    move(agent, [])
    assert not KeyGrant.objects.exists()
    move(agent, [team])
    assert problem(agent_api.get("teams/care")) == (404, "not_found")
    assert admin_api.put(f"teams/care/keys/{key_of(agent).id}", None).status_code == 200
    assert agent_api.get("teams/care").status_code == 200


def test_the_database_itself_ends_grants_with_what_they_hang_on(agent: Agent, team: Team, joined: Team) -> None:
    key = key_of(agent)
    other = api_key_create(agent=agent)[0]
    assert set(KeyGrant.objects.values_list("key_id", "link__team__slug")) == {
        (key.id, "care"), (other.id, "care"), (other.id, "other"),
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM agent_teams WHERE team_id = %s", [joined.id])
        assert KeyGrant.objects.count() == 2
        cursor.execute("SELECT erase('agents', %s, 'system')", [agent.id])
    assert not KeyGrant.objects.exists()
    assert not AgentTeam.objects.filter(team=team).exists()


def test_keys_sign_in_with_one_query(agent: Agent, joined: Team) -> None:
    _row, secret = api_key_create(agent=agent)
    assert principal_of_key(secret)  # and notes the use
    with CaptureQueriesContext(
        connection,
    ) as queries:
        principal = principal_of_key(secret)
    assert len(queries) == 1
    assert principal
    assert len(principal.team_ids) == 2


@pytest.mark.finding("6.8a")
def test_an_expired_key_is_refused_with_a_clear_sentence(agent: Agent) -> None:
    row, secret = api_key_create(agent=agent, expires=timezone.now() + datetime.timedelta(days=1))
    api = Api(secret)
    assert api.get("agents/ada").status_code == 200
    ApiKey.objects.filter(pk=row.pk).update(expires=datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC))
    answer = api.get("agents/ada")
    assert problem(answer) == (401, "not_authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "expired on 2026-01-31 at 12:00 UTC" in answer.json()["detail"]
    assert principal_behind(f"key:{row.id}") is None
    unknown = Api(secret[:-1] + ("A" if secret[-1] != "A" else "B")).get("agents/ada")
    assert "expired" not in unknown.json()["detail"]


@pytest.mark.finding("6.8a")
def test_admins_list_and_revoke_all_keys(admin_api: Api, agent_api: Api, agent: Agent) -> None:
    rows = admin_api.get("keys").json()["results"]
    shown = {(row["agent"], row["name"], *row["teams"]) for row in rows}
    assert shown == {("ada", "Ada's key", "care"), (None, "Ops")}
    assert {"hash", "key"}.isdisjoint(rows[0])
    assert [row["name"] for row in admin_api.get("keys?kind=admin").json()["results"]] == ["Ops"]
    assert errors_of(admin_api.get("keys?kind=x")) == {"kind"}
    assert errors_of(admin_api.get("keys?state=")) == {"state"}
    key = key_of(agent)
    assert admin_api.get(f"keys/{key.id}").json()["revoked_at"] is None
    assert admin_api.delete(f"keys/{key.id}").status_code == 204
    assert admin_api.delete(f"keys/{key.id}").status_code == 204
    assert problem(agent_api.get("agents/ada")) == (401, "not_authenticated")
    assert [row["id"] for row in admin_api.get("keys?state=revoked").json()["results"]] == [str(key.id)]
    assert [row["name"] for row in admin_api.get("keys?state=usable").json()["results"]] == ["Ops"]
    assert admin_api.get("keys?state=expired").json()["results"] == []
    assert problem(admin_api.get(f"keys/{agent.id}")) == (404, "not_found")


def test_others_see_no_keys_of_the_organisation(
    agent_api: Api, owner: User, mixed: User, as_person: Callable[[User], Api], agent: Agent
) -> None:
    for api in (agent_api, as_person(owner), as_person(mixed)):
        assert problem(api.get("keys")) == (403, "forbidden")
        assert problem(api.post("keys", {"name": "x"})) == (403, "forbidden")
        assert problem(api.get(f"keys/{key_of(agent).id}")) == (403, "forbidden")
        assert problem(api.delete(f"keys/{key_of(agent).id}")) == (403, "forbidden")
    assert ApiKey.objects.filter(revoked=None).count() == 1


def test_an_agents_keys_are_made_by_admins_of_all_its_teams(
    owner: User, team: Team, agent: Agent, as_person: Callable[[User], Api]
) -> None:
    api = as_person(owner)
    answer = api.post("agents/ada/keys", {"name": "CI", "scopes": ["files:write", "files:write"]})
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    made = answer.json()
    principal = principal_of_key(made["key"])
    assert principal
    assert (principal.agent_id, set(principal.team_ids), set(principal.scopes)) == (
        agent.id,
        {team.id},
        {"files:write"},
    )
    assert (made["created_by"]["name"], made["expires_at"], made["teams"]) == ("Olga Owner", None, ["care"])
    assert "key" not in api.get(answer["Location"]).json()
    assert [row["name"] for row in api.get("agents/ada/keys").json()["results"]] == ["CI"]
    agent.teams.add(team_create(slug="other", name="Other"))
    assert problem(api.post("agents/ada/keys", {"name": "CI"})) == (403, "forbidden")
    assert problem(api.get("agents/ada/keys")) == (403, "forbidden")
    assert problem(api.delete(f"agents/ada/keys/{made['id']}")) == (403, "forbidden")


def test_a_service_makes_and_revokes_no_key_for_those_who_may_not(owner: User, mixed: User, agent: Agent) -> None:
    row, _secret = api_key_create(agent=agent, principal=owner.principal)
    assert row.created_by == owner.principal.ref
    for wanted in (agent, None):
        with pytest.raises(Forbidden):
            api_key_create(agent=wanted, principal=mixed.principal)
    key = principal_behind(f"key:{row.id}")
    assert key
    with pytest.raises(Forbidden):
        api_key_create(agent=agent, principal=key)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "x", "expires_at": "soon"}, "expires_at"),
        ({"name": "x", "expires_at": 7}, "expires_at"),
        ({"name": "x", "agent": "ada"}, "agent"),
        ({"name": "x", "scopes": ["files:write"]}, "scopes"),
    ],
)
def test_what_cannot_be_a_key_is_named(body: dict[str, object], field: str, admin_api: Api) -> None:
    assert errors_of(admin_api.post("keys", body)) == {field}
    assert ApiKey.objects.count() == 1


def test_a_repeat_makes_no_second_key_and_repeats_no_secret(admin_api: Api) -> None:
    body = {"name": "Script", "expires_at": "2100-01-01T00:00:00Z"}
    first = admin_api.post("keys", body, idempotency_key="once").json()
    again = admin_api.post("keys", body, idempotency_key="once")
    assert again["Idempotency-Replayed"] == "true"
    assert again.json() == {**first, "key": None}
    assert Api(first["key"]).get("keys").status_code == 200
    assert not IdempotentRequest.objects.filter(body__contains=first["key"]).exists()


@pytest.mark.finding("6.8a")
@pytest.mark.parametrize(("is_admin", "is_active"), [(False, True), (True, False)])
def test_admin_keys_end_with_the_rights_of_who_made_them(
    admin: User,
    agent: Agent,
    is_admin: bool,
    is_active: bool,
) -> None:
    User.objects.create_superuser("second")
    _own, secret = api_key_create(agent=None, principal=admin.principal)
    _agents, agents_secret = api_key_create(agent=agent, principal=admin.principal)
    _commands, commands_secret = api_key_create(agent=None)
    by_the_key = Api(secret).post("keys", {"name": "Child"}).json()["key"]
    by_the_commands = Api(commands_secret).post("keys", {"name": "Child"}).json()["key"]
    person_update(person=admin, name="Renamed", is_admin=True, is_active=True)
    assert principal_of_key(secret)
    assert principal_of_key(by_the_key)
    person_update(person=admin, name="Renamed", is_admin=is_admin, is_active=is_active)
    assert principal_of_key(secret) is None
    assert principal_of_key(by_the_key) is None
    assert principal_of_key(by_the_commands)
    assert principal_of_key(agents_secret)
    assert principal_of_key(commands_secret)


@pytest.mark.finding("1k")
def test_keys_of_before_reach_every_team_that_their_agent_works_in(agent: Agent, team: Team, agent_api: Api) -> None:
    agent.teams.add(other := team_create(slug="other", name="Other"))
    KeyGrant.objects.all().delete()  # as an older installation left it
    with connection.cursor() as cursor:
        cursor.execute(importlib.import_module("agents.migrations.0006_key_grants_and_expiry").GRANT_ALL)
    principal = principal_behind(f"key:{key_of(agent).id}")
    assert principal
    assert set(principal.team_ids) == {team.id, other.id}
