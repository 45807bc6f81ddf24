"""A context that names too few of the named entities, or has nothing of a scope, is read for a second time.

The profile of these tests keeps few memories in its first round, so that what is far from the topic is not found.
"""

import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from msgspec import structs
from prometheus_client import REGISTRY

from agents.models import Agent
from assembly.models import Assembly, StoredProfile
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import load_record, replay
from assembly.simulation.basis import ContextOwners, gather_basis
from assembly.simulation.simulate import simulate
from assembly.sources import SOURCES
from assembly.sources.time_budget import RoundClock, RoundCost
from memories.models import Entity, Event, Memory, Relation
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_create
from tests.assembly.failing_sources import Gather, dividing_by_zero, replaced, sleeping
from tests.assembly.one_of_each import everything
from tests.built_once import copy_of
from tests.client import Api
from tests.sensitivity.restricted_things import raise_level

pytestmark = [pytest.mark.usefixtures("mira"), pytest.mark.django_db]

TOPIC = "How long does the ink dry on the paper?"
OTTO = "Otto Brandt is reached in the workshop behind the station, on weekdays only."
PROFILE = """\
name: {name}
budget: 4000
ranker: default
second_round: {second}
scope_limits: {{experience: 6, library: 10}}
sections:
  - {{key: entities, heading: Entities, layer: L2, source: entities, shape: blocks}}
  - {{key: relations, heading: Relations, layer: L2, source: relations, shape: blocks}}
  - {{key: agent_memories, heading: Memories, layer: L4, source: agent_memories, shape: blocks}}
"""


@pytest.fixture(autouse=True)
def _no_older_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was assembled in another test was rolled back."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


@pytest.fixture(scope="module")
def mira_of_module(module_database: str) -> tuple[Agent, Team]:
    """An agent whose oldest memory is about somebody whom the topic does not name, and forty newer ones about ink."""
    agent, team = everything(timezone.now())
    memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=OTTO)], principal=SYSTEM)
    inks = [MemoryFacts(kind="fact", text=f"The ink of batch {n} dries on paper in {n} hours.") for n in range(40)]
    memories_create(owner=agent, facts=inks, principal=SYSTEM)
    for name, second in (("twice", "true"), ("once", "false")):
        content = PROFILE.format(name=name, second=second)
        file_create(file=StoredProfile(name=name, content=content), author=SYSTEM.author)
    return agent, team


@pytest.fixture
def mira(mira_of_module: tuple[Agent, Team], db: None) -> tuple[Agent, Team]:
    return copy_of(mira_of_module)


def context(mira: tuple[Agent, Team], profile: str = "twice", **wishes: Any) -> AssemblyResult:
    asked = AssemblyRequest(topic=wishes.pop("topic", TOPIC), profile=profile, **wishes)
    return assemble(agent=mira[0], team=mira[1], asked=asked, principal=SYSTEM)


def account(answer: AssemblyResult) -> dict[str, Any] | None:
    found: dict[str, Any] | None = answer.assembly.request.get("second_round")
    return found


def rounds(outcome: str) -> float:
    return REGISTRY.get_sample_value("memory_second_rounds_total", {"outcome": outcome}) or 0.0


def refs(answer: AssemblyResult) -> set[str]:
    return {one.ref for one in answer.decisions}


def signed_in(person: User) -> Client:
    browser = Client()
    browser.force_login(person)
    return browser


def on_the_second_reading(name: str, then: Gather) -> Gather:
    """The source as it is at first, and then this."""
    first, read = SOURCES[name].gather, [0]

    def gather(*asked: Any) -> Any:
        read[0] += 1
        return (first if read[0] == 1 else then)(*asked)

    return gather


def test_what_covers_a_missing_name_is_found_by_the_second_round(mira: tuple[Agent, Team]) -> None:
    before = rounds("added")
    once = context(mira, "once", entities=("Otto Brandt",))
    assert OTTO not in once.content
    assert account(once) is None
    assert once.assembly.request["completeness"] == 0
    twice = context(mira, entities=("Otto Brandt",))
    assert OTTO in twice.content
    assert twice.assembly.request["completeness"] == 1
    told = account(twice)
    assert told is not None
    assert told.items() >= {
        "outcome": "added", "completeness": 0, "names": ["Otto Brandt"], "scopes": [], "nearby": 0,
        "query": f"{TOPIC} Otto Brandt", "first": len(once.decisions),
    }.items()  # fmt: skip
    assert told["first"] + told["added"] == len(twice.decisions)
    assert refs(once) < refs(twice)
    (memories,) = [one for one in told["sources"] if one["name"] == "agent_memories"]
    assert memories["count"] >= memories["added"] >= 1
    assert memories["code"] is None
    assert sum(one["added"] for one in told["sources"]) == told["added"]
    assert rounds("added") == before + 1


def test_the_limits_are_doubled(mira: tuple[Agent, Team]) -> None:
    answer = context(mira, entities=("Otto Brandt",))
    told = account(answer)
    assert told is not None
    limits = {report["name"]: report["limit"] for report in answer.assembly.sources}
    pins = 20
    for source in told["sources"]:
        if source["name"] == "agent_memories":
            assert source["limit"] - pins == 2 * (limits["agent_memories"] - pins)
        else:
            assert source["limit"] >= 2 * limits[source["name"]]


def test_it_replays_from_its_record_alone(mira: tuple[Agent, Team]) -> None:
    answer = context(mira, entities=("Otto Brandt",))
    Memory.objects.update(text="Something else.")
    Entity.objects.update(properties={"since": "now"})
    again = replay(load_record(Assembly.objects.get(id=answer.assembly.id)))
    assert again.identical
    assert again.content == answer.content


def test_a_complete_context_is_read_once_and_costs_no_statement_more(mira: tuple[Agent, Team]) -> None:
    for profile in ("twice", "once"):
        context(mira, profile, entities=("Ink",))
    with CaptureQueriesContext(connection) as twice:
        answer = context(mira, entities=("Ink",), max_tokens=3_999)
    with CaptureQueriesContext(connection) as once:
        plain = context(mira, "once", entities=("Ink",), max_tokens=3_999)
    assert account(answer) is None
    assert answer.content == plain.content
    assert len(twice) == len(once)


def test_names_that_only_lack_room_are_not_searched_for(mira: tuple[Agent, Team]) -> None:
    memories_create(owner=mira[0], facts=[MemoryFacts(kind="fact", text=f"{TOPIC} Ask Zoe.")], principal=SYSTEM)
    answer = context(mira, entities=("Zoe",), max_tokens=12)
    assert "Zoe" not in answer.content
    assert account(answer) is None


def test_the_neighbours_of_a_missing_name_are_read(mira: tuple[Agent, Team]) -> None:
    agent, _ = mira
    for number in range(12):  # the ten most salient ones are read in any case
        Entity.objects.create(agent=agent, type="thing", name=f"Sheet {number}", salience=0.9)
    otto = Entity.objects.create(agent=agent, type="person", name="Otto Brandt", salience=0.1)
    shop, vault = (
        Entity.objects.create(agent=agent, type="place", name=name, salience=0.1, sensitivity=level)
        for name, level in (("Roller shop", Sensitivity.INTERNAL), ("Vault", Sensitivity.RESTRICTED))
    )
    for place in (shop, vault):
        Relation.objects.create(agent=agent, source=otto, target=place, type="works_in", sensitivity=place.sensitivity)
    far = Entity.objects.create(agent=agent, type="place", name="Harbour", salience=0.1)
    Relation.objects.create(agent=agent, source=shop, target=far, type="lies_at")
    answer = context(mira, entities=("Brandt",))  # no entity has this very name
    told = account(answer)
    assert told is not None
    assert told["nearby"] == 2
    assert {otto.ref, shop.ref} <= refs(answer)
    assert vault.ref not in refs(answer)
    assert "Otto Brandt" in answer.content
    assert otto.ref not in refs(context(mira, "once", entities=("Brandt",)))


def test_nothing_above_the_clearance_is_found(mira: tuple[Agent, Team]) -> None:
    raise_level(Memory, Memory.objects.get(text=OTTO).pk)
    answer = context(mira, entities=("Otto Brandt",))
    assert account(answer) is not None
    assert "Otto Brandt is reached" not in answer.content
    assert max(one.sensitivity for one in load_record(answer.assembly).inputs.candidates) <= Sensitivity.INTERNAL
    assert answer.assembly.sensitivity <= Sensitivity.INTERNAL


EVENTS = """\
name: events
second_round: true
sections: [{key: seen, heading: Seen, layer: L3, source: recent_events, shape: blocks, least_origin: person}]
"""


def test_a_scope_without_an_item_is_read_further(mira: tuple[Agent, Team]) -> None:
    agent, _ = mira
    Event.objects.all().delete()
    file_create(file=StoredProfile(name="events", content=EVENTS), author=SYSTEM.author)
    now = timezone.now()
    facts = {"agent": agent, "type": "message", "size": 9}
    earlier = now - datetime.timedelta(days=3)
    Event.objects.create(**facts, content={"text": "The key is under the mat."}, occurred_at=earlier, origin="person")
    assert account(context(mira, "events", topic="")) is None, "it is read whole"
    for number in range(60):
        Event.objects.create(**facts, content={"text": f"Tick {number}"}, occurred_at=now, origin="tool")
    answer = context(mira, "events", topic="")
    told = account(answer)
    assert told is not None
    assert (told["outcome"], told["scopes"], told["names"], told["query"]) == ("added", ["workshop"], [], "")
    assert "under the mat" in answer.content


def test_a_scope_of_which_there_is_nothing_is_not_read_again(mira: tuple[Agent, Team]) -> None:
    Event.objects.all().delete()
    file_create(file=StoredProfile(name="events", content=EVENTS), author=SYSTEM.author)
    assert account(context(mira, "events", topic="")) is None


@pytest.mark.parametrize(
    ("cost", "outcome"), [(RoundCost(3_600, 0, 0), "no_time"), (RoundCost(0, 3_600, 0), "stopped")]
)
def test_without_time_the_first_round_is_the_answer_and_says_so(
    mira: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch, cost: RoundCost, outcome: str
) -> None:
    once = context(mira, "once", entities=("Otto Brandt",))
    before = rounds(outcome)
    monkeypatch.setattr(RoundClock, "cost", lambda _: cost)
    answer = context(mira, entities=("Otto Brandt",))
    told = account(answer)
    assert told is not None
    assert (told["outcome"], told["added"], told["sources"]) == (outcome, 0, [])
    assert answer.content == once.content
    assert rounds(outcome) == before + 1
    monkeypatch.undo()
    later = context(mira, entities=("Otto Brandt",))
    assert "repeats" not in later.assembly.request, "another time, there may be time"
    assert OTTO in later.content


def test_a_source_that_fails_the_second_time_loses_nothing_of_the_first(
    mira: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    once = context(mira, "once", entities=("Otto Brandt",))
    replaced(monkeypatch, "agent_memories", on_the_second_reading("agent_memories", dividing_by_zero))
    answer = context(mira, entities=("Otto Brandt",))
    told = account(answer)
    assert told is not None
    codes = {one["name"]: one["code"] for one in told["sources"]}
    assert codes["agent_memories"] == "SOURCE_FAILED"
    assert codes["relations"] is None
    assert refs(once) <= refs(answer)
    assert answer.assembly.warnings == []


def test_a_source_that_hangs_the_second_time_is_cancelled_within_the_deadline(
    mira: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, "agent_memories", on_the_second_reading("agent_memories", sleeping))
    answer = context(mira, entities=("Otto Brandt",), budgets=RequestBudgets(time_ms=6_000))
    told = account(answer)
    assert told is not None
    assert "TIME_EXCEEDED" not in answer.assembly.warnings
    assert [one["code"] for one in told["sources"] if one["name"] == "agent_memories"] == ["SOURCE_TIMEOUT"]
    assert answer.content


def test_what_changed_between_the_rounds_stays_in_one_version(
    mira: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = SOURCES["agent_memories"].gather

    def edited(*asked: Any) -> Any:
        found = first(*asked)
        again = [replace_version(one) for one in found.candidates]
        return type(found)([*found.candidates, *again], found.limit)

    def replace_version(one: Any) -> Any:
        return structs.replace(one, ref=one.ref.replace("@1", "@2"), text=f"{one.text} Edited.")

    replaced(monkeypatch, "agent_memories", on_the_second_reading("agent_memories", edited))
    answer = context(mira, entities=("Otto Brandt",))
    items = [one.ref.partition("@")[0] for one in answer.decisions if one.ref.endswith("@1")]
    assert not {one.ref.partition("@")[0] for one in answer.decisions if one.ref.endswith("@2")} & set(items)


def test_a_preview_has_what_the_second_round_finds(mira: tuple[Agent, Team]) -> None:
    now = timezone.now()
    asked = AssemblyRequest(topic=TOPIC, profile="twice", entities=("Otto Brandt",))
    basis = gather_basis(ContextOwners(*mira), asked, now)
    assert simulate(basis).content == context(mira, entities=("Otto Brandt",), now=now).content


def test_only_the_profile_memory_comes_with_a_second_round() -> None:
    shipped = {name: find_profile(name) for name in SHIPPED}
    assert [name for name, profile in shipped.items() if profile.second_round] == ["memory"]
    assert [name for name, profile in shipped.items() if "second_round" in profile.to_dict()] == ["memory"]


def test_the_page_and_the_api_tell_the_account_to_those_who_may_see_the_context(
    mira: tuple[Agent, Team], admin_api: Api, admin: User, outsider: User, settings: Any
) -> None:
    answer = context(mira, entities=("Otto Brandt", "<b>Nobody"))
    id_ = answer.assembly.id
    document = admin_api.get(f"assemblies/{id_}").json()["metadata"]["second_round"]
    told = account(answer)
    assert told is not None
    assert document["names"] == ["Otto Brandt", "<b>Nobody"] == told["names"]
    assert {"error", "added", "count", "limit", "ms", "code", "name"} == document["sources"][0].keys()
    assert admin_api.get(f"assemblies/{context(mira, 'once').assembly.id}").json()["metadata"]["second_round"] is None
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"  # nothing has to be collected first
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": plain}}
    page = signed_in(admin).get(f"/contexts/{id_}/rules-and-sources/").content.decode()
    assert "Second round" in page
    assert "Otto Brandt, &lt;b&gt;Nobody" in page
    assert "further items were found" in page
    assert signed_in(outsider).get(f"/contexts/{id_}/rules-and-sources/").status_code == 404
