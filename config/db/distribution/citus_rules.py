"""Citus's documented rules, checked against the catalogue and the cluster: each broken one is a sentence.

docs/scaling.md says where Citus documents them.
"""

import re
from collections.abc import Iterator

from django.conf import settings

from config.db.distribution.distributed_tables import DISTRIBUTED, DISTRIBUTED_BY_NAME, REFERENCE, is_there
from config.db.distribution.owner_keys import foreign_keys, unique_keys
from config.db.distribution.shard_triggers import Trigger, triggers_of
from config.db.partitions.divided_tables import DIVIDED, OWNER, is_divided, is_moving
from config.db.replicas import replica_aliases
from config.db.statements import fetch_rows

COLUMN_SQL = """
SELECT format_type(atttypid, atttypmod), attnotnull, attgenerated <> '' FROM pg_attribute
WHERE attrelid = %s::regclass AND attname = %s
"""
IDENTITY_SQL = """
SELECT attrelid::regclass::text, attname FROM pg_attribute
WHERE attrelid = ANY(%s::regclass[]) AND attidentity <> '' AND atttypid <> 'bigint'::regtype
"""
RULES_SQL = (
    "SELECT oid::regclass::text FROM pg_class WHERE oid = ANY(%s::regclass[]) AND (relhasrules OR relkind <> 'r')"
)

SETTING_SQL = """
SELECT nodename || ':' || nodeport, coalesce(nullif(result, ''), 'not set')
FROM run_command_on_all_nodes(%s) JOIN pg_dist_node USING (nodeid) ORDER BY 1
"""

LEAST_VERSION = 11
"""The first version of Citus with triggers on distributed tables, and with metadata on all workers."""
SETTINGS = {
    "citus.enable_unsafe_triggers": ("on", "Triggers of distributed tables keep counters and history."),
    "citus.propagate_set_commands": ("local", "An erasure allows a change to history by a setting, also on workers."),
    "citus.shard_replication_factor": ("1", "Foreign keys between distributed tables need it."),
    "hnsw.iterative_scan": ("relaxed_order", "Searches set it, but not on workers."),
    "hnsw.max_scan_tuples": ("40000", "Searches set it, but not on workers."),
    "hnsw.ef_search": ("1000", "Searches set it, but not on workers; this is the most that they set."),
}
"""Settings that Citus must have on every server, and what for."""
OWNED = re.compile(r"\b(?:agent_id|owner_id) = (?:NEW\.|OLD\.|owned\b|one\.owner_id)|\((?:agent_id|owner_id), ")


def broken_rules() -> list[str]:
    """Return a sentence for each rule that the prepared catalogue breaks, without the extension."""
    tables = [one.table for one in DISTRIBUTED if is_there(one.table)]
    return [*_columns(tables), *_unique(tables), *_foreign(tables), *_triggers(tables)]


def obstacles() -> list[str]:
    """Return a sentence for each reason not to begin, whatever the extension says."""
    found = [
        f"{table} is divided by partition_tables, or about to be. Citus's shards divide it, too: distribute an"
        " installation whose tables are not divided."
        for table in DIVIDED
        if is_divided(table) or is_moving(table)
    ]
    if replica_aliases():
        found.append("DATABASE_REPLICA_URL is set: a standby of the coordinator has no rows of the workers. Remove it.")
    return found


def broken_cluster_rules() -> list[str]:
    """Return a sentence for each thing that the cluster lacks. The extension must be there."""
    found = []
    ((version,),) = fetch_rows("SELECT citus_version()", using=OWNER)
    number = re.search(r"\d+", version)
    if not number or int(number[0]) < LEAST_VERSION:
        found.append(f"This is {version}. Citus {LEAST_VERSION} or newer is needed.")
    if not settings.DATABASE_DISTRIBUTED:
        found.append("DATABASE_DISTRIBUTED is not set: set it to 1 for all processes, and start them only afterwards.")
    for name, (value, reason) in SETTINGS.items():
        for node, is_set in fetch_rows(SETTING_SQL, [f"SELECT current_setting('{name}', true)"], using=OWNER):
            if is_set != value:
                found.append(f"{name} is {is_set} on {node}, and must be {value}. {reason}")
    groups = [group for (group,) in fetch_rows("SELECT groupid FROM pg_dist_node WHERE isactive", using=OWNER)]
    if 0 not in groups:
        found.append("The coordinator is not in pg_dist_node. Name it by citus_set_coordinator_host().")
    if not any(groups):
        found.append("There is no worker. Add workers by citus_add_node().")
    return found


def _columns(tables: list[str]) -> Iterator[str]:
    for table in tables:
        column = DISTRIBUTED_BY_NAME[table].owner
        facts = fetch_rows(COLUMN_SQL, [table, column], using=OWNER)
        if facts != [("uuid", True, False)]:
            yield f"The distribution column {column} of {table} must be a uuid, not null and not computed."
    for table, column in fetch_rows(IDENTITY_SQL, [tables], using=OWNER):
        yield f"The identity column {column} of {table} must be a bigint."
    for (table,) in fetch_rows(RULES_SQL, [tables], using=OWNER):
        yield f"{table} must be one table without rules."


def _unique(tables: list[str]) -> Iterator[str]:
    for key in unique_keys(tables):
        if DISTRIBUTED_BY_NAME[key.table].owner not in key.columns:
            yield f"The unique index {key.name} of {key.table} lacks the distribution column."


def _foreign(tables: list[str]) -> Iterator[str]:
    for one in foreign_keys([*tables, *filter(is_there, REFERENCE)]):
        here, there = DISTRIBUTED_BY_NAME.get(one.table), DISTRIBUTED_BY_NAME.get(one.target)
        named = f"The foreign key {one.name} of {one.table}"
        if there is None and one.target not in REFERENCE:
            yield f"{named} refers to {one.target}, which stays on the coordinator."
        elif here is None and there is not None:
            yield f"{named} refers to {one.target}, which is distributed."
        elif here is not None and there is not None:
            pairs = set(zip(one.columns, one.target_columns, strict=True))
            if (here.owner, there.owner) not in pairs:
                yield f"{named} does not compare the owners."
        if here is not None and here.owner in one.columns and (one.deletes in "nd" or one.updates in "cnd"):
            yield f"{named} changes its columns, among them the distribution column."


def _triggers(tables: list[str]) -> Iterator[str]:
    for one in triggers_of([*tables, *filter(is_there, REFERENCE)]):
        named = f"The trigger {one.name} of {one.table}"
        if not one.for_rows or one.has_transition_tables:
            yield f"{named} is executed once for a statement."
        elif one.table in DISTRIBUTED_BY_NAME:
            yield from (f"{named} {reason}" for reason in _leaves_owner(one))
        elif one.function != "count_reference_change":
            yield f"{named} would be executed on every server."


def _leaves_owner(one: Trigger) -> Iterator[str]:
    for other in sorted(one.tables - DISTRIBUTED_BY_NAME.keys() - set(REFERENCE)):
        yield f"uses {other}, which stays on the coordinator."
    for statement in re.split(r";|\b(?=SELECT |UPDATE |INSERT |DELETE )", one.body):
        used = [name for name in DISTRIBUTED_BY_NAME if re.search(rf"\b(?:FROM|UPDATE|INTO) {name}\b", statement)]
        if used and not OWNED.search(statement):
            yield f"uses {used[0]} without naming the owner."
