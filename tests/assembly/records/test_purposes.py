"""What a context was requested for: counts, alerts and the uses of memories are of contexts for agents alone."""

from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Alert, Assembly, DayCount, MemoryTelling, Purpose
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.monitoring.trends.recount import day_recount
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.seal_hashing import record_document
from assembly.records.usage import memory_uses
from assembly.simulation.time_travel.services import find_nearest_contexts
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.conftest import write
from tests.client import Api

LONG = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30))
pytestmark = [pytest.mark.django_db, pytest.mark.finding("E1")]


def requested(agent: Agent, team: Team, principal: Principal, **asked: Any) -> Assembly:
    made = assemble(agent=agent, team=team, asked=AssemblyRequest(**asked), principal=principal)
    return Assembly.objects.get(id=made.assembly.id)


@pytest.fixture
def memory(luna: Agent) -> Memory:
    return Memory.objects.filter(agent=luna).latest("created")


def test_a_preview_by_a_person_counts_nowhere(luna: Agent, demo_team: Team, owner: User, memory: Memory) -> None:
    write(luna, "KNOWLEDGE", LONG)
    preview = requested(luna, demo_team, owner.principal, topic=memory.text[:80])
    follow_assemblies([preview])
    assert preview.purpose == Purpose.PREVIEW
    assert not DayCount.objects.exists()
    assert not Alert.objects.exists()
    assert not MemoryTelling.objects.exists()
    assert day_recount(preview.created.date()) is None
    assert memory_uses(memory, SYSTEM).told == 0
    near = find_nearest_contexts(agent=luna, team=None, moment=preview.created, principal=SYSTEM)
    assert (near.before, near.after) == (None, None)


def test_a_preview_closes_no_alert_and_opens_none_again(luna: Agent, demo_team: Team, owner: User) -> None:
    write(luna, "KNOWLEDGE", LONG)
    follow_assemblies([requested(luna, demo_team, SYSTEM)])
    write(luna, "KNOWLEDGE", "Short.")
    follow_assemblies([requested(luna, demo_team, owner.principal)])
    assert Alert.objects.get().is_open


def test_records_from_before_there_were_purposes_have_that_of_their_requester(
    luna: Agent, demo_team: Team, owner: User
) -> None:
    told = requested(luna, demo_team, SYSTEM)
    old = [Assembly(purpose="", requested_by=ref) for ref in (owner.principal.ref, "system", f"key:{told.id}")]
    assert [one.effective_purpose for one in old] == [Purpose.PREVIEW, Purpose.AGENT, Purpose.AGENT]
    for one in old:
        copied = {f.attname: getattr(told, f.attname) for f in Assembly._meta.concrete_fields if f.attname != "id"}
        Assembly.objects.create(**{**copied, "purpose": "", "requested_by": one.requested_by})
    assert sorted(Assembly.objects.for_agents().values_list("purpose", flat=True)) == ["", "", "agent"]


def test_a_key_says_what_it_asks_for(agent_api: Api, agent: Agent, team: Team) -> None:
    asked = {"agent": agent.slug, "team": team.slug}
    made = [
        agent_api.post("assemblies", {**asked, **more}).json()
        for more in ({}, {"purpose": "test"}, {"purpose": "preview"})
    ]
    assert [one["purpose"] for one in made] == ["agent", "test", "preview"]
    assert [one["repeat_of_id"] for one in made[1:]] == [made[0]["id"]] * 2, "the purpose changes no byte"
    for purpose, one in zip(("agent", "test", "preview"), made, strict=True):
        [listed] = agent_api.get(f"assemblies?purpose={purpose}").json()["results"]
        assert (listed["id"], listed["purpose"]) == (one["id"], purpose)
    assert agent_api.post("assemblies", {**asked, "purpose": "audit"}).status_code == 422
    assert agent_api.get("assemblies?purpose=audit").status_code == 422


def test_the_form_of_a_sealed_record_says_whether_it_has_a_purpose(luna: Agent, demo_team: Team) -> None:
    told = requested(luna, demo_team, SYSTEM)
    document = record_document(told, [])
    assert (document["form"], document["purpose"]) == (2, "agent")
    told.purpose = ""
    document = record_document(told, [])
    assert document["form"] == 1
    assert "purpose" not in document
