"""How often things are used, by day; what is used moves one tier up."""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

import orjson
from django.utils import timezone

from config.db.statements import execute_sql, fetch_rows
from memories.jobs.services import Advance, job_create, job_kind
from memories.lifecycle.thing_tables import TABLES_BY_KIND, TABLES_BY_MODEL, THING_TABLES
from memories.lifecycle.tiers import Tier, Tiered
from memories.lifecycle.transitions import things_move
from memories.models import Job
from teams.principal import SYSTEM

WARM_UP = "warm_up_things"
BATCH = 50


class UseKey(NamedTuple):
    """A thing and a UTC day; `kind` is the prefix of the thing's refs."""

    kind: str
    thing: UUID
    day: datetime.date


class UseCount(NamedTuple):
    """The numbers of contexts that included a thing, and that considered it, on one day."""

    told: int
    considered: int


# In one order for everybody, so that two who count at once cannot wait for each other in a circle.
STORE_SQL = """
INSERT INTO thing_uses (thing, day, kind, told, considered)
SELECT thing, day, kind, told, considered FROM jsonb_to_recordset(%(rows)s::jsonb)
    AS row (thing uuid, day date, kind text, told int, considered int) ORDER BY thing, day
ON CONFLICT (thing, day) DO UPDATE SET told = thing_uses.told + excluded.told,
    considered = thing_uses.considered + excluded.considered
"""
WOKEN_SQL = """
INSERT INTO thing_uses (thing, day, kind, told, considered, woken) VALUES (%(thing)s, %(day)s, %(kind)s, 0, 0, 1)
ON CONFLICT (thing, day) DO UPDATE SET woken = thing_uses.woken + 1
"""
NOT_HOT_SQL = " UNION ALL ".join(
    f"SELECT '{table.kind}', id FROM {table.name} WHERE id = ANY(%({table.kind})s::uuid[]) AND tier <> 'hot'"  # noqa: S608
    for table in THING_TABLES
)


def uses_store(uses: Mapping[UseKey, UseCount]) -> None:
    """Add the uses to those of their days, and create a job that moves what was told one tier up, if it is not hot."""
    if not uses:
        return
    rows = [{**key._asdict(), "day": str(key.day), **count._asdict()} for key, count in uses.items()]
    execute_sql(STORE_SQL, {"rows": orjson.dumps(rows).decode()})
    told: dict[str, list[UUID]] = {table.kind: [] for table in THING_TABLES}
    for key, count in uses.items():
        if count.told and key.kind in told:
            told[key.kind].append(key.thing)
    cold = fetch_rows(NOT_HOT_SQL, told) if any(told.values()) else []
    for some in _batches(cold, BATCH):
        things = [[kind, str(id_)] for kind, id_ in some]
        job_create(kind=WARM_UP, arguments={"things": things}, agent=None, principal=SYSTEM, steps=len(things))


Item = TypeVar("Item")


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


@job_kind(WARM_UP)
def warm_up_things(job: Job, advance: Advance) -> None:
    """Run a job that moves each of its things one tier up. After its worker died, a thing may move up twice."""
    for kind, id_ in job.arguments["things"]:
        warm_up(kind, UUID(id_))
        advance(1)


def warm_up(kind: str, id_: UUID) -> None:
    """Move the thing one tier up; nothing happens to a hot one, or one that is being changed."""
    table = TABLES_BY_KIND[kind]
    tier = table.model._default_manager.filter(pk=id_).values_list("tier", flat=True).first()  # noqa: SLF001 - documented
    if tier and tier != Tier.HOT and things_move(table, [id_], Tier(tier).warmer) and tier == Tier.COLD:
        execute_sql(WOKEN_SQL, {"thing": id_, "kind": kind, "day": timezone.now().date()})


def thing_opened(thing: Tiered) -> None:
    """Note that a person or a program opened the thing, which moves it one tier up. Hot things cost no statement."""
    if thing.tier != Tier.HOT:
        warm_up(TABLES_BY_MODEL[type(thing)].kind, thing.pk)


USES_SQL = """
SELECT thing, sum(told) FILTER (WHERE day >= %(since)s), sum(told), max(day) FILTER (WHERE told > 0)
FROM thing_uses WHERE thing = ANY(%(ids)s::uuid[]) GROUP BY thing
"""


class Uses(NamedTuple):
    """How often contexts included a thing: recently, in all, and the last day."""

    recent: int = 0
    all: int = 0
    last: datetime.date | None = None


def uses_of(ids: Collection[UUID], since: datetime.date) -> dict[UUID, Uses]:
    """Return the uses of these things; `recent` are those of the day `since` and later."""
    rows = fetch_rows(USES_SQL, {"ids": list(ids), "since": since})
    return {id_: Uses(recent or 0, total or 0, last) for id_, recent, total, last in rows}
