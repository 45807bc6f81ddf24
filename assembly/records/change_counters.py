"""Change counters tell how often the rows of an owner have changed; triggers of the database raise them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from config.db.statements import Statement, run_statement


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How often what belongs to these owners had changed. That of nobody's things is always there."""

    owners: tuple[UUID, ...] = ()
    changes: tuple[int, ...] = ()

    @property
    def parameters(self) -> dict[str, str]:
        """For a statement with `is_unchanged_sql`."""
        return {
            **owner_parameters(self.owners),
            **{f"count{place}": str(count) for place, count in enumerate(self.changes)},
        }


NO_OWNERS = ChangeCounts()


class StaleRead(Exception):
    """A state on which something was to rest is not there any more."""


def load_change_counts(*owners: UUID) -> tuple[int, ...]:
    """The count of each owner, in the order given; owners are agents, teams and ORGANISATION.

    Each statement that changes something of an owner adds at least one, and is counted as soon as it is committed. So
    where two counts of an owner are equal, nothing of it changed between the snapshots in which they were read.
    """
    ((changes,),) = run_statement(Statement(f"SELECT {counts_sql(len(owners))} AS changes", owner_parameters(owners)))
    return tuple(changes)


@cache
def counts_sql(number: int) -> str:
    """SQL for the counts of so many owners, as an array, in a statement that gets `owner_parameters`.

    Each owner is a parameter: how long an array of them is, PostgreSQL would want to know before it plans, and it would
    plan anew each time, which takes longer than to look them up.
    """
    return f"ARRAY[{', '.join(map(_count_sql, range(number)))}]::bigint[]"


def is_unchanged_sql(number: int) -> str:
    """SQL for whether the state of so many owners is there, in a statement that gets its `parameters`."""
    return " AND ".join(f"{_count_sql(place)} = %(count{place})s::bigint" for place in range(number)) or "true"


def _count_sql(place: int) -> str:
    return f"coalesce((SELECT sum(value) FROM change_counters WHERE owner = %(owner{place})s::uuid), 0)"  # noqa: S608


def owner_parameters(owners: Sequence[UUID]) -> dict[str, str]:
    """For a statement with `counts_sql`."""
    return {f"owner{place}": str(owner) for place, owner in enumerate(owners)}
