"""What every kind of thing that an agent keeps has in common over REST: one implementation, nine nouns."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_delete
from memories.api.urls import ENDPOINTS
from memories.models import Chunk, Document
from memories.models.agent_item import AgentItem
from teams.models import User
from teams.principal import SYSTEM
from tests import personas
from tests.client import Api, problem
from tests.memories.agent_items import ONCE, PATCHES, body_of, things_of

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
[agent_api] = personas.once_per_module(personas.agent_api)

NAMED = {noun.name: noun for noun in ENDPOINTS}
EACH = pytest.mark.parametrize("noun", [noun.name for noun in ENDPOINTS])
Things = dict[str, AgentItem]


@pytest.fixture(scope="module")
def things(agent: Agent) -> Things:
    return things_of(agent)


@EACH
def test_the_story_of_a_thing(noun: str, things: Things, agent_api: Api) -> None:
    body = body_of(noun, things)
    made = agent_api.post(f"agents/ada/{noun}", body)
    document = made.json()
    path = f"agents/ada/{noun}/{document['id']}"
    assert (made.status_code, made["Location"], made["ETag"]) == (201, f"/api/v1/{path}", '"1"')
    assert document.items() >= {**body, "external_id": "", "version": 1}.items()
    assert agent_api.get(path).json() == document
    assert agent_api.get(path, if_none_match='"1"').status_code == 304
    listed = agent_api.get(f"agents/ada/{noun}").json()["results"]
    assert listed[0].items() <= document.items()
    assert str(things[noun].id) in {row["id"] for row in listed}

    changed = agent_api.patch(path, PATCHES[noun], if_match='"1"')
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    assert changed.json().items() >= {**body, **PATCHES[noun], "version": 2}.items()
    assert agent_api.get(path).json() == changed.json()
    assert agent_api.patch(path, PATCHES[noun], if_match='"2"')["ETag"] == '"2"', "nothing differs"
    assert agent_api.patch(path, {}, if_match='"2"')["ETag"] == '"2"'

    assert problem(agent_api.delete(path, if_match='"1"')) == (412, "stale_version")
    assert agent_api.delete(path, if_match='"2"').status_code == 204
    assert problem(agent_api.get(path)) == (404, "not_found")
    assert problem(agent_api.delete(path)) == (404, "not_found")


@EACH
def test_a_change_says_which_version_it_is_of(noun: str, things: Things, agent_api: Api) -> None:
    path = f"agents/ada/{noun}/{things[noun].id}"
    assert problem(agent_api.patch(path, PATCHES[noun])) == (428, "precondition_required")
    saved = agent_api.patch(path, PATCHES[noun], if_match='"1"')
    stale = agent_api.patch(path, PATCHES[noun], if_match='"1"')
    assert problem(stale) == (412, "stale_version")
    assert stale.json()["current"] == saved.json()


@EACH
def test_an_external_id_is_there_once_per_agent(noun: str, things: Things, agent_api: Api) -> None:
    first = body_of(noun, things, external_id="x-1")
    assert agent_api.post(f"agents/ada/{noun}", first).status_code == 201
    again = agent_api.post(f"agents/ada/{noun}", first)
    assert problem(again) == (409, "conflict")
    assert "with this external id already" in again.json()["detail"]


@EACH
def test_a_batch_passes_over_what_is_there(noun: str, things: Things, agent_api: Api) -> None:
    model = type(things[noun])
    known = agent_api.post(f"agents/ada/{noun}", body_of(noun, things, external_id="x-1")).json()["id"]
    items = [
        body_of(noun, things, external_id="x-1"),
        {**body_of(noun, things, external_id="x-2"), **_otherwise(noun)},
        {**body_of(noun, things, external_id="x-2"), **_otherwise(noun)},
    ]
    answer = agent_api.post(f"agents/ada/{noun}/batch", {"items": items})
    new = model._default_manager.get(external_id="x-2")
    assert (answer.status_code, answer.json()) == (
        201, {"created": 1, "skipped": 2, "ids": [None, str(new.id), None]},
    )  # fmt: skip
    assert model._default_manager.get(external_id="x-1").id.hex == known.replace("-", "")


def _otherwise(noun: str) -> dict[str, Any]:
    """What makes it differ where the agent may have only one like it."""
    return dict.fromkeys(ONCE[noun], "other")


@EACH
def test_a_batch_is_all_or_nothing(noun: str, things: Things, agent_api: Api) -> None:
    before = type(things[noun])._default_manager.count()
    good = body_of(noun, things)
    answer = agent_api.post(f"agents/ada/{noun}/batch", {"items": [good, {**good, "message": 1}, 5, {}]})
    errors = answer.json()["errors"]
    assert problem(answer) == (422, "invalid")
    assert {"items.1.message", "items.2"} <= errors.keys()
    assert not any(name.startswith("items.0") for name in errors)
    assert type(things[noun])._default_manager.count() == before


@EACH
@pytest.mark.parametrize("items", [[], None, {}, "x", 5, [{}] * 1001])
def test_a_batch_holds_one_to_a_thousand_items(noun: str, items: Any, agent: Agent, agent_api: Api) -> None:
    answer = agent_api.post(f"agents/ada/{noun}/batch", {"items": items})
    assert problem(answer) == (422, "invalid")
    assert answer.json()["errors"].keys() == {"items"}


@EACH
def test_the_same_key_has_one_effect(noun: str, things: Things, agent_api: Api) -> None:
    body = {"items": [body_of(noun, things)]}
    first, second = (agent_api.post(f"agents/ada/{noun}/batch", body, idempotency_key="k") for _ in range(2))
    assert first.content == second.content
    assert second["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize("noun", [noun for noun, fields in ONCE.items() if fields])
def test_what_is_there_already_is_named(noun: str, things: Things, agent_api: Api) -> None:
    body = body_of(noun, things)
    assert agent_api.post(f"agents/ada/{noun}", body).status_code == 201
    again = agent_api.post(f"agents/ada/{noun}", body)
    assert problem(again) == (409, "conflict")
    assert again.json()["detail"].startswith(f"This {NAMED[noun].word} exists already: ")
    other = {**body, **_otherwise(noun)}
    batch = agent_api.post(f"agents/ada/{noun}/batch", {"items": [other, body, other]})
    assert problem(batch) == (409, "conflict")
    assert {name.rsplit(".", 1)[0] for name in batch.json()["errors"]} == {"items.1", "items.2"}
    second = agent_api.post(f"agents/ada/{noun}", other).json()
    taken = {name: body[name] for name in _otherwise(noun)}
    path = f"agents/ada/{noun}/{second['id']}"
    assert problem(agent_api.patch(path, taken, if_match='"1"')) == (409, "conflict")
    assert agent_api.get(path)["ETag"] == '"1"'


@EACH
def test_two_agents_keep_the_same(noun: str, things: Things, admin_api: Api, agent: Agent) -> None:
    twin = things_of(agent_create(slug="bob", name="Bob", teams=list(agent.teams.all())))
    assert [row["id"] for row in admin_api.get(f"agents/bob/{noun}").json()["results"]] == [str(twin[noun].id)]
    assert problem(admin_api.get(f"agents/bob/{noun}/{things[noun].id}")) == (404, "not_found")
    assert problem(admin_api.delete(f"agents/bob/{noun}/{things[noun].id}")) == (404, "not_found")


@EACH
def test_who_may_edit_may_write_too(noun: str, things: Things, editor: User, as_person: Callable[[User], Api]) -> None:
    assert as_person(editor).post(f"agents/ada/{noun}", body_of(noun, things)).status_code == 201


@EACH
def test_who_may_only_read_reads(
    noun: str, things: Things, teammate: User, outsider: User, as_person: Callable[[User], Api]
) -> None:
    assert as_person(teammate).get(f"agents/ada/{noun}").status_code == 200
    batch = {"items": [body_of(noun, things)]}
    assert problem(as_person(teammate).post(f"agents/ada/{noun}/batch", batch)) == (403, "forbidden")
    assert problem(as_person(outsider).post(f"agents/ada/{noun}/batch", batch)) == (404, "not_found")
    assert problem(as_person(outsider).get(f"agents/ada/{noun}")) == (404, "not_found")


@EACH
def test_pages_hold_every_row_once(noun: str, things: Things, agent_api: Api) -> None:
    for number in range(4):
        changes = {name: f"{value}{number}" for name, value in _otherwise(noun).items()}
        agent_api.post(f"agents/ada/{noun}", body_of(noun, things, **changes))
    seen, following = [], f"/api/v1/agents/ada/{noun}?limit=2"
    while following:
        page = agent_api.get(following).json()
        seen += [row["id"] for row in page["results"]]
        following = page["next"]
    assert len(seen) == len(set(seen)) == 5
    assert seen[-1] == str(things[noun].id)


@EACH
def test_a_list_costs_two_queries_beside_the_key(
    noun: str, things: Things, agent_api: Api, django_assert_num_queries: Any
) -> None:
    agent_api.get("teams")
    queries = 4 if noun == "tasks" else 3  # the key, the agent, the things; the children of tasks
    with django_assert_num_queries(queries) as captured:
        agent_api.get(f"agents/ada/{noun}")
    assert '"embedding"' not in captured[2]["sql"]
    with django_assert_num_queries(queries) as captured:
        agent_api.get(f"agents/ada/{noun}/{things[noun].id}")
    assert '"embedding"' not in captured[2]["sql"]


def test_deleting_an_agent_removes_everything(things: Things, agent: Agent) -> None:
    document = Document.objects.get()
    Chunk.objects.create(
        document=document, agent=agent, document_version=1, position=0, start=0, end=1, line=1, text="x"
    )
    agent_delete(agent=agent, principal=SYSTEM)
    models: list[type[Any]] = [*(noun.model for noun in ENDPOINTS), Chunk]
    assert [model for model in models if model.objects.exists()] == []
