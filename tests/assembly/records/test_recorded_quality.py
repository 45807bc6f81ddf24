"""A record holds the completeness of its own text, so that whoever follows it need not replay it."""

import pytest

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.append_event import append_event
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records import recorded_quality
from assembly.records.reader import load_record
from assembly.records.recorded_quality import quality_of_record
from memories.services import events_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db


def completeness_of(assembly: Assembly) -> float:
    quality = quality_of_record(load_record(Assembly.objects.get(id=assembly.id)))
    assert quality
    return quality.completeness


def test_an_appended_event_that_names_an_entity_makes_the_context_more_complete(luna: Agent) -> None:
    asked = AssemblyRequest(topic="colours", profile="coding", entities=("Zanzibar", "Quintessence"))
    first = assemble(agent=luna, asked=asked, principal=SYSTEM)
    assert completeness_of(first.assembly) == 0.0
    facts = {"type": "message", "content": {"text": "We go to Zanzibar."}}
    [event] = events_create(agent=luna, facts=[facts], principal=SYSTEM)
    second = append_event(assembly=first.assembly, event=event, principal=SYSTEM)
    assert completeness_of(second.assembly) == 0.5


def test_a_new_record_is_not_replayed_for_its_quality(luna: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = AssemblyRequest(topic="colours", profile="coding", entities=("Zanzibar",))
    answer = assemble(agent=luna, asked=asked, principal=SYSTEM)

    def refuse(*_: object) -> str:
        raise AssertionError("replayed")

    monkeypatch.setattr(recorded_quality, "content_of", refuse)
    assert completeness_of(answer.assembly) == 0.0
