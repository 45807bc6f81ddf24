"""Memories that no context told for a while: what is kept, and does nobody any good."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from agents.models import Agent
from assembly.models import MemoryTelling
from memories.models import Memory
from memories.spaces import SLOTS
from teams.models import Team
from teams.principal import Principal

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Unused:
    """Of so many memories that stand, so many that were in no context since a day; the oldest of them."""

    kept: int
    unused: int
    oldest: Sequence[Memory]


def unused_memories(
    principal: Principal, since: datetime.date, *, agent_id: UUID | None = None, team_id: UUID | None = None
) -> Unused:
    """Of one agent, of one team, or of all that the principal sees; in two queries."""
    untold = ~Exists(MemoryTelling.objects.filter(memory_id=OuterRef("pk"), told_on__gte=since))
    kept = _kept(principal, agent_id, team_id).filter(superseded_by=None, retired_because="")
    counts = kept.alias(untold=untold).aggregate(kept=Count("pk"), unused=Count("pk", filter=Q(untold=True)))
    oldest = kept.filter(untold).defer(*SLOTS, "search").order_by("created", "id")[:SHOWN]
    return Unused(counts["kept"], counts["unused"], list(oldest) if counts["unused"] else [])


def _kept(principal: Principal, agent_id: UUID | None, team_id: UUID | None) -> QuerySet[Memory]:
    if agent_id or team_id:
        return Memory.objects.filter(agent=agent_id) if agent_id else Memory.objects.filter(team=team_id)
    if principal.is_admin:
        return Memory.objects.all()
    agents, teams = Agent.objects.visible_to(principal), Team.objects.visible_to(principal)
    return Memory.objects.filter(Q(agent__in=agents.values("id")) | Q(team__in=teams.values("id")))
