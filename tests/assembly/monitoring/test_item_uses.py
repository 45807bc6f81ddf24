"""What a context included counts as used, once; its request narrows the policies of the agent's own items alone."""

import datetime
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.monitoring.trends.recount import day_recount
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.lifecycle.tier_presentation import describe_tier
from memories.models import Memory, RequestedPolicy, ThingUse
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

TEXT = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 4


def policy(**parts: Any) -> dict[str, Any]:
    wide: dict[str, Any] = {
        "pin": {"patterns": ["*"] * 100, "max_size_mb": 1_000_000, "ttl_hours": 100_000},
        "compress": {"age_threshold_hours": 1_000_000, "access_threshold": 0.5, "compression_ratio": 0.8},
        "evict": {"max_total_size_gb": 1_000_000, "lru_weight": 0, "quality_weight": 0},
    }
    return {name: {**values, **parts.get(name, {})} for name, values in wide.items()}


@pytest.fixture
def own(agent: Agent, team: Team) -> Memory:
    """A memory of the agent, beside one of its team."""
    memories_create(owner=team, facts=[MemoryFacts(kind="fact", text=f"Team: {TEXT}")], principal=SYSTEM)
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=TEXT)], principal=SYSTEM)
    return memory


def ask(agent: Agent, team: Team, kv_policy: dict[str, Any] | None = None) -> Assembly:
    asked = AssemblyRequest(topic="the kettle", max_tokens=2_000, kv_policy=kv_policy)
    found = assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly
    follow_assemblies([found])
    return found


def later(hours: float) -> datetime.datetime:
    return timezone.now() + datetime.timedelta(hours=hours)


def test_a_context_is_a_use_of_what_it_includes_and_a_recount_is_none(own: Memory, agent: Agent, team: Team) -> None:
    ask(agent, team)
    counted = list(ThingUse.objects.order_by("thing").values_list("kind", "thing", "told", "considered"))
    assert ("memory", own.id, 1, 1) in counted
    day_recount(timezone.now().date(), again=True)
    assert list(ThingUse.objects.order_by("thing").values_list("kind", "thing", "told", "considered")) == counted


def test_a_request_narrows_what_is_the_agents_own(own: Memory, agent: Agent, team: Team) -> None:
    ask(agent, team)
    assert not RequestedPolicy.objects.exists()
    ask(agent, team, policy(compress={"age_threshold_hours": 1, "access_threshold": 9}))
    assert set(RequestedPolicy.objects.values_list("thing", flat=True)) >= {own.id}
    assert not RequestedPolicy.objects.filter(thing__in=Memory.objects.filter(agent=None).values("id")).exists()
    described = describe_tier(own)
    assert described is not None
    assert "2 of 9 until now" in described.next
    lifecycle_run(now=later(2))
    tiers = {memory.agent_id: memory.tier for memory in Memory.objects.all()}
    assert tiers == {agent.id: "warm", None: "hot"}


def test_a_later_request_decides_and_none_widens(own: Memory, agent: Agent, team: Team) -> None:
    ask(agent, team, policy(compress={"age_threshold_hours": 1, "access_threshold": 9}))
    ask(agent, team, policy())
    ThingUse.objects.all().delete()
    lifecycle_run(now=later(2))
    assert Memory.objects.get(id=own.id).tier == "hot"
    lifecycle_run(now=later(DEFAULT_POLICIES["general"].compress.age_threshold_hours + 1))
    assert Memory.objects.get(id=own.id).tier == "warm"


def test_a_request_limits_the_size_of_what_it_included(own: Memory, agent: Agent, team: Team) -> None:
    [other] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Bicycles are red")], principal=SYSTEM)
    ask(agent, team, policy(evict={"max_total_size_gb": 0}))
    assert RequestedPolicy.objects.filter(thing=own.id).exists()
    RequestedPolicy.objects.filter(thing=other.id).delete()
    lifecycle_run(now=later(1))
    assert dict(Memory.objects.filter(agent=agent).values_list("id", "tier")) == {own.id: "cold", other.id: "hot"}
