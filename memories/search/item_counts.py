"""This module counts the items of an agent of each kind."""

from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from agents.models import Agent
from memories.models import Document, Entity, Event, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.models.agent_item import AgentItem

COUNTED_MODELS: dict[str, type[AgentItem]] = {
    "event_count": Event,
    "session_count": Session,
    "entity_count": Entity,
    "relation_count": Relation,
    "task_count": TaskFrame,
    "pattern_count": Pattern,
    "thread_count": Thread,
    "tool_count": Tool,
    "document_count": Document,
}


def item_counts(agent: Agent) -> dict[str, int]:
    """Return the agent's number of items of each kind, by the names in COUNTED_MODELS, in one query."""
    counts = {name: _count_of(model) for name, model in COUNTED_MODELS.items()}
    found: dict[str, int] = Agent.objects.filter(pk=agent.pk).annotate(**counts).values(*counts).get()
    return found


def _count_of(model: type[AgentItem]) -> Coalesce:
    rows = model._default_manager.filter(agent=OuterRef("pk")).order_by()  # noqa: SLF001 - Django's documented manager
    counted = rows.values("agent").annotate(number=Count("*")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
