"""A request's `kv_policy` narrows the policies of the agent's own memories and events that its context included.

It holds for each of them until the next request with one. Nothing stays hot longer by it, or takes more room, than the
policies of admins allow; see `narrow`.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.utils import timezone

from config.db.statements import execute_sql, fetch_rows
from memories.lifecycle.thing_tables import EVENTS, MEMORIES
from memories.lifecycle.tier_checks import look_again


class RequestedFor(NamedTuple):
    """An item that a context of the agent included; `kind` is the prefix of its refs."""

    kind: str
    thing: UUID
    agent: UUID


OWN_KINDS = (MEMORIES, EVENTS)
"""What belongs to the workshop (L3) and to the experience (L4) of an agent."""
_OWN = " UNION ALL ".join(
    f"SELECT '{table.kind}', id, agent_id FROM {table.name}"  # noqa: S608 - constant names
    for table in OWN_KINDS
)
# In one order for everybody, so that two who store at once cannot wait for each other in a circle.
STORE_SQL = f"""
INSERT INTO requested_policies (thing, agent_id, policy, created)
SELECT row.thing, row.agent, row.policy, now()
FROM jsonb_to_recordset(%(rows)s::jsonb) AS row (kind text, thing uuid, agent uuid, policy jsonb)
JOIN ({_OWN}) AS own (kind, id, agent_id) ON own.kind = row.kind AND own.id = row.thing AND own.agent_id = row.agent
ORDER BY row.thing
ON CONFLICT (thing) DO UPDATE SET policy = excluded.policy, created = excluded.created
"""  # noqa: S608 - constant names
LEAST_SIZE_SQL = "SELECT min((policy #>> '{evict,max_total_size_gb}')::float8) FROM requested_policies"


def requested_policies_store(requested: Mapping[RequestedFor, Any]) -> None:
    """Store the policy, as the contract validated it, for each item that belongs to the agent itself."""
    if rows := [{**item._asdict(), "policy": policy} for item, policy in requested.items()]:
        execute_sql(STORE_SQL, {"rows": orjson.dumps(rows).decode()})
        for table in OWN_KINDS:
            look_again(table.name, {one.thing: timezone.now() for one in requested if one.kind == table.kind})


def least_requested_size() -> float:
    """Return the least size, in GB, to which a request limits what its context included; infinite if none does."""
    ((least,),) = fetch_rows(LEAST_SIZE_SQL)
    return math.inf if least is None else float(least)
