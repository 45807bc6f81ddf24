"""Contexts to count, and the counts as they stand."""

import datetime
from typing import Any

from agents.models import Agent
from assembly.models import Assembly, DayCount
from assembly.monitoring.trends.counting import MAPS
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.db.migration_helpers import ORGANISATION
from teams.models import Team
from teams.principal import SYSTEM

COLUMNS = [field.name for field in DayCount._meta.concrete_fields if field.name != "id"]


def told(agent: Agent, team: Team | None = None, **asked: Any) -> Assembly:
    """One more context, as it is read from its record."""
    made = assemble(agent=agent, team=team, asked=AssemblyRequest(**asked), principal=SYSTEM)
    return Assembly.objects.get(id=made.assembly.id)


def dated(assembly: Assembly, moment: datetime.datetime) -> Assembly:
    """The same, as if it had been made then."""
    assembly.created = moment
    return assembly


def day_of(agent: Agent, day: datetime.date, **facts: Any) -> DayCount:
    """What was counted on a day: one context, unless the facts say otherwise."""
    sums = dict.fromkeys(("contexts", "tokens", "budget", "assembly_ms", "considered"), 1)
    maps: dict[str, Any] = {name: {} for name in MAPS}
    found = {**sums, "repeats": 0, **maps, "durations": {"1": 1}, **facts}
    return DayCount.objects.create(day=day, agent_id=agent.id, **found)


def day_of_all(row: DayCount) -> None:
    """The same day of the whole organisation, in which there was nothing else."""
    row.pk, row.agent_id, row.team_id = None, ORGANISATION, None
    row.save(force_insert=True)


def counts() -> list[dict[str, Any]]:
    """All rows but those of the whole organisation, the oldest first."""
    rows = DayCount.objects.exclude(agent_id=ORGANISATION)
    return list(rows.order_by("day", "agent_id", "team_id").values(*COLUMNS))


def counts_of_all() -> list[dict[str, Any]]:
    """The rows of the whole organisation, the oldest first."""
    return list(DayCount.objects.filter(agent_id=ORGANISATION).order_by("day").values(*COLUMNS))
