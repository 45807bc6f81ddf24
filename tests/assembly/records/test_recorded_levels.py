"""Levels of detail are recorded by value: a replay needs neither the texts nor the stored levels."""

import pytest
from django.db import connection

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.models import Assembly, Piece, StoredText, TextLevel
from assembly.pipeline.levels import _cache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.encoding import LEVELS_COLUMN
from assembly.records.reader import load_record, replay
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.long_texts import LONG, OTHER, extracted, run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(db: None) -> Agent:
    agent = agent_create(slug="ada", name="Ada", teams=[])
    texts = [f"{LONG} {number}" for number in range(3)] + [OTHER, "Short.", f"{OTHER} {LONG}"]
    memories_create(owner=agent, facts=[MemoryFacts(kind="message", text=text) for text in texts], principal=SYSTEM)
    return agent


def told(agent: Agent, profile: str, max_tokens: int) -> Assembly:
    asked = AssemblyRequest(topic="Who recommended the event?", profile=profile, max_tokens=max_tokens, now=NOW)
    return assemble(agent=agent, principal=SYSTEM, asked=asked).assembly


@pytest.mark.parametrize("max_tokens", [60, 200, 4_000])
@pytest.mark.parametrize("derived_before", [True, False])
def test_a_replay_is_identical_when_everything_is_gone(agent: Agent, max_tokens: int, derived_before: bool) -> None:
    if derived_before:
        run_jobs()
    assembly = told(agent, "memory", max_tokens)
    before = load_record(Assembly.objects.get(id=assembly.id))
    levels = {one.text: {level: short.text for level, short in one.levels.items()} for one in before.inputs.candidates}
    assert levels[OTHER] == extracted(OTHER)
    assert levels["Short."] == {}
    agent_delete(agent=agent, principal=SYSTEM)
    assert not TextLevel.objects.exists()
    _cache.clear()
    again = load_record(Assembly.objects.get(id=assembly.id))
    assert again.inputs.candidates == before.inputs.candidates
    assert replay(again).identical
    decisions = again.inputs.uncounted().assembled().decisions
    assert [one.detail for one in decisions] == [one.detail for one in before.decisions]


def test_the_same_context_with_and_without_stored_levels(agent: Agent) -> None:
    first = told(agent, "memory", 250)
    run_jobs()
    _cache.clear()
    second = told(agent, "memory", 251)
    assert bytes(first.sha256) == bytes(told(agent, "memory", 250).sha256)
    assert second.tokens <= 251


def test_a_record_without_levels_has_nothing_of_them(agent: Agent) -> None:
    assembly = told(agent, "conversation", 4_000)
    assert LEVELS_COLUMN not in assembly.contents["decisions"]
    assert not Piece.objects.filter(ref__startswith="summary:").exists()
    assert len(assembly.told) + len(assembly.omitted) == len(load_record(assembly).decisions) + 1, "and the profile"


def test_levels_in_records_are_no_items(agent: Agent) -> None:
    told(agent, "memory", 200)
    refs = set(Piece.objects.filter(ref__startswith="summary:").values_list("named", flat=True))
    assert refs
    assert all(ref.startswith("summary:memory:") for ref in refs)
    texts = {bytes(sha256) for sha256 in Piece.objects.values_list("text_sha256", flat=True)}
    assert StoredText.objects.filter(sha256__in=texts).count() == len(texts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM text_levels")
        assert cursor.fetchone() == (0,), "a context stores no levels"
