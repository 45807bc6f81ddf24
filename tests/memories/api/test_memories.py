"""Memories of agents and teams over REST: one implementation, two owners."""

import uuid
from typing import Any

import pytest

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memories_unmerge, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

OWNERS = pytest.mark.parametrize("whose", ["agents/ada", "teams/care"])


def remember(api: Api, whose: str, text: str, **facts: Any) -> dict[str, Any]:
    response = api.post(f"{whose}/memories", {"kind": "fact", "text": text, **facts})
    assert response.status_code == 201, response.content
    document: dict[str, Any] = response.json()
    return document


@OWNERS
def test_the_story_of_a_memory(whose: str, agent: Agent, agent_api: Api) -> None:
    response = agent_api.post(f"{whose}/memories", {"kind": "decision", "text": " Refund within 5 days.\n"})
    made = response.json()
    path = f"{whose}/memories/{made['id']}"
    assert response["Location"] == f"/api/v1/{path}"
    assert made == agent_api.get(path).json() == agent_api.get(f"{whose}/memories").json()["results"][0]
    assert made.items() >= {
        "kind": "decision", "text": " Refund within 5 days.\n", "occurred_at": None, "salience": 0.5,
        "credibility": 0.5, "superseded_by": None, "pinned": False, "archived": False, "archive_reason": "",
        "external_id": "", "version": 1,
    }.items()  # fmt: skip
    changed = agent_api.patch(path, {"text": "Refund within 7 days.", "salience": 1}, if_match='"1"')
    assert changed.json().items() >= {"kind": "decision", "salience": 1.0, "version": 2}.items()
    versions = agent_api.get(f"{path}/versions").json()["results"]
    assert [(row["version"], row["text"]) for row in versions] == [
        (2, "Refund within 7 days."), (1, " Refund within 5 days.\n")
    ]  # fmt: skip
    assert agent_api.delete(path).status_code == 204
    assert problem(agent_api.get(path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z"),
        ("2026-01-05T10:00:00+02:00", "2026-01-05T08:00:00Z"),
        ("2026-01-05T10:00:00", "2026-01-05T10:00:00Z"),
        ("2026-01-05T10:00:00.123456Z", "2026-01-05T10:00:00.123456Z"),
        (None, None),
    ],
)
def test_moments_come_back_in_utc(sent: str | None, stored: str | None, agent: Agent, agent_api: Api) -> None:
    assert remember(agent_api, "agents/ada", "x", occurred_at=sent)["occurred_at"] == stored


@OWNERS
def test_an_external_id_is_there_once_per_owner(whose: str, agent: Agent, agent_api: Api) -> None:
    remember(agent_api, whose, "One", external_id="note-1")
    again = agent_api.post(f"{whose}/memories", {"kind": "fact", "text": "Two", "external_id": "note-1"})
    assert problem(again) == (409, "conflict")
    remember(agent_api, whose, "Three")
    remember(agent_api, whose, "Four")


@OWNERS
def test_a_memory_is_superseded_and_stands_again(whose: str, agent: Agent, agent_api: Api) -> None:
    old, new = remember(agent_api, whose, "Old"), remember(agent_api, whose, "New")
    path = f"{whose}/memories/{old['id']}"
    superseded = agent_api.patch(path, {"superseded_by": new["id"]}, if_match='"1"')
    assert superseded.json()["superseded_by"] == new["id"]
    circle = agent_api.patch(f"{whose}/memories/{new['id']}", {"superseded_by": old["id"]}, if_match='"1"')
    assert errors_of(circle) == {"superseded_by"}
    kept = agent_api.patch(path, {"text": "Older"}, if_match='"2"')
    assert kept.json()["superseded_by"] == new["id"]
    assert agent_api.patch(path, {"superseded_by": None}, if_match='"3"').json()["superseded_by"] is None


@pytest.mark.parametrize("value", ["x", 5.5, [], "\ud800", ""])
def test_a_successor_is_named_by_its_id(value: Any, agent: Agent, agent_api: Api) -> None:
    memory = remember(agent_api, "agents/ada", "Old")
    response = agent_api.patch(f"agents/ada/memories/{memory['id']}", {"superseded_by": value}, if_match='"1"')
    assert errors_of(response) == {"superseded_by"}


def test_a_successor_of_another_owner_is_not_there(agent: Agent, team: Team, agent_api: Api) -> None:
    other = memory_create(owner=team, facts=MemoryFacts(kind="fact", text="Other"), principal=SYSTEM)
    path = f"agents/ada/memories/{remember(agent_api, 'agents/ada', 'Old')['id']}"
    for id_ in (other.id, uuid.uuid4()):
        assert problem(agent_api.patch(path, {"superseded_by": str(id_)}, if_match='"1"')) == (404, "not_found")


@OWNERS
def test_search_finds_by_meaning_nearest_first(whose: str, agent: Agent, agent_api: Api) -> None:
    for text in ("The office plants need water.", "Customers get refunds in five days.", "Lunch is at noon."):
        remember(agent_api, whose, text)
    found = agent_api.get(f"{whose}/memories/search?q=money+back+to+the+customer&limit=2").json()["results"]
    assert len(found) == 2
    assert found[0]["text"] == "Customers get refunds in five days."
    assert 1 >= found[0]["similarity"] >= found[1]["similarity"] >= -1
    similarity = found[0].pop("similarity")
    assert isinstance(similarity, float)
    assert found[0] == agent_api.get(f"{whose}/memories/{found[0]['id']}").json()


def test_search_of_nothing_known_finds_nothing(agent: Agent, agent_api: Api) -> None:
    assert agent_api.get("agents/ada/memories/search?q=refund").json() == {"results": []}


def test_search_shows_only_the_owners(agent: Agent, team: Team, agent_api: Api) -> None:
    remember(agent_api, "teams/care", "Customers get refunds.")
    remember(agent_api, "agents/ada", "Refunds are slow.")
    [found] = agent_api.get("agents/ada/memories/search?q=refunds").json()["results"]
    assert found["text"] == "Refunds are slow."


def test_other_agents_write_nothing_here(agent: Agent, other_agent_api: Api) -> None:
    for whose in ("agents/ada", "teams/care"):
        response = other_agent_api.post(f"{whose}/memories", {"kind": "fact", "text": "x"})
        assert problem(response) == (404, "not_found")
    assert not Memory.objects.exists()


@pytest.mark.parametrize("path", ["agents/ada", "teams/care"])
def test_many_memories_come_in_at_once_all_or_none(path: str, agent_api: Api) -> None:
    items = [{"kind": "fact", "text": f"Number {number}", "external_id": f"n{number % 3}"} for number in range(4)]
    answer = agent_api.post(f"{path}/memories/batch", {"items": items})
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert (document["created"], document["skipped"], document["ids"][3]) == (3, 1, None)
    again = agent_api.post(f"{path}/memories/batch", {"items": items}).json()
    assert (again["created"], again["ids"]) == (0, [None] * 4)
    faulty = agent_api.post(f"{path}/memories/batch", {"items": [items[0], {"kind": "fact", "text": " "}, {}]})
    assert errors_of(faulty) == {"items.1.text", "items.2.kind", "items.2.text"}
    assert Memory.objects.count() == 3
    assert errors_of(agent_api.post(f"{path}/memories/batch", {"items": []})) == {"items"}
    assert errors_of(agent_api.post(f"{path}/memories/batch", {"items": [items[0]] * 1_001})) == {"items"}


# --- Pinned, retired, merged, used ---------------------------------------------------------------------------------


@OWNERS
def test_a_memory_is_pinned_and_unpinned(whose: str, agent: Agent, agent_api: Api) -> None:
    path = f"{whose}/memories/{remember(agent_api, whose, 'Never promise dates.')['id']}"
    assert agent_api.patch(path, {"pinned": True}, if_match='"1"').json()["pinned"] is True
    same = agent_api.patch(path, {"pinned": True}, if_match='"2"').json()
    assert (same["pinned"], same["version"]) == (True, 2)
    assert agent_api.patch(path, {"pinned": False}, if_match='"2"').json()["version"] == 3
    assert [row["pinned"] for row in agent_api.get(f"{path}/versions").json()["results"]] == [False, True, False]


@OWNERS
def test_a_memory_is_retired_with_a_reason_and_comes_back(whose: str, agent: Agent, agent_api: Api) -> None:
    path = f"{whose}/memories/{remember(agent_api, whose, 'The shop is in Elm Street.')['id']}"
    agent_api.patch(path, {"pinned": True}, if_match='"1"')
    gone = agent_api.patch(path, {"archived": True, "archive_reason": "We moved."}, if_match='"2"').json()
    assert gone.items() >= {"archived": True, "archive_reason": "We moved.", "pinned": False}.items()
    assert errors_of(agent_api.patch(path, {"pinned": True}, if_match='"3"')) == {"pinned"}
    other = agent_api.patch(path, {"archive_reason": "We moved to Oak Street."}, if_match='"3"').json()
    assert other["archive_reason"] == "We moved to Oak Street."
    back = agent_api.patch(path, {"archived": False}, if_match='"4"').json()
    assert back.items() >= {"archived": False, "archive_reason": "", "pinned": False}.items()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"archived": True}, "archive_reason"),
        ({"archived": True, "archive_reason": " "}, "archive_reason"),
        ({"archived": True, "archive_reason": "x" * 201}, "archive_reason"),
        ({"archive_reason": "Gone."}, "archived"),
        ({"pinned": "yes"}, "pinned"),
        ({"note": "two\nlines"}, "note"),
    ],
)
def test_what_makes_no_sense_is_explained(body: Any, field: str, agent: Agent, agent_api: Api) -> None:
    path = f"agents/ada/memories/{remember(agent_api, 'agents/ada', 'x')['id']}"
    assert errors_of(agent_api.patch(path, body, if_match='"1"')) == {field}


def test_so_many_can_be_pinned_and_no_more(agent: Agent, agent_api: Api) -> None:
    for number in range(21):
        path = f"agents/ada/memories/{remember(agent_api, 'agents/ada', str(number))['id']}"
        last = agent_api.patch(path, {"pinned": True}, if_match='"1"')
        assert (last.status_code == 200) == (number < 20)
    assert errors_of(last) == {"pinned"}


def test_a_note_says_what_changed(agent: Agent, agent_api: Api) -> None:
    path = f"agents/ada/memories/{remember(agent_api, 'agents/ada', 'x')['id']}"
    agent_api.patch(path, {"text": "y", "note": "Spelt right."}, if_match='"1"')
    assert agent_api.get(f"{path}/versions").json()["results"][0]["note"] == "Spelt right."


def merge_of(*memories: dict[str, Any], **more: Any) -> dict[str, Any]:
    seen = [{"id": memory["id"], "version": memory["version"]} for memory in memories]
    return {"keep": memories[0]["id"], "memories": seen, **more}


@OWNERS
def test_memories_are_merged(whose: str, agent: Agent, agent_api: Api) -> None:
    one, two = remember(agent_api, whose, "Refunds take 5 days."), remember(agent_api, whose, "A refund: five days.")
    answer = agent_api.post(f"{whose}/memories/merge", merge_of(one, two, text="Refunds take five days."))
    assert (answer.status_code, answer["ETag"]) == (200, '"2"')
    assert answer.json()["text"] == "Refunds take five days."
    assert agent_api.get(f"{whose}/memories/{two['id']}").json()["superseded_by"] == one["id"]
    versions = agent_api.get(f"{whose}/memories/{one['id']}/versions").json()["results"]
    assert [row["merged"] for row in versions] == [[two["id"]], []]


def test_a_stale_merge_changes_nothing(agent: Agent, agent_api: Api) -> None:
    one, two = remember(agent_api, "agents/ada", "One"), remember(agent_api, "agents/ada", "Two")
    agent_api.patch(f"agents/ada/memories/{two['id']}", {"text": "Three"}, if_match='"1"')
    answer = agent_api.post("agents/ada/memories/merge", merge_of(one, two))
    assert problem(answer) == (412, "stale_version")
    assert answer.json()["current"]["text"] == "Three"
    assert agent_api.get(f"agents/ada/memories/{one['id']}").json()["version"] == 1


def test_only_what_stands_and_is_the_owners_is_merged(agent: Agent, team: Team, agent_api: Api) -> None:
    one, gone = remember(agent_api, "agents/ada", "One"), remember(agent_api, "agents/ada", "Two")
    others = remember(agent_api, "teams/care", "Three")
    path = f"agents/ada/memories/{gone['id']}"
    gone = agent_api.patch(path, {"archived": True, "archive_reason": "No."}, if_match='"1"').json()
    merge = "agents/ada/memories/merge"
    assert errors_of(agent_api.post(merge, merge_of(one, gone))) == {"memories"}
    assert problem(agent_api.post(merge, merge_of(one, others))) == (404, "not_found")
    assert errors_of(agent_api.post(merge, merge_of(one, one))) == {"memories"}
    assert errors_of(agent_api.post(merge, {**merge_of(one, gone), "keep": str(uuid.uuid4())})) == {"memories"}
    assert errors_of(agent_api.post(merge, merge_of(one))) == {"memories"}


@OWNERS
def test_the_contexts_that_used_a_memory_are_told(
    whose: str, agent: Agent, agent_api: Api, other_agent_api: Api
) -> None:
    made = remember(agent_api, whose, "Refund within 5 days.")
    uses = f"{whose}/memories/{made['id']}/uses"
    assert agent_api.get(uses).json() == {"included_count": 0, "excluded_count": 0, "results": [], "next": None}
    asked = {"agent": "ada", "team": "care"}
    first, again = (agent_api.post("assemblies", asked).json() for _ in range(2))
    assert again["repeat_of_id"] == first["id"]
    agent_api.patch(f"{whose}/memories/{made['id']}", {"text": "Refund in 5 days."}, if_match='"1"')
    small = agent_api.post("assemblies", {**asked, "max_tokens": 1}).json()
    found = agent_api.get(f"{uses}?limit=2").json()
    assert (found["included_count"], found["excluded_count"]) == (2, 1)
    assert [row["assembly_id"] for row in found["results"]] == [small["id"], again["id"]]
    assert found["results"][0].items() >= {"included": False, "code": "over_total_budget"}.items()
    assert found["results"][1]["ref"] == f"memory:{made['id']}@1"
    assert [row["assembly_id"] for row in agent_api.get(found["next"]).json()["results"]] == [first["id"]]
    assert problem(other_agent_api.get(uses)) == (404, "not_found")


@OWNERS
def test_the_language_is_found_shown_and_corrected(whose: str, agent: Agent, agent_api: Api) -> None:
    assert remember(agent_api, whose, "The house is old, and it is ours.")["language"] == "english"
    assert remember(agent_api, whose, "Tee", language="german")["language"] == "german"
    made = remember(agent_api, whose, "Das Haus ist alt, und es ist unser.")
    assert made["language"] == "german"
    path = f"{whose}/memories/{made['id']}"
    corrected = agent_api.patch(path, {"language": "dutch"}, if_match='"1"').json()
    assert (corrected["language"], corrected["version"]) == ("dutch", 2)
    assert agent_api.patch(path, {"salience": 1}, if_match='"2"').json()["language"] == "dutch"
    changed = agent_api.patch(path, {"text": "La casa es vieja, y es nuestra."}, if_match='"3"').json()
    assert changed["language"] == "spanish"
    versions = agent_api.get(f"{path}/versions").json()["results"]
    assert [version["language"] for version in versions] == ["spanish", "dutch", "dutch", "german"]


@pytest.mark.parametrize("language", ["klingon", "English", "", None, 7])
def test_an_unknown_language_is_refused_with_those_that_are_known(language: Any, agent: Agent, agent_api: Api) -> None:
    response = agent_api.post("agents/ada/memories", {"kind": "fact", "text": "x", "language": language})
    assert problem(response) == (422, "invalid")
    assert errors_of(response) == {"language"}
    if language == "klingon":
        assert "english, german, spanish" in str(response.json())


@OWNERS
def test_a_new_memory_supersedes_others_in_one_call_and_this_is_undone(
    whose: str, agent: Agent, agent_api: Api, owner: User
) -> None:
    old = [remember(agent_api, whose, text, kind="decision")["id"] for text in ("Open at nine", "Opens at 9")]
    agent_api.patch(f"{whose}/memories/{old[1]}", {"pinned": True}, if_match='"1"')
    response = agent_api.post(f"{whose}/memories", {"text": "Opens at ten", "supersedes": old})
    assert response.status_code == 201, response.content
    new = response.json()
    assert (new["kind"], new["pinned"], new["version"], response["ETag"]) == ("decision", True, 2, '"2"')
    path = f"{whose}/memories"
    assert [agent_api.get(f"{path}/{id_}").json()["superseded_by"] for id_ in old] == [new["id"]] * 2
    assert [row["merged"] for row in agent_api.get(f"{path}/{new['id']}/versions").json()["results"]] == [
        sorted(old),
        [],
    ]
    [note, *_] = [row["note"] for row in agent_api.get(f"{path}/{old[0]}/versions").json()["results"]]
    assert note == "Superseded by: Opens at ten"
    memories_unmerge(memory=Memory.objects.get(id=new["id"]), expected_version=2, principal=owner.principal)
    assert [agent_api.get(f"{path}/{id_}").json()["superseded_by"] for id_ in old] == [None] * 2
    assert [agent_api.get(f"{path}/{id_}").json()["pinned"] for id_ in (*old, new["id"])] == [False, True, False]


@OWNERS
def test_what_cannot_be_superseded_is_refused_and_nothing_is_written(whose: str, agent: Agent, agent_api: Api) -> None:
    mine, gone = remember(agent_api, whose, "Mine")["id"], remember(agent_api, whose, "Gone")
    agent_api.patch(f"{whose}/memories/{gone['id']}", {"archived": True, "archive_reason": "Old"}, if_match='"1"')
    others = "teams/care" if whose == "agents/ada" else "agents/ada"
    foreign = remember(agent_api, others, "Foreign")["id"]
    count = Memory.objects.count()
    for wrong in ([foreign], [str(uuid.uuid4())], [mine, gone["id"]], ["x"], "x", [mine] * 20):
        answer = agent_api.post(f"{whose}/memories", {"kind": "fact", "text": "New", "supersedes": wrong})
        assert {field.partition(".")[0] for field in errors_of(answer)} == {"supersedes"}
    assert errors_of(agent_api.post(f"{whose}/memories", {"text": "New"})) == {"kind"}
    assert Memory.objects.count() == count
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_an_agents_key_does_not_supersede_what_a_person_wrote_in_a_team(
    team: Team, owner: User, agent: Agent, agent_api: Api
) -> None:
    written = memory_create(owner=team, facts=MemoryFacts(kind="fact", text="By Olga"), principal=owner.principal)
    body = {"kind": "fact", "text": "By the key", "supersedes": [str(written.id)]}
    assert problem(agent_api.post("teams/care/memories", body)) == (403, "forbidden")
    assert Memory.objects.count() == 1


def test_a_repeated_request_supersedes_once(agent: Agent, agent_api: Api) -> None:
    body = {"text": "New", "supersedes": [remember(agent_api, "agents/ada", "Old")["id"]]}
    first, again = (agent_api.post("agents/ada/memories", body, idempotency_key="one").json() for _ in range(2))
    assert first == again
    assert Memory.objects.count() == 2
