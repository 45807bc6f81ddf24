"""The contradiction rate of a context counts the items in unresolved conflicts, until a person decides."""

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.conflicts.services import conflict_resolve
from assembly.models import Assembly, Conflict
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.records.recorded_quality import quality_of_record
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember, run_jobs

pytestmark = pytest.mark.django_db


def rate(agent: Agent) -> float:
    asked = AssemblyRequest(topic="When does the support line open?", profile="memory", now=timezone.now())
    made = assemble(agent=agent, asked=asked, principal=SYSTEM).assembly
    quality = quality_of_record(load_record(Assembly.objects.get(id=made.id)))
    assert quality
    return quality.contradiction_rate


def test_a_conflict_counts_until_a_person_decides(agent: Agent) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY, credibility=0.9)
    assert rate(agent) == 0
    run_jobs()
    assert rate(agent) > 0
    conflict_resolve(conflict=Conflict.objects.get(), choice="left", principal=SYSTEM)
    assert rate(agent) == 0
