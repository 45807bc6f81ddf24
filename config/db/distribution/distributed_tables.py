"""Which tables are distributed, by which column, which ones every server has, and why the others stay."""

from dataclasses import dataclass

from django.conf import settings

from config.db.partitions.divided_tables import OWNER
from config.db.statements import fetch_rows

OWNERS = "owners"
"""The table with the ids of all agents and teams. Every server has it, so that foreign keys can refer to it."""
COUNTERS = "owner_counters"
"""The change counters of rows in distributed tables, in the shard of their owner."""
EFFECTS = "owner_effects"
"""This table has what must still be done on the coordinator because a distributed row was deleted or raised."""
FOLLOW_EFFECTS = "follow_effects"
"""The function of the coordinator that does it."""


@dataclass(frozen=True, slots=True)
class Distributed:
    """A table that is distributed by hash of the column `owner`, a UUID that every insert names.

    `owner_sql` gives the owner of a row in which the column is still empty.
    """

    table: str
    owner: str = "agent_id"
    owner_sql: str = ""


DISTRIBUTED = (
    Distributed("memories", "owner_id", "coalesce(agent_id, team_id)"),
    Distributed("memory_versions", "owner_id", "(SELECT owner_id FROM memories WHERE memories.id = file_id)"),
    Distributed("sessions"),
    Distributed("task_frames"),
    Distributed("events"),
    Distributed("documents"),
    Distributed("chunks"),
    Distributed("entities"),
    Distributed("relations"),
    Distributed(COUNTERS, "owner_id"),
    Distributed(EFFECTS, "owner_id"),
)
"""In the order in which they are distributed: each one after those to which its foreign keys refer."""
DISTRIBUTED_BY_NAME = {one.table: one for one in DISTRIBUTED}
FIRST = DISTRIBUTED[0].table
"""The table with whose shards the shards of all others are placed."""
REFERENCE = (OWNERS, "embedding_space")
"""Tables that every server has whole: they are small, rarely written, and read together with distributed ones."""

STAYS = {
    "assemblies": (
        "One statement writes a record with the texts and pieces that are not stored yet, which belong to nobody, and"
        " compares change counters. Citus supports no subqueries within INSERT."
    ),
    "pieces": "Equal pieces of all owners are stored once, and the statement that writes records writes them, too.",
    "memory_requests": "A request is unique for whoever asks, who may ask for several owners.",
    "conflicts": "The two sides of a conflict may belong to an agent and to its team.",
    "file_passages": "Passages of the organisation's files have no owner, and the column of the owner is computed.",
    "change_counters": "Records are written if they have not changed, in one statement of the coordinator.",
}
"""Why tables that grow with the use stay on the coordinator."""

IS_THERE_SQL = "SELECT to_regclass(%s) IS NOT NULL"
HAS_CITUS_SQL = "SELECT to_regproc('create_distributed_table') IS NOT NULL"


def is_there(table: str) -> bool:
    """Return whether there is a table of this name."""
    return fetch_rows(IS_THERE_SQL, [table], using=OWNER) == [(True,)]


def is_prepared() -> bool:
    """Return whether keys and triggers are as Citus needs them; with or without the extension."""
    return is_there(EFFECTS)


def setting_mismatch() -> str:
    """Return why no process may be started with this DATABASE_DISTRIBUTED, or an empty text.

    A process without it would miss changes that are counted on workers, and give answers that are out of date.
    """
    found = fetch_rows(IS_THERE_SQL, [EFFECTS]) == [(True,)]
    if found and not settings.DATABASE_DISTRIBUTED:
        return "The database is prepared for Citus: set DATABASE_DISTRIBUTED=1 for all processes."
    if settings.DATABASE_DISTRIBUTED and not found:
        return "DATABASE_DISTRIBUTED is set, but the database is not prepared: run `manage.py distribute` first."
    return ""


def has_citus() -> bool:
    """Return whether the database has the extension."""
    return fetch_rows(HAS_CITUS_SQL, using=OWNER) == [(True,)]
