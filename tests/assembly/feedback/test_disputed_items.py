"""The contradiction rate of a context counts the items in unresolved conflicts, until a person decides."""

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.conflicts.services import conflict_resolve
from assembly.contexts.documents import assembly_document
from assembly.models import Assembly, Conflict
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.records.recorded_quality import quality_of_record
from assembly.records.warnings import flagged_conflicts
from assembly.sources.base import RequestFilters
from memories.services import facts_of, memory_update
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs

pytestmark = pytest.mark.django_db
TEN = "The support line opens at 10 in the morning."


def context(agent: Agent, filters: RequestFilters | None = None) -> AssemblyResult:
    topic = "When does the support line open?"
    asked = AssemblyRequest(topic=topic, profile="memory", now=timezone.now(), filters=filters or RequestFilters())
    return assemble(agent=agent, asked=asked, principal=SYSTEM)


def rate(agent: Agent) -> float:
    return rate_of(context(agent))


def rate_of(made: AssemblyResult) -> float:
    quality = quality_of_record(load_record(Assembly.objects.get(id=made.assembly.id)))
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


@pytest.mark.parametrize("by", ["superseded", "archived", "filtered"])
def test_an_item_that_may_not_be_included_contradicts_nothing(agent: Agent, by: str) -> None:
    old, new = remember(agent, EIGHTY), remember(agent, NINETY)
    run_jobs()
    filters = RequestFilters(exclude=(f"memory:{old.id}",)) if by == "filtered" else None
    if by == "superseded":
        memory_update(memory=old, facts=facts_of(old), expected_version=1, superseded_by=new, principal=SYSTEM)
    if by == "archived":
        memory_update(
            memory=old,
            facts=facts_of(old),
            expected_version=1,
            superseded_by=None,
            retired_because="Old",
            principal=SYSTEM,
        )
    made = context(agent, filters)
    quality = assembly_document(made)["metadata"]
    assert NINETY in made.content
    assert made.assembly.warnings == []
    assert (quality["conflict_ids"], quality["contradiction_rate"], rate_of(made)) == ([], 0, 0)


def test_a_warning_does_not_tell_of_a_conflict_with_a_superseded_memory(agent: Agent) -> None:
    old, new, other = remember(agent, EIGHTY), remember(agent, NINETY, credibility=0.9), remember(agent, TEN)
    memory_update(memory=old, facts=facts_of(old), expected_version=1, superseded_by=new, principal=SYSTEM)
    with_old, disputed = conflict_between(old, new), conflict_between(new, other)
    made = context(agent)
    assert made.assembly.warnings == ["CONFLICT_FLAGGED"]
    told = load_record(made.assembly)
    assert {one.id for one in told.inputs.request.reconciliations} == {str(with_old.id), str(disputed.id)}
    assert [one.id for one in flagged_conflicts(told)] == [str(disputed.id)]
    assert assembly_document(made)["metadata"]["conflict_ids"] == [str(disputed.id)]
