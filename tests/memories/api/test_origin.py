"""Over REST, the server says where a text comes from, and what it removed from it."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from memories.api.urls import ENDPOINTS
from memories.models.agent_item import AgentItem
from teams.models import Team, User
from tests.client import Api
from tests.memories.agent_items import BODIES, PATCHES, things_of

pytestmark = pytest.mark.django_db

HIDDEN = "\u200b\u202e\U000e0041"
NOTE = ["3 invisible characters were removed."]
MEMORY = {"kind": "fact", "text": "The stage opens at nine."}


@pytest.fixture
def apis(agent: Agent, as_person: Callable[[User], Api], editor: User) -> dict[str, Api]:
    """The API for each kind of writer, by the origin of what it writes."""
    return {"agent": Api(api_key_create(agent=agent, scopes=ApiKey.Scope.values)[1]), "person": as_person(editor)}


@pytest.fixture
def bodies(agent: Agent) -> dict[str, dict[str, Any]]:
    entity = str(things_of(agent)["entities"].pk)
    return BODIES | {"relations": {"type": "new", "source": entity, "target": entity}}


@pytest.mark.parametrize("writer", ["person", "agent"])
@pytest.mark.parametrize("name", [endpoint.name for endpoint in ENDPOINTS])
def test_an_item_says_who_wrote_it_and_accepts_no_word_on_it(
    apis: dict[str, Api], bodies: dict[str, dict[str, Any]], name: str, writer: str
) -> None:
    api, path = apis[writer], f"agents/ada/{name}"
    refused = api.post(path, {**bodies[name], "origin": "person"})
    assert (refused.status_code, [*refused.json()["errors"]]) == (422, ["origin"])
    made = api.post(path, bodies[name])
    assert (made.status_code, made.json()["origin"]) == (201, writer)
    assert "notes" not in made.json()
    address = f"{path}/{made.json()['id']}"
    refused = api.patch(address, {**PATCHES[name], "origin": "person"}, if_match='"1"')
    assert (refused.status_code, [*refused.json()["errors"]]) == (422, ["origin"])
    assert api.patch(address, PATCHES[name], if_match='"1"').json()["origin"] == writer
    assert writer in {one["origin"] for one in api.get(path).json()["results"]}


@pytest.mark.parametrize("writer", ["person", "agent"])
@pytest.mark.parametrize("whose", ["agents/ada", "teams/care"])
def test_a_memory_says_who_wrote_it_and_accepts_no_word_on_it(apis: dict[str, Api], whose: str, writer: str) -> None:
    api, path = apis[writer], f"{whose}/memories"
    for body in ({**MEMORY, "origin": "person"},):
        assert [*api.post(path, body).json()["errors"]] == ["origin"]
        assert [*api.post(f"{path}/batch", {"items": [body]}).json()["errors"]] == ["items.0.origin"]
    made = api.post(path, MEMORY).json()
    assert made["origin"] == writer
    assert api.patch(f"{path}/{made['id']}", {"origin": "person"}, if_match='"1"').status_code == 422
    assert [one["origin"] for one in api.get(f"{path}/{made['id']}/versions").json()["results"]] == [writer]
    assert {one["origin"] for one in api.get(path).json()["results"]} == {writer}
    assert {one["origin"] for one in api.get(f"{path}/search?q=stage").json()["results"]} == {writer}


def test_a_merge_says_the_least_trusted_origin(apis: dict[str, Api]) -> None:
    made = [api.post("agents/ada/memories", MEMORY).json() for api in apis.values()]
    named = [{"id": one["id"], "version": 1} for one in made]
    merged = apis["person"].post("agents/ada/memories/merge", {"keep": made[1]["id"], "memories": named}).json()
    assert (made[1]["origin"], merged["origin"]) == ("person", "agent")
    facts = {"text": "Nine o'clock.", "kind": "fact", "supersedes": [merged["id"]]}
    assert apis["person"].post("agents/ada/memories", facts).json()["origin"] == "agent"


@pytest.mark.parametrize("writer", ["person", "agent"])
def test_files_and_logs_say_who_wrote_them(apis: dict[str, Api], agent: Agent, team: Team, writer: str) -> None:
    api = apis[writer]
    for path in ("agents/ada/files/KNOWLEDGE", "teams/care/files/GOALS"):
        assert api.put(path, {"content": "x", "origin": "person"}, if_match='"1"').status_code == 422
        assert api.put(path, {"content": "Written."}, if_match='"1"').json()["origin"] == writer
        assert [one["origin"] for one in api.get(f"{path}/versions").json()["results"]] == [writer, "person"]
        assert api.get(f"{path}/versions/2").json()["origin"] == writer
    log = "agents/ada/daily-logs/2026-03-14"
    assert api.post(log, {"text": "Rain.", "origin": "person"}).status_code == 422
    assert api.post(log, {"text": "Rain."}).json()["origin"] == writer
    assert apis["person"].post(log, {"text": "Sun."}).json()["origin"] == writer
    assert apis["agent"].post(log, {"text": "Wind."}).json()["origin"] == "agent"


def test_a_write_says_what_was_removed_from_its_texts(apis: dict[str, Api]) -> None:
    api = apis["agent"]
    body = {**MEMORY, "text": f"Tea{HIDDEN} at nine."}
    made = api.post("agents/ada/memories", body, idempotency_key="one")
    assert (made.json()["text"], made.json()["notes"]) == ("Tea at nine.", NOTE)
    again = api.post("agents/ada/memories", body, idempotency_key="one")
    assert again.content == made.content
    address = f"agents/ada/memories/{made.json()['id']}"
    assert "notes" not in api.get(address).json()
    assert api.patch(address, {"text": f"Tea{HIDDEN} at ten."}, if_match='"1"').json()["notes"] == NOTE
    batch = api.post("agents/ada/memories/batch", {"items": [body, MEMORY]}).json()
    assert (batch["created"], batch["notes"]) == (2, NOTE)
    assert api.post("agents/ada/daily-logs/2026-03-14", {"text": f"Rain{HIDDEN}."}).json()["notes"] == NOTE
    content = {"content": f"Nine{HIDDEN}."}
    assert api.put("agents/ada/files/KNOWLEDGE", content, if_match='"1"').json()["notes"] == NOTE


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("sessions", "title"),
        ("entities", "name"),
        ("patterns", "guidance"),
        ("documents", "content"),
        ("threads", "summary"),
        ("tools", "description"),
        ("tasks", "goal"),
    ],
)
def test_every_item_is_stored_without_invisible_characters(apis: dict[str, Api], name: str, field: str) -> None:
    api = apis["agent"]
    made = api.post(f"agents/ada/{name}", {**BODIES[name], field: f"Te{HIDDEN}xt"}).json()
    assert (made[field], made["notes"]) == ("Text", NOTE)
    changed = {field: f"Other{HIDDEN} text"}
    saved = api.patch(f"agents/ada/{name}/{made['id']}", changed, if_match='"1"').json()
    assert (saved[field], saved["notes"]) == ("Other text", NOTE)


def test_the_json_of_events_is_stored_without_invisible_characters(apis: dict[str, Api]) -> None:
    content = {"text": f"Nine{HIDDEN}", "more": [{"a": "\u200bb"}]}
    body = {"type": "message", "content": content}
    made = apis["agent"].post("agents/ada/events/batch", {"items": [body, body]}).json()
    assert made["notes"] == ["8 invisible characters were removed."]
    event = apis["agent"].get(f"agents/ada/events/{made['ids'][0]}").json()
    assert (event["content"], event["size"]) == ({"text": "Nine", "more": [{"a": "b"}]}, 34)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("agents/ada/memories", {**MEMORY, "text": HIDDEN}),
        ("agents/ada/daily-logs/2026-03-14", {"text": f" {HIDDEN}\n"}),
        ("agents/ada/tools", {"name": HIDDEN}),
    ],
)
def test_a_text_of_invisible_characters_is_refused_as_blank(
    apis: dict[str, Api], path: str, body: dict[str, Any]
) -> None:
    answer = apis["agent"].post(path, body)
    [[error]] = answer.json()["errors"].values()
    assert (answer.status_code, error["code"]) == (422, "blank")


def test_words_that_languages_and_emoji_need_are_stored(apis: dict[str, Api]) -> None:
    text = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937 \U0001f469\u200d\U0001f467"
    made = apis["agent"].post("agents/ada/memories", {**MEMORY, "text": text}).json()
    assert made["text"] == text
    assert "notes" not in made


def test_every_kind_of_item_says_which_fields_contexts_tell() -> None:
    for model in AgentItem.__subclasses__():
        names = {field.name for field in model._meta.fields}
        assert model.context_fields
        assert model.context_fields <= names
