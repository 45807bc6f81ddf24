"""Trends are read here: sums per day over the contexts that somebody may read, and memories that no context used."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from agents.models import Agent
from assembly.models import DayCount, MemoryTelling
from assembly.models.monitoring import DayCountQuerySet
from assembly.monitoring.trends.counting import MAPS, SUMS, Tally, percentile
from config.db.statements import fetch_rows
from config.http.errors import Invalid
from memories.embeddings.active_model import SLOTS
from memories.models import Memory
from teams.models import Team
from teams.principal import Principal

MOST_DAYS = 366

_MAP_ROWS_SQL = """
SELECT day, '{name}', each.key, sum(each.value::bigint) FROM chosen, jsonb_each_text({name}) AS each
GROUP BY day, each.key
"""
MAPS_OF = "WITH chosen AS MATERIALIZED ({chosen}) " + " UNION ALL ".join(
    _MAP_ROWS_SQL.format(name=name) for name in MAPS
)


@dataclass(frozen=True, slots=True)
class Period:
    """Days by UTC, the first and the last included."""

    since: datetime.date
    until: datetime.date

    def __post_init__(self) -> None:
        if self.since > self.until:
            raise Invalid("until", "The last day is before the first. Name them the other way round.")
        if len(self) > MOST_DAYS:
            raise Invalid("since", f"Ask for {MOST_DAYS} days at most.")

    def __len__(self) -> int:
        return (self.until - self.since).days + 1

    def __iter__(self) -> Iterator[datetime.date]:
        return (self.since + datetime.timedelta(days=number) for number in range(len(self)))

    @classmethod
    def last(cls, days: int, until: datetime.date | None = None) -> "Period":
        """So many days, up to today or to another one."""
        last = until or timezone.now().astimezone(datetime.UTC).date()
        return cls(last - datetime.timedelta(days=days - 1), last)


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What was counted of one day, or of several together."""

    day: datetime.date
    tally: Tally

    def duration_percentile_ms(self, share: float) -> int | None:
        """Milliseconds within which a share of the contexts was ready; None without contexts."""
        return percentile({int(bound): number for bound, number in self.tally.durations.items()}, share)


@dataclass(frozen=True, slots=True)
class Trend:
    """The days of a period, each with its sums, and all of them together."""

    period: Period
    days: tuple[DayCounts, ...]

    @property
    def total(self) -> DayCounts:
        """The sums of the whole period."""
        whole = Tally()
        for day in self.days:
            for name in SUMS:
                setattr(whole, name, getattr(whole, name) + getattr(day.tally, name))
            for name in MAPS:
                getattr(whole, name).update(getattr(day.tally, name))
        return DayCounts(self.period.since, whole)


def load_trend(
    principal: Principal, period: Period, *, agent_id: UUID | None = None, team_id: UUID | None = None
) -> Trend:
    """The counts of the contexts that the principal may read, or of those of one agent or team, in two queries."""
    seen = DayCount.objects.seen_by(principal, agent_id=agent_id, team_id=team_id)
    rows = seen.filter(day__range=(period.since, period.until))
    tallies = {day: Tally() for day in period}
    for day, *sums in rows.values_list("day").annotate(*map(Sum, SUMS)):
        for name, number in zip(SUMS, sums, strict=True):
            setattr(tallies[day], name, int(number))
    for day, name, key, number in _load_maps(rows):
        getattr(tallies[day], name)[key] = int(number)
    return Trend(period, tuple(DayCounts(day, tally) for day, tally in tallies.items()))


def _load_maps(rows: DayCountQuerySet) -> list[tuple[datetime.date, str, str, int]]:
    """Day, map, name and number of all that the maps of these rows hold."""
    chosen, values = rows.order_by().values("day", *MAPS).query.sql_with_params()
    return fetch_rows(MAPS_OF.format(chosen=chosen), values)


SHOWN = 10


@dataclass(frozen=True, slots=True)
class UnusedMemories:
    """Of so many memories that stand, so many that were in no context since a day; the oldest of them."""

    kept: int
    unused: int
    oldest: Sequence[Memory]


def find_unused_memories(
    principal: Principal, since: datetime.date, *, agent_id: UUID | None = None, team_id: UUID | None = None
) -> UnusedMemories:
    """Of one agent, of one team, or of all that the principal sees; in two queries."""
    untold = ~Exists(MemoryTelling.objects.filter(memory_id=OuterRef("pk"), told_on__gte=since))
    kept = _current_memories(principal, agent_id, team_id).filter(superseded_by=None, retired_because="")
    counts = kept.alias(untold=untold).aggregate(kept=Count("pk"), unused=Count("pk", filter=Q(untold=True)))
    oldest = kept.filter(untold).defer(*SLOTS, "search").order_by("created", "id")[:SHOWN]
    return UnusedMemories(counts["kept"], counts["unused"], list(oldest) if counts["unused"] else [])


def _current_memories(principal: Principal, agent_id: UUID | None, team_id: UUID | None) -> QuerySet[Memory]:
    if agent_id or team_id:
        return Memory.objects.filter(agent=agent_id) if agent_id else Memory.objects.filter(team=team_id)
    if principal.is_admin:
        return Memory.objects.all()
    agents, teams = Agent.objects.visible_to(principal), Team.objects.visible_to(principal)
    return Memory.objects.filter(Q(agent__in=agents.values("id")) | Q(team__in=teams.values("id")))
