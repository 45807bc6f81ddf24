"""Which workers have whose rows, by Citus's metadata."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from config.db.distribution.distributed_tables import FIRST, OWNERS, has_citus
from config.db.distribution.distribution_plan import NO_CITUS, DistributionRefused
from config.db.partitions.divided_tables import OWNER
from config.db.statements import fetch_rows

IS_DISTRIBUTED_SQL = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass(%s)"
SIZES_SQL = """
SELECT nodename, nodeport, count(DISTINCT shardid) FILTER (WHERE table_name = %(first)s::regclass), sum(shard_size)
FROM citus_shards WHERE citus_table_type = 'distributed' GROUP BY 1, 2 ORDER BY 1, 2
"""
OWNERS_SQL = f"""
SELECT nodename, nodeport, name, kind
FROM (
    SELECT slug AS name, 'agent' AS kind, get_shard_id_for_distribution_column(%(first)s, id) AS shard
    FROM agents JOIN {OWNERS} USING (id)
    UNION ALL
    SELECT slug, 'team', get_shard_id_for_distribution_column(%(first)s, id) FROM teams JOIN {OWNERS} USING (id)
) AS owned JOIN citus_shards ON shardid = shard
ORDER BY 1, 2, 4, 3
"""  # noqa: S608 - only the constant above is put in
SHARD_SQL = """
SELECT nodename, nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column(%s, %s::uuid)
"""


@dataclass(frozen=True, slots=True)
class Worker:
    """A server with shards of distributed tables: how many of each table, their size in bytes, and whose rows."""

    address: str
    shards: int
    size: int
    agents: tuple[str, ...]
    teams: tuple[str, ...]


def workers() -> list[Worker]:
    """Return the servers with shards, by address, with the slugs of the owners. Raises DistributionRefused."""
    _require_distribution()
    owned: defaultdict[tuple[str, int, str], list[str]] = defaultdict(list)
    for host, port, name, kind in fetch_rows(OWNERS_SQL, {"first": FIRST}, using=OWNER):
        owned[host, port, kind].append(name)
    return [
        Worker(f"{host}:{port}", shards, int(size or 0), (*owned[host, port, "agent"],), (*owned[host, port, "team"],))
        for host, port, shards, size in fetch_rows(SIZES_SQL, {"first": FIRST}, using=OWNER)
    ]


def worker_of(owner: UUID) -> str:
    """Return the address of the server with the rows of this agent or team. Raises DistributionRefused."""
    _require_distribution()
    found = fetch_rows(SHARD_SQL, [FIRST, owner], using=OWNER)
    if not found:
        raise DistributionRefused("Citus names no server for this owner.")
    host, port = found[0]
    return f"{host}:{port}"


def _require_distribution() -> None:
    if not has_citus():
        raise DistributionRefused(NO_CITUS)
    if fetch_rows(IS_DISTRIBUTED_SQL, [FIRST], using=OWNER) != [(1,)]:
        raise DistributionRefused("The installation is not distributed yet: no worker has any owner's rows.")
