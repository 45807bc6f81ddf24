"""Trends are read here: sums per day over the contexts that a principal may read, and unused memories."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg, Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from agents.models import Agent
from assembly.models import DayCount, FileLoss, MemoryTelling
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
    """A range of UTC days, including both ends."""

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
        """Return the range of this many days that ends today or on another day."""
        last = until or timezone.now().astimezone(datetime.UTC).date()
        return cls(last - datetime.timedelta(days=days - 1), last)


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The counts of one day, or of several days together."""

    day: datetime.date
    tally: Tally

    def duration_percentile_ms(self, share: float) -> int | None:
        """Return the milliseconds within which a share of the contexts was ready; None without contexts."""
        return percentile({int(bound): number for bound, number in self.tally.durations.items()}, share)


@dataclass(frozen=True, slots=True)
class Trend:
    """The days of a range with their counts."""

    period: Period
    days: tuple[DayCounts, ...]

    @property
    def total(self) -> DayCounts:
        """The counts of the whole range."""
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
    """Return the counts of the contexts that the principal may read, or of those of an agent or team; two queries."""
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
    """Return day, column, name and number of every entry in the map columns of these rows."""
    chosen, values = rows.order_by().values("day", *MAPS).query.sql_with_params()
    return fetch_rows(MAPS_OF.format(chosen=chosen), values)


SHOWN = 10


@dataclass(frozen=True, slots=True)
class UnusedMemories:
    """The number of current memories, the number of those that were in no context since a day, and the
    oldest of them.
    """

    kept: int
    unused: int
    oldest: Sequence[Memory]


def find_unused_memories(
    principal: Principal, since: datetime.date, *, agent_id: UUID | None = None, team_id: UUID | None = None
) -> UnusedMemories:
    """Return the unused memories of an agent, of a team, or of everything that the principal sees; two queries."""
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


MAX_LOSS_ROWS = 500
"""The maximum number of days and files of a table of file losses."""


@dataclass(frozen=True, slots=True)
class FileLossDay:
    """A file on a day (UTC): the number of contexts that truncated or excluded it, and the tokens that were missing."""

    day: datetime.date
    ref: str
    truncated: int
    excluded: int
    least: int
    mean: float
    most: int

    @property
    def contexts(self) -> int:
        """The number of contexts."""
        return self.truncated + self.excluded


def load_file_losses(
    principal: Principal,
    period: Period,
    *,
    agent_id: UUID | None = None,
    team_id: UUID | None = None,
    ref: str = "",
) -> list[FileLossDay]:
    """Return the losses in contexts that the principal may read, the newest day first; one query, at most 500 rows."""
    start = datetime.datetime.combine(period.since, datetime.time.min, datetime.UTC)
    end = datetime.datetime.combine(period.until, datetime.time.min, datetime.UTC) + datetime.timedelta(days=1)
    rows = FileLoss.objects.filter(created__gte=start, created__lt=end)
    rows = rows.filter(agent_id=agent_id) if agent_id else rows
    rows = rows.filter(team_id=team_id) if team_id else rows
    rows = rows.filter(ref=ref) if ref else rows
    if not principal.is_admin:
        teams = Team.objects.visible_to(principal).values("id")
        visible = Q(team_id__in=teams) | Q(team_id=None)
        rows = rows.filter(visible, agent_id__in=Agent.objects.visible_to(principal).values("id"))
    found = (
        rows.order_by()
        .values("ref", day=TruncDate("created", tzinfo=datetime.UTC))
        .annotate(
            truncated=Count("id", filter=Q(is_excluded=False)),
            excluded=Count("id", filter=Q(is_excluded=True)),
            least=Min("tokens_lost"),
            mean=Avg("tokens_lost"),
            most=Max("tokens_lost"),
        )
        .order_by("-day", "-most", "ref")[:MAX_LOSS_ROWS]
    )
    return [FileLossDay(**row) for row in found]
