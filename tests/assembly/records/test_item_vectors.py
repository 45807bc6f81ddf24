"""A new record holds how well its items fit the topic and each other, by vectors of the bundled embedder."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.models import Agent
from assembly.engine.codes import Code
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, Decision
from assembly.models import Assembly, text_hash
from assembly.pipeline import services
from assembly.pipeline.append_event import append_event
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records import item_vectors, record
from assembly.records.item_vectors import MAX_CHARACTERS, MAX_ITEMS, mean_coherence
from assembly.records.reader import load_record
from assembly.records.recorded_quality import quality_of_record
from config.http.cpu_budget import TooCostly
from memories.services import events_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.assembly.conflicts.conflict_factories import remember

INTERNAL, RESTRICTED = Sensitivity.INTERNAL, Sensitivity.RESTRICTED
TOPIC = "volcanoes of Iceland"
FERRY, BOAT = "The ferry leaves the harbour at eight.", "The ferry to the island leaves at noon."
PROFILE = Profile(
    name="test",
    version=1,
    sections=(
        Section(key="memories", label="Memories", layer="L5", source="agent_memories", shape="lines"),
        Section(key="goals", label="Goals", layer="L2", source="team_files", shape="text"),
    ),
)


@pytest.fixture(autouse=True)
def nothing_cached() -> Iterator[None]:
    item_vectors._cache.clear()
    yield
    item_vectors._cache.clear()


def coherence(*texts: str, topic: str = TOPIC, section: str = "memories", **signals: float) -> Any:
    """The mean c of items with these texts, all included, with these signals."""
    offered = [Candidate(ref=f"memory:{place}@1", section=section, text=text) for place, text in enumerate(texts)]
    decisions = [Decision(one.ref, section, Code.FITS, signals=tuple(signals.items())) for one in offered]
    return mean_coherence(topic, PROFILE, offered, decisions, INTERNAL)


def test_items_about_one_thing_fit_each_other_however_far_the_topic() -> None:
    assert coherence(FERRY, BOAT) == 1.0


def test_an_item_alone_fits_its_topic_or_nothing() -> None:
    assert coherence(FERRY) < 0.2
    assert coherence(FERRY, topic="When does the ferry leave?") > 0.8
    assert coherence(FERRY, "Olives grow in Greece.") < 0.3


def test_overlap_of_words_counts_only_without_anything_to_compare_with() -> None:
    assert coherence(FERRY, coherence=0.9) < 0.2
    assert coherence(FERRY, topic="", coherence=0.9) == 0.9
    assert coherence(FERRY, topic="") is None


def test_a_known_nearness_to_the_topic_counts() -> None:
    assert coherence(FERRY, similarity=0.4, coherence=0.0) == 1.0


def test_a_whole_file_is_no_item_unless_its_fit_is_known() -> None:
    assert coherence(FERRY, BOAT, section="goals") is None
    assert coherence(FERRY, BOAT, section="goals", coherence=0.0) == 1.0


def test_an_excluded_item_is_not_compared() -> None:
    offered = [Candidate(ref=f"memory:{text}@1", section="memories", text=text) for text in (FERRY, BOAT)]
    decisions = [Decision(offered[0].ref, "memories", Code.FITS), Decision(offered[1].ref, "memories", Code.EXPIRED)]
    assert mean_coherence("", PROFILE, offered, decisions, INTERNAL) is None


def test_an_item_in_two_sections_is_not_compared_with_itself() -> None:
    offered = [Candidate(ref="memory:1@1", section=section, text=FERRY) for section in ("memories", "others")]
    decisions = [Decision(one.ref, one.section, Code.FITS) for one in offered]
    assert mean_coherence("", PROFILE, offered, decisions, INTERNAL) is None


def test_the_first_items_count_above_the_limit() -> None:
    few = [f"{FERRY} {place}" for place in range(MAX_ITEMS)]
    assert coherence(*few, "Olives grow in Greece.", "A violin has four strings.") == coherence(*few) == 1.0
    assert len(item_vectors._cache._entries) == MAX_ITEMS + 1, "with the topic"


def test_the_beginning_of_a_long_text_counts() -> None:
    begin = f"{FERRY} " * (MAX_CHARACTERS // len(FERRY))
    assert coherence(begin[:MAX_CHARACTERS] + "Olives grow in Greece. " * 500, BOAT) == coherence(begin, BOAT)
    assert text_hash(begin[:MAX_CHARACTERS]) in item_vectors._cache


def test_a_text_without_known_words_has_no_vector() -> None:
    assert coherence(" ", "") is None
    assert coherence(FERRY, " ", BOAT) == 1.0


@pytest.mark.parametrize(("own", "least"), [(RESTRICTED, INTERNAL), (INTERNAL, RESTRICTED)])
def test_nothing_of_a_restricted_text_is_cached(own: int, least: int) -> None:
    offered = [
        Candidate(ref=f"memory:{text}@1", section="memories", text=text, sensitivity=level)
        for text, level in ((FERRY, own), (BOAT, INTERNAL))
    ]
    decisions = [Decision(one.ref, one.section, Code.FITS) for one in offered]
    assert mean_coherence(TOPIC, PROFILE, offered, decisions, least) == 1.0
    assert text_hash(FERRY) not in item_vectors._cache
    assert (text_hash(BOAT) in item_vectors._cache) == (least == INTERNAL)


def test_a_known_text_is_not_embedded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, seen = coherence(FERRY, BOAT), []

    def note(texts: list[str]) -> list[None]:
        seen.extend(texts)
        return [None] * len(texts)

    monkeypatch.setattr(item_vectors, "embed", note)
    assert coherence(FERRY, BOAT) == first
    assert seen == []


def test_without_time_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: list[str]) -> None:
        raise TooCostly("stopped")

    monkeypatch.setattr(item_vectors, "embed", stop)
    assert coherence(FERRY, BOAT) is None


def made(agent: Agent, **request: Any) -> Assembly:
    asked = AssemblyRequest(**{"topic": TOPIC, "profile": "memory", **request})
    return assemble(agent=agent, asked=asked, principal=SYSTEM).assembly


def score(assembly: Assembly) -> float | None:
    quality = quality_of_record(load_record(Assembly.objects.get(id=assembly.id)))
    assert quality
    return quality.coherence_score


@pytest.mark.django_db
def test_a_record_holds_its_coherence_and_an_older_one_is_measured_as_before(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (FERRY, BOAT, f"{FERRY} {BOAT}"):
        remember(agent, text)
    new = made(agent, topic="the quay")
    assert new.request["coherence"] == score(new) == 1.0
    monkeypatch.setattr(record, "mean_coherence", lambda *_: None)
    old = made(agent, topic="a quay")
    assert "coherence" not in old.request
    assert score(old) != 1.0


@pytest.mark.django_db
def test_a_context_that_is_late_is_not_compared(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(agent, FERRY)
    remember(agent, BOAT)
    monkeypatch.setattr(services, "record", lambda **facts: record.record(**{**facts, "seconds_left": 0.0}))
    assert "coherence" not in made(agent, topic="the ferry").request


@pytest.mark.django_db
def test_an_appended_event_is_compared_with_the_items(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(agent, FERRY)
    first = made(agent, topic="the ferry")
    facts = {"type": "message", "content": {"text": "Olives grow in Greece."}}
    [event] = events_create(agent=agent, facts=[facts], principal=SYSTEM)
    second = append_event(assembly=first, event=event, principal=SYSTEM).assembly
    assert second.request["coherence"] < first.request["coherence"]
    monkeypatch.setattr(record, "mean_coherence", lambda *_: None)
    assert "coherence" not in append_event(assembly=first, event=event, principal=SYSTEM).assembly.request
