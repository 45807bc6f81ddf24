"""Whoever counts decisions reads them without the texts, and counts the same as of whole records."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from msgspec import structs

from agents.models import Agent
from agents.services import agent_create
from assembly.models import Assembly
from assembly.monitoring.alerts.findings import findings
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.decisions_alone import load_decisions_or_errors
from assembly.records.reader import StoredAssembly, load_record
from assembly.records.recorded_quality import quality_of_record
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.long_texts import LONG, OTHER

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(db: None) -> Agent:
    agent = agent_create(slug="ada", name="Ada", teams=[])
    texts = [*(f"{LONG} {number}" for number in range(3)), OTHER, "Short.", f"{OTHER} {LONG}"]
    memories_create(owner=agent, facts=[MemoryFacts(kind="message", text=text) for text in texts], principal=SYSTEM)
    return agent


def decisions_alone(assembly: Assembly) -> StoredAssembly:
    (alone,) = load_decisions_or_errors([Assembly.objects.get(id=assembly.id)])
    assert isinstance(alone, StoredAssembly)
    return alone


@pytest.mark.parametrize("profile", ["conversation", "memory", "coding"])
@pytest.mark.parametrize("max_tokens", [30, 200, 4_000])
def test_decisions_are_those_of_the_whole_record(agent: Agent, profile: str, max_tokens: int) -> None:
    asked = AssemblyRequest(topic="Who recommended the event?", profile=profile, max_tokens=max_tokens, now=NOW)
    assembly = assemble(agent=agent, principal=SYSTEM, asked=asked).assembly
    whole, alone = load_record(Assembly.objects.get(id=assembly.id)), decisions_alone(assembly)
    assert len(whole.decisions) > 5
    assert alone.decisions == tuple(
        one if one.included else structs.replace(one, signals=()) for one in whole.decisions
    )
    assert [(one.ref, one.kind) for one in alone.inputs.candidates] == [
        (one.ref, one.kind) for one in whole.inputs.candidates
    ]
    assert quality_of_record(alone) == quality_of_record(whole)
    assert findings(alone) == findings(whole)


def test_no_text_is_read(agent: Agent) -> None:
    assembly = assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest(topic="event", now=NOW)).assembly
    with CaptureQueriesContext(connection) as captured:
        alone = decisions_alone(assembly)
    assert captured.captured_queries
    assert not [one for one in captured.captured_queries if "stored_texts" in one["sql"]]
    assert {one.text for one in alone.inputs.candidates} == {""}
