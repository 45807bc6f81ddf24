"""Change counters say how often the rows of an owner have changed; database triggers increment them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.conf import settings

from config.db.statements import Statement, run_statement


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Change counters of these owners at one moment. Without owners, the counters never count as changed."""

    owners: tuple[UUID, ...] = ()
    changes: tuple[int, ...] = ()

    @property
    def parameters(self) -> dict[str, str]:
        """The SQL parameters of a statement that uses `is_unchanged_sql`."""
        return {
            **owner_parameters(self.owners),
            **{f"count{place}": str(count) for place, count in enumerate(self.changes)},
        }


NO_OWNERS = ChangeCounts()


class StaleRead(Exception):
    """A cached reading is out of date: the change counters of an owner have moved."""


def load_change_counts(*owners: UUID) -> tuple[int, ...]:
    """Return the change counter of each owner, in the order given; owners are agents, teams and ORGANISATION.

    Each statement that changes an owner's rows adds at least one, visible on commit. So if two counters of an owner are
    equal, no row of the owner changed between the snapshots in which they were read.
    """
    ((changes,),) = run_statement(Statement(f"SELECT {counts_sql(len(owners))} AS changes", owner_parameters(owners)))
    return tuple(changes)


def counts_sql(number: int) -> str:
    """Return the SQL for an array of the counters of `number` owners, for a statement with `owner_parameters`.

    Each owner is a parameter of its own: with an array of unknown length, PostgreSQL would plan the statement anew each
    time, which takes longer than reading the counters.
    """
    return _counts_sql(number, is_distributed=settings.DATABASE_DISTRIBUTED)


@cache
def _counts_sql(number: int, *, is_distributed: bool) -> str:
    return f"ARRAY[{', '.join(_count_sql(place, is_distributed) for place in range(number))}]::bigint[]"


def is_unchanged_sql(number: int) -> str:
    """Return the SQL condition that counters of `number` owners are unchanged, for a statement with `parameters`."""
    counted = (_count_sql(place, settings.DATABASE_DISTRIBUTED) for place in range(number))
    return " AND ".join(f"{count} = %(count{place})s::bigint" for place, count in enumerate(counted)) or "true"


def _count_sql(place: int, is_distributed: bool) -> str:
    here = f"coalesce((SELECT sum(value) FROM change_counters WHERE owner = %(owner{place})s::uuid), 0)"  # noqa: S608
    return f"({here} + changes_on_workers(%(owner{place})s::uuid))" if is_distributed else here


def owner_parameters(owners: Sequence[UUID]) -> dict[str, str]:
    """Return the SQL parameters of a statement that uses `counts_sql`."""
    return {f"owner{place}": str(owner) for place, owner in enumerate(owners)}
