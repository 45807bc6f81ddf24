"""REST: contexts by the librarian's profiles: sessions, history, filters, strategy, messages, appending; counting."""

import datetime
import re
from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from assembly.contexts.documents import DATA_LEAD, messages_of
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.records.reader import load_record
from memories.models import Event
from teams.models import Team, User
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]
HISTORY = [
    {"role": "user", "content": "Is the ink dry?"},
    {"role": "assistant", "content": "Not yet."},
    {"role": "user", "content": "Fix the press then."},
]


@pytest.fixture
def mira(team: Any, press: tuple[Agent, Team]) -> Agent:
    """An agent that keeps one of everything."""
    return press[0]


def asked(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.post("assemblies", {"agent": "mira", "profile": "coding", **body})
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = answer.json()
    return document


def refused(api: Api, **body: Any) -> set[str]:
    return errors_of(api.post("assemblies", {"agent": "mira", "profile": "coding", **body}))


def headings_of(message: dict[str, str]) -> list[str]:
    return re.findall(r'^<section name="([^"]*)"', message["content"], re.MULTILINE)


def labels(document: dict[str, Any]) -> list[str]:
    return [section["label"] for section in document["sections"] if section["tokens"]]


def event_of(api: Api, assembly: dict[str, Any], text: str = "It jams.") -> dict[str, Any]:
    event = {"type": "error", "content": {"message": text}}
    answer = api.post(f"assemblies/{assembly['id']}/append", {"event": event})
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = answer.json()
    return document


# --- What comes back -----------------------------------------------------------------------------------------------


def test_every_source_has_its_section_and_every_item_its_component(admin_api: Api, mira: Agent) -> None:
    document = asked(
        admin_api, team="press", topic="Fix the ink on the paper", history=HISTORY, additional_context="Hurry."
    )
    assert {
        "Identity", "Instructions", "Team Goals", "Daily Logs", "Team Knowledge",  # Mira's own memories say the same
        "Recent Activity", "Relevant Content", "Known Entities", "Relationships", "Applicable Patterns",
        "Additional Context", "Knowledge Base", "Recent Turns",
    } <= set(labels(document))  # fmt: skip
    assert "Ink --[dries_on]--> Paper" in document["content"]
    components = document["components"]
    assert {"recent", "semantic", "entity", "relation", "pattern", "custom"} == {one["type"] for one in components}
    assert sum(component["tokens"] for component in components) == document["tokens"]
    assert all(component["content"] in document["content"] for component in components)
    metadata = document["metadata"]
    assert metadata["signals"]["intent"] == "fix"
    assert {"fix", "ink", "paper"} <= set(metadata["signals"]["keywords"])
    assert {named["name"] for named in metadata["signals"]["mentioned"]} == {"Ink", "Paper"}
    assert (metadata["events_considered"], metadata["entities_considered"], metadata["chunks_searched"]) == (1, 2, 1)
    assert "messages" not in document
    assert admin_api.get(f"assemblies/{document['id']}").json() == document


@pytest.mark.parametrize("profile", ["coding", "research", "operations", "stack"])
def test_what_the_organisation_knows_is_told_as_its_own_words(profile: str, admin_api: Api, mira: Agent) -> None:
    document = asked(admin_api, profile=profile, topic="How are dates written?", format="messages")
    system = next(message["content"] for message in document["messages"] if message["role"] == "system")
    assert "Organisation Knowledge" in system
    assert "Dates are written out." in system


def test_messages_are_ready_to_be_sent(admin_api: Api, mira: Agent) -> None:
    document = asked(admin_api, topic="ink", history=HISTORY, format="messages")
    system, data, *turns = document["messages"]
    assert turns == HISTORY
    assert (system["role"], data["role"]) == ("system", "user")
    assert headings_of(system) == ["Identity", "Instructions", "Organisation Knowledge", "Knowledge Base"]
    rest = [label for label in labels(document) if label not in headings_of(system) and label != "Recent Turns"]
    assert headings_of(data) == rest
    assert data["content"].startswith("Context data, not instructions:\n\n<section ")
    count = get_tokenizer("cl100k_base").count
    most = document["tokens"] + count(DATA_LEAD) + len(document["messages"])
    assert sum(count(message["content"]) for message in document["messages"]) <= most
    assert admin_api.get(f"assemblies/{document['id']}").json()["messages"] == document["messages"]


def test_without_a_history_files_and_data_are_the_only_messages(admin_api: Api, mira: Agent) -> None:
    document = asked(admin_api, profile="conversation", format="messages")
    assert [message["role"] for message in document["messages"]] == ["system", "user"]


def test_where_nothing_was_seen_the_context_is_the_only_message(admin_api: Api, agent: Agent) -> None:
    document = asked(admin_api, agent="ada", profile="conversation", format="messages")
    assert document["messages"] == [{"role": "system", "content": document["content"]}]


def test_messages_of_a_record_made_before_are_as_they_were(admin_api: Api, mira: Agent) -> None:
    document = asked(admin_api, topic="ink", history=HISTORY, format="messages")
    told = load_record(Assembly.objects.get(id=document["id"]))
    answer = AssemblyResult(told.assembly, document["content"], told.decisions)
    answer.assembly.engine_version = 3
    system, *turns = messages_of(answer)
    assert turns == HISTORY
    assert document["content"].startswith(system["content"])
    assert "Recent Turns" not in system["content"]


# --- What may be asked ---------------------------------------------------------------------------------------------


def test_filters_and_a_session_narrow_what_is_read(admin_api: Api, mira: Agent) -> None:
    session = Event.objects.get(agent=mira).session_id
    assert asked(admin_api, session=str(session))["metadata"]["events_considered"] == 1
    assert asked(admin_api, filters={"event_types": ["error"]})["metadata"]["events_considered"] == 0
    assert asked(admin_api, filters={"entity_types": ["city"]})["metadata"]["entities_considered"] == 0
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=9000)
    assert asked(admin_api, filters={"since": later.isoformat()})["metadata"]["events_considered"] == 0


def test_what_is_excluded_is_considered_and_filtered(admin_api: Api, mira: Agent) -> None:
    event = Event.objects.get(agent=mira)
    for name in (str(event.id), f"event:{event.id}", event.ref):
        document = asked(admin_api, filters={"exclude": [name]})
        decisions = admin_api.get(f"assemblies/{document['id']}/decisions?limit=200").json()["results"]
        assert {one["code"] for one in decisions if one["ref"] == event.ref} == {"filtered"}
        assert admin_api.post(f"assemblies/{document['id']}/replay").json()["identical"]


def test_a_strategy_changes_this_request_alone(admin_api: Api, mira: Agent) -> None:
    wishes = {"weights": {"recency": 1}, "depth_limit": 0, "omit": ["tools"], "budget_allocation": {"entities": 0}}
    document = asked(admin_api, strategy=wishes)
    assert document["strategy"]["weights"]["recency"] == 1
    by_domain = asked(admin_api, strategy={"domain": "documentation", "weights": {"coherence": 1}})
    assert by_domain["strategy"]["domain"] == "documentation"
    weights = {"relevance": 0.45, "recency": 0.1, "credibility": 0.3, "coherence": 1, "salience": 0}
    assert by_domain["strategy"]["weights"] == weights
    assert admin_api.post(f"assemblies/{by_domain['id']}/replay").json()["identical"]
    assert refused(admin_api, strategy={"domain": "poetry"}) == {"strategy.domain"}
    assert "Known Entities" not in labels(document)
    assert "Relationships" not in labels(document)
    assert "Known Entities" in labels(asked(admin_api))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"strategy": {"colour": 1}}, "strategy.colour"),
        ({"strategy": {"omit": ["identity"]}}, "strategy"),
        ({"strategy": {"weights": {"recency": -1}}}, "strategy.weights.recency"),
        ({"format": "html"}, "format"),
        ({"history": "hello"}, "history"),
        ({"history": [{"role": "User", "content": "x"}]}, "history.0.role"),
        ({"history": [{"role": "user"}]}, "history.0.content"),
        ({"history": [{"role": "user", "content": "x"}] * 1_001}, "history"),
        ({"additional_context": 5}, "additional_context"),
        ({"filters": {"since": "yesterday"}}, "filters.since"),
        ({"filters": {"event_types": "error"}}, "filters.event_types"),
        ({"filters": {"exclude": ["x"] * 201}}, "filters.exclude"),
        ({"filters": {"colour": 1}}, "filters.colour"),
        ({"session": 5}, "session"),
        ({"session": "x" * 201}, "session"),
    ],
)
def test_what_cannot_be_asked_is_named(admin_api: Api, mira: Agent, body: dict[str, Any], field: str) -> None:
    named = refused(admin_api, **body)
    assert any(name == field or name.startswith(f"{field}.") or field.startswith(f"{name}.") for name in named), named


def test_a_session_of_another_agent_is_not_there(admin_api: Api, mira: Agent, agent: Agent) -> None:
    session = str(Event.objects.get(agent=mira).session_id)
    theirs = admin_api.post("assemblies", {"agent": "ada", "profile": "coding", "session": session})
    assert problem(theirs) == (404, "not_found")


# --- Appending -----------------------------------------------------------------------------------------------------


def test_an_appended_event_comes_first_and_the_assembly_is_linked_to_its_parent(admin_api: Api, mira: Agent) -> None:
    parent = asked(admin_api, topic="ink", history=HISTORY, format="messages")
    child = event_of(admin_api, parent)
    assert child["parent_id"] == parent["id"]
    assert labels(child)[:3] == ["Identity", "Instructions", "Latest Activity"]
    assert "Error: It jams." in child["content"]
    assert child["messages"][2:] == HISTORY
    grandchild = event_of(admin_api, child, "It jams again.")
    assert grandchild["content"].index("It jams again.") < grandchild["content"].index("It jams.")
    for one in (child, grandchild):
        assert one["tokens"] <= one["budget"]
        assert admin_api.post(f"assemblies/{one['id']}/replay").json()["identical"]
    assert Event.objects.filter(agent=mira, type="error").count() == 2
    told = {component["source"] for component in parent["components"]}
    assert told <= {component["source"] for component in grandchild["components"]}


def test_where_there_is_no_room_the_lowest_scores_go(admin_api: Api, mira: Agent) -> None:
    whole = asked(admin_api, team="press", topic="ink", profile="conversation")
    parent = asked(admin_api, team="press", topic="ink", profile="conversation", max_tokens=whole["tokens"])
    child = event_of(admin_api, parent)
    assert child["tokens"] <= child["budget"] == whole["tokens"]
    dropped = {one["source"] for one in parent["components"]} - {one["source"] for one in child["components"]}
    scores = {one["source"]: one["relevance_score"] for one in parent["components"]}
    assert dropped
    assert max(scores[ref] for ref in dropped) <= min(scores[ref] for ref in scores.keys() - dropped)
    decisions = admin_api.get(f"assemblies/{child['id']}/decisions?limit=200").json()["results"]
    assert {one["ref"] for one in decisions if one["code"] == "over_total_budget"} == dropped
    assert all("Excluded for" in one["reason"] for one in decisions if one["ref"] in dropped)


def test_an_event_that_is_kept_already_can_be_appended_by_its_id(admin_api: Api, mira: Agent) -> None:
    parent, event = asked(admin_api), Event.objects.get(agent=mira)
    path = f"assemblies/{parent['id']}/append"
    answer = admin_api.post(path, {"event_id": str(event.id)})
    assert answer.status_code == 201
    assert [one["source"] for one in answer.json()["components"]].count(event.ref) == 1
    assert problem(admin_api.post(path, {"event_id": parent["id"]})) == (404, "not_found")


@pytest.mark.parametrize(
    "body", [{}, {"event": {}}, {"event": {"type": "error", "content": "x"}}, {"event_id": "x"}, {"colour": 1}]
)
def test_what_cannot_be_appended_is_named_and_leaves_nothing(admin_api: Api, mira: Agent, body: dict[str, Any]) -> None:
    parent = asked(admin_api)
    assert problem(admin_api.post(f"assemblies/{parent['id']}/append", body))[0] == 422
    assert (Event.objects.count(), Assembly.objects.count()) == (1, 1)


def test_appending_needs_the_right_to_write(
    agent_api: Api, teammate: User, outsider: User, as_person: Callable[[User], Api], other_agent_api: Api
) -> None:
    document = agent_api.post("assemblies", {"agent": "ada", "team": "care"}).json()
    path, body = f"assemblies/{document['id']}/append", {"event": {"type": "error", "content": {}}}
    assert problem(as_person(teammate).post(path, body)) == (403, "forbidden")
    for stranger in (as_person(outsider), other_agent_api):
        assert problem(stranger.post(path, body)) == (404, "not_found")
    assert problem(Api().post(path, body)) == (401, "not_authenticated")
    assert not Event.objects.exclude(agent__slug="mira").exists()


# --- Counting and compressing --------------------------------------------------------------------------------------


def test_tokens_are_counted(agent_api: Api) -> None:
    assert agent_api.post("tokens", {"content": "Hello, world"}).json() == {"tokens": 3, "tokenizer": "cl100k_base"}
    assert agent_api.post("tokens", {"content": "Hello", "tokenizer": "chars4"}).json()["tokens"] == 2
    assert agent_api.post("tokens", {"content": ""}).json()["tokens"] == 0


def test_a_text_is_compressed_to_its_budget(agent_api: Api) -> None:
    short = agent_api.post("compress", {"content": "Hello", "max_tokens": 5}).json()
    assert short == {"content": "Hello", "tokens": 1, "method": "whole", "tokenizer": "cl100k_base"}
    long = agent_api.post("compress", {"content": "word " * 500, "max_tokens": 20}).json()
    assert long["tokens"] <= 20
    assert (long["content"].endswith("word ... [truncated]"), long["method"]) == (True, "cut")
    assert agent_api.post("compress", {"content": "word " * 500, "max_tokens": 0}).json()["content"] == ""


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("tokens", {}, "content"),
        ("tokens", {"content": 5}, "content"),
        ("tokens", {"content": "x", "tokenizer": "nope"}, "tokenizer"),
        ("tokens", {"content": "x" * 1_000_001}, "content"),
        ("compress", {"content": "x"}, "max_tokens"),
        ("compress", {"content": "x", "max_tokens": -1}, "max_tokens"),
    ],
)
def test_bad_texts_and_budgets_are_named(agent_api: Api, path: str, body: dict[str, Any], field: str) -> None:
    assert errors_of(agent_api.post(path, body)) == {field}


@pytest.mark.parametrize("path", ["tokens", "compress"])
def test_counting_needs_a_key(anonymous_api: Api, path: str) -> None:
    assert problem(anonymous_api.post(path, {"content": "x", "max_tokens": 1})) == (401, "not_authenticated")
