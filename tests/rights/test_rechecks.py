"""What was prepared for somebody is checked again when it is fetched: roles change while it waits."""

from typing import Any

import pytest

from agents.access import still_sees, visibility_of
from agents.key_grants import key_withdraw
from agents.keys import api_key_create
from assembly.models import ContextFile
from memories.archive.services import import_begin, import_create
from memories.jobs.services import KINDS
from memories.models import ImportPlan, ImportStatus
from teams.principal import Role
from teams.services import membership_remove, membership_set
from tests.archives import packed
from tests.client import Api, problem
from tests.rights.world import HELPED, LED, WATCHED, World

pytestmark = [pytest.mark.finding("6.1"), pytest.mark.django_db]


def prepared(world: World) -> str:
    """The address of the mixed person's list of all contexts, prepared."""
    file = ContextFile.objects.select_related("job").get(id=world.ids["lists"])
    assert file.job
    KINDS[file.job.kind](file.job, lambda _rows: None)
    return f"/contexts/lists/{file.id}/"


def leave(world: World, slug: str) -> None:
    membership_remove(team=world.teams[slug].team, user=world.people["mixed"])


def page(world: World, address: str) -> Any:
    return world.browsers["mixed"].get(address)


def test_a_prepared_list_is_fetched_while_the_roles_are_the_same(world: World) -> None:
    text = page(world, f"{prepared(world)}file/").content.decode()
    assert all(world.teams[slug].secret in text for slug in (LED, HELPED, WATCHED))


@pytest.mark.parametrize("slug", [LED, HELPED, WATCHED])
def test_a_prepared_list_is_refused_once_a_role_is_gone(slug: str, world: World) -> None:
    address = prepared(world)
    leave(world, slug)
    refused = page(world, f"{address}file/")
    text = refused.content.decode()
    assert refused.status_code == 403
    assert "Create it again" in text
    assert 'href="/contexts/download/?' in text
    assert not any(owned.secret in text for owned in world.teams.values())


def test_a_role_with_less_clearance_loses_its_list_and_one_with_more_keeps_it(world: World) -> None:
    address = prepared(world)
    membership_set(team=world.teams[WATCHED].team, user=world.people["mixed"], role=Role.EDITOR)
    assert page(world, f"{address}file/").status_code == 200
    membership_set(team=world.teams[LED].team, user=world.people["mixed"], role=Role.VIEWER)
    assert page(world, f"{address}file/").status_code == 403


def test_a_list_whose_preparation_went_on_after_a_role_was_lost_begins_anew(world: World) -> None:
    """Its first rows were read with the rights of then."""
    address = prepared(world)
    ContextFile.objects.update(finished_at=None)
    leave(world, LED)
    prepared(world)
    text = page(world, f"{address}file/").content.decode()
    assert world.teams[LED].secret not in text
    assert world.teams[HELPED].secret in text


def test_who_is_no_admin_any_more_cannot_fetch_the_list_of_everything(world: World) -> None:
    admin = world.people["admin"]
    seen = visibility_of(admin.principal)
    assert still_sees(admin.principal, seen)
    admin.is_admin = False
    assert not still_sees(admin.principal, seen)
    assert not still_sees(admin.principal, {})


def test_the_answer_of_a_repeated_request_is_not_given_again_once_its_team_is_lost(world: World) -> None:
    led = world.teams[LED]
    key, secret = api_key_create(agent=led.agent, name="Chat")
    api, body = Api(secret), {"agent": led.agent.slug, "team": LED, "topic": "tea"}
    first, again = (api.post("assemblies", body, idempotency_key="one") for _ in range(2))
    assert (first.status_code, again["Idempotency-Replayed"]) == (201, "true")
    assert led.secret in again.content.decode()
    key_withdraw(key=key, team=led.team, principal=led.boss.principal)
    refused = api.post("assemblies", body, idempotency_key="one")
    assert problem(refused) == (403, "answer_out_of_reach")
    assert led.secret not in refused.content.decode()


@pytest.fixture
def plan(world: World) -> ImportPlan:
    """An archive for two teams, shown to the mixed person; the steps hold the first lines of both."""
    texts = {f"teams/{slug}/GOALS.md": "Taken over" for slug in (LED, HELPED)}
    return import_create(archive=packed(texts), file_name="x.zip", principal=world.people["mixed"].principal)


def test_a_plan_is_made_anew_once_a_role_is_gone(plan: ImportPlan, world: World) -> None:
    address = f"/import/{plan.id}/"
    text = page(world, address).content.decode()
    assert world.teams[LED].secret in text
    leave(world, LED)
    text = page(world, address).content.decode()
    assert world.teams[LED].secret not in text
    assert world.teams[HELPED].secret in text
    assert "that you may change" in text


def test_over_rest_the_steps_are_made_anew_as_well(plan: ImportPlan, world: World) -> None:
    leave(world, LED)
    api = Api(person=world.people["mixed"].principal)
    document = api.get(f"import/{plan.id}").json()
    assert world.teams[LED].secret not in str(document)
    assert {step["unit"]: step["state"] for step in document["steps"]} == {
        f"teams/{LED}": "refused", f"teams/{HELPED}": "changed",
    }  # fmt: skip


def test_a_plan_is_applied_with_the_rights_of_then(plan: ImportPlan, world: World) -> None:
    leave(world, LED)
    membership_set(team=world.teams[HELPED].team, user=world.people["mixed"], role=Role.VIEWER)
    world.browsers["mixed"].post(f"/import/{plan.id}/apply/")
    for slug in (LED, HELPED):
        assert world.teams[slug].secret in world.teams[slug].team.files.get(file_key="GOALS").content
    text = page(world, f"/import/{plan.id}/").content.decode()
    assert world.teams[LED].secret not in text


def test_what_was_shown_before_it_was_done_is_forgotten(plan: ImportPlan, world: World) -> None:
    done = import_begin(plan=plan, chosen=(), principal=world.people["mixed"].principal)
    assert done.status == ImportStatus.DONE
    leave(world, LED)
    api = Api(person=world.people["mixed"].principal)
    assert world.teams[LED].secret not in api.get(f"import/{plan.id}").content.decode()
    assert problem(Api(person=world.people["stranger"].principal).get(f"import/{plan.id}")) == (404, "not_found")
