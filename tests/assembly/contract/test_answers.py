"""What a request of the contract asks for is what its answer has: budgets, scopes, levels, weights, entities, texts."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import agent_create
from assembly.engine.profile import DOMAIN_WEIGHTS
from assembly.engine.types import field_values
from assembly.models import Assembly
from memories.models import Entity
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.contract.contract_checks import ask, codes_of, sent
from tests.assembly.contract.test_validation import POLICY
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]
LONG = (
    "The ink of the morning edition dries on the upper rack. The harbour master rings the bell at seven. Nobody may "
    "touch a sheet before noon. Three crates of paper stand behind the door of the press room. Ada keeps the keys of "
    "the cellar. A wet sheet sticks to the next one, and both are lost. On rainy days the fan runs until the evening. "
    "The old press needs oil every second week. Its left wheel was repaired in March. Readers complained about grey "
    "letters on page four. The new ink costs twice as much as the old one. It smells of linseed."
)


@pytest.fixture
def full_api(mira: Agent, mira_api: Api) -> Api:
    """The key of an agent that remembers more than a small budget has room for."""
    facts = [MemoryFacts(kind="fact", text=f"Rack {number}: {LONG}") for number in range(5)]
    memories_create(owner=mira, facts=facts, principal=SYSTEM)
    return mira_api


def test_everything_of_a_fragment_is_there(mira_api: Api) -> None:
    fragments = ask(mira_api)["fragments"]
    memory = next(one for one in fragments if one["id"].startswith("memory:"))
    assert memory["id"].endswith("@1")
    assert (memory["source_layer"], memory["layer"], memory["lod"]) == ("experience", "L4", "atomic")
    assert 0 < memory["metadata"]["relevance"] <= 1
    assert {one["metadata"]["section"] for one in fragments} >= {"agent_memories", "goals", "organisation"}


def test_the_priority_is_the_weighted_mean_of_the_measures_of_the_fragment(mira_api: Api) -> None:
    fragments = ask(mira_api)["fragments"]
    memory = next(one for one in fragments if one["id"].startswith("memory:"))
    weights = {"relevance": 0.4, "recency": 0.2, "credibility": 0.25, "coherence": 0.15}
    mean = sum(weight * memory["metadata"][name] for name, weight in weights.items())
    assert memory["priority_score"] == pytest.approx(mean)
    assert 0 < memory["metadata"]["similarity"] <= 1


def test_without_an_intent_nothing_is_searched_for(mira_api: Api) -> None:
    metadata = ask(mira_api, intent="")["metadata"]
    assert 0 <= metadata["source_coverage"] <= 1
    agent = agent_create(slug="new", name="New", teams=[])
    assert agent.slug == "new"


@pytest.mark.parametrize("budget", [0, 1, 40, 150, 400, 200_000])
def test_a_budget_is_never_exceeded_and_what_has_no_room_is_named(full_api: Api, budget: int) -> None:
    document = ask(full_api, budgets={"tokens_max": budget}, format="markdown")
    metadata = document["metadata"]
    assert metadata["total_tokens"] <= budget
    assert not metadata["overrun"]
    assert ("BUDGET_EXCEEDED" in codes_of(document)) == (budget < 200_000)
    shortened = [trim for trim in metadata["trims"] if trim["code"] == "summarised"]
    assert all(trim["steps"] for trim in shortened)
    levels = {one["id"]: one["lod"] for one in document["fragments"]}
    assert {levels[trim["id"]] for trim in shortened} <= {"macro", "micro"}
    assert shortened or budget != 400
    inside = {one["id"] for one in document["fragments"]}
    left_out = {trim["id"] for trim in metadata["trims"] if not trim["token_cost"]}
    assert not left_out & inside
    assert sent(full_api, budgets={"tokens_max": budget}, format="markdown").json() == document


@pytest.mark.parametrize(
    ("named", "scopes"),
    [
        (["L2"], {"library"}),
        (["noosphere"], {"noosphere"}),
        (["experience", "L3"], {"workshop", "experience"}),
        (["L4", "experience"], {"experience"}),
        (["L1", "L2", "L3", "L4"], {"noosphere", "library", "workshop", "experience"}),
    ],
)
def test_only_the_scopes_that_were_asked_are_in(mira_api: Api, named: list[str], scopes: set[str]) -> None:
    document = ask(mira_api, source_scope=named)
    assert {fragment["source_layer"] for fragment in document["fragments"]} == scopes
    for scope, coverage in document["metadata"]["coverage"].items():
        assert coverage["asked"] == (coverage["layer"] in named or scope in named)
        assert coverage["asked"] or coverage["returned"] == 0
    assert document["metadata"]["source_coverage"] == 1


def test_a_scope_from_which_nothing_is_in_counts_against_the_coverage(mira_api: Api) -> None:
    metadata = ask(mira_api, budgets={"tokens_max": 0})["metadata"]
    assert metadata["source_coverage"] == 0


def test_what_a_profile_requires_stays_and_belongs_to_no_scope(mira_api: Api) -> None:
    document = ask(mira_api, profile="conversation", source_scope=["L4"], budgets={"tokens_max": 3})
    first = document["fragments"][0]
    assert (first["source_layer"], first["layer"], first["metadata"]["section"]) == (None, None, "identity")
    assert document["metadata"]["overrun"]
    assert codes_of(document)[0] == "BUDGET_EXCEEDED"
    assert document["metadata"]["total_tokens"] > 3


def test_a_domain_weights_the_measures(mira_api: Api) -> None:
    document = ask(mira_api, domain="research")
    record = mira_api.get(f"assemblies/{document['metadata']['assembly']}").json()
    assert record["strategy"]["weights"] == field_values(DOMAIN_WEIGHTS["research"])
    assert record["strategy"]["domain"] == "research"
    assert mira_api.post(f"assemblies/{record['id']}/replay").json()["identical"]


@pytest.mark.parametrize("profile", ["memory", "coding", "conversation"])
@pytest.mark.parametrize("level", ["macro", "micro", "atomic", "adaptive"])
def test_a_level_may_be_preferred_in_every_profile(full_api: Api, profile: str, level: str) -> None:
    document = ask(full_api, profile=profile, lod_preference=level)
    record = full_api.get(f"assemblies/{document['metadata']['assembly']}").json()
    assert record["strategy"]["lod"] == level


def test_entities_are_mentioned_even_if_the_intent_does_not_name_them(mira_api: Api, mira: Agent) -> None:
    def mentioned(document: dict[str, Any]) -> set[str]:
        record = mira_api.get(f"assemblies/{document['metadata']['assembly']}").json()
        return {one["name"] for one in record["metadata"]["signals"]["mentioned"]}

    Entity.objects.create(agent=mira, type="place", name="Old Quay", names=["old quay"])
    assert mentioned(ask(mira_api, "one", intent="Hello")) == set()
    assert mentioned(ask(mira_api, "two", intent="Hello", entities=[' "OLD   Quay\'s" ', "Nobody"])) == {"Old Quay"}
    intent = "Where is the old quay?"
    assert mentioned(ask(mira_api, "three", intent=intent, entities=["Nobody"])) == {"Old Quay"}
    again = mira_api.get(f"assemblies/{Assembly.objects.latest('created').id}/rerun")
    assert again.status_code == 200


def test_the_policy_is_recorded_with_the_request(mira_api: Api) -> None:
    document = ask(mira_api, kv_policy=POLICY)
    assert Assembly.objects.get(id=document["metadata"]["assembly"]).request["kv_policy"] == POLICY
    other = ask(mira_api, "two")
    assert "kv_policy" not in Assembly.objects.get(id=other["metadata"]["assembly"]).request


def test_the_whole_text_is_there_on_wish(mira_api: Api) -> None:
    plain, markdown, messages = (
        ask(mira_api, form, format=form)["metadata"] for form in ("fragments", "markdown", "messages")
    )
    assert "content" not in plain
    assert "messages" not in markdown
    assert {message["role"] for message in messages["messages"]} == {"system", "user"}
    assert messages["content"] == markdown["content"]


def test_what_does_not_exist_is_refused_as_by_the_other_endpoint(mira_api: Api) -> None:
    assert errors_of(sent(mira_api, profile="nonsense")) == {"profile"}
    assert errors_of(sent(mira_api, profile="nonsense", source_scope=["L1"])) == {"profile"}
    assert errors_of(sent(mira_api, tokenizer="nonsense")) == {"tokenizer"}
    assert problem(sent(mira_api, session="nonsense")) == (404, "not_found")
    assert errors_of(mira_api.post("memory/assemble?x=1", {"request_id": "a", "intent": ""})) == {"x"}
    assert not Assembly.objects.exists()


def test_an_answer_from_the_cache_is_the_same_but_for_its_record(mira_api: Api, team: Team) -> None:
    first, second = (ask(mira_api, request_id, format="messages") for request_id in ("one", "two"))
    record = mira_api.get(f"assemblies/{second['metadata']['assembly']}").json()
    assert record["repeat_of_id"] == first["metadata"]["assembly"]
    for document in (first, second):
        for name in ("assembly", "assembly_time_ms"):
            del document["metadata"][name]
        del document["request_id"]
    assert first == second


def test_what_an_assembly_took_is_told(mira: Agent, mira_api: Api) -> None:
    memories_create(owner=mira, facts=[MemoryFacts(kind="fact", text="The ink is dry.")], principal=SYSTEM)
    with CaptureQueriesContext(connection) as sent_statements:
        metadata = ask(mira_api, "one")["metadata"]
    cost = metadata["cost"]
    assert 0 < cost["statements"] < len(sent_statements)
    assert cost["rows"] > 0
    assert cost.items() >= {"texts_sent": 0, "tokens_sent": 0, "tokens_received": 0}.items()
    record = mira_api.get(f"assemblies/{metadata['assembly']}").json()
    assert record["metadata"]["cost"] == cost


def test_what_was_read_a_second_time_is_told(mira: Agent, mira_api: Api) -> None:
    assert "second_round" not in ask(mira_api, entities=["Ink"])["metadata"]
    inks = [MemoryFacts(kind="fact", text=f"The ink of batch {number} is dry.") for number in range(30)]
    memories_create(
        owner=mira, facts=[MemoryFacts(kind="fact", text="Otto Brandt has the key."), *inks], principal=SYSTEM
    )
    metadata = ask(mira_api, "two", entities=["Otto Brandt"])["metadata"]
    told = metadata["second_round"]
    assert (told["outcome"], told["names"], told["completeness"]) == ("added", ["Otto Brandt"], 0)
    assert metadata["completeness"] == 1
    assert told["first"] + told["added"] == sum(one["returned"] for one in metadata["coverage"].values())
    assert sent(mira_api, "two", entities=["Otto Brandt"]).json()["metadata"] == metadata
