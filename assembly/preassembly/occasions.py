"""An occasion to read ahead is that an agent, which asked within the last hour, has asked again, or that rows of its
contexts have changed since: readings that were made before do not hold any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from assembly.models.assembly import PURPOSE_SQL
from config.db.migration_helpers import ORGANISATION
from config.db.statements import fetch_rows
from teams.sensitivity import DEFAULT_LEVEL

WATCHED_SECONDS = 3_600
"""For how long an agent is watched after its last context."""
MOST_CONTEXTS = 1_000
"""The newest contexts among which agents are sought."""
MOST_AGENTS = 100
IS_FIRST = f"({PURPOSE_SQL}) = 'agent' AND parent IS NULL AND sensitivity <= %(clearance)s"
"""SQL condition of records of contexts that agents asked for, to which no event was appended."""

WATCHED_SQL = f"""
WITH newest AS MATERIALIZED (
    SELECT id, agent_id, team_id, created FROM assemblies
    WHERE created > now() - make_interval(secs => %(seconds)s) AND {IS_FIRST}
    ORDER BY created DESC, id DESC LIMIT %(contexts)s
), watched AS (
    SELECT DISTINCT ON (agent_id) agent_id, team_id, id, created FROM newest ORDER BY agent_id, created DESC, id DESC
)
SELECT agent_id, id, (
    SELECT coalesce(sum(value), 0)::bigint FROM change_counters WHERE owner IN (agent_id, team_id, %(organisation)s)
)
FROM watched ORDER BY created DESC LIMIT %(agents)s
"""  # noqa: S608 - only the constants above are put in
QUIET_SQL = "SELECT extract(epoch FROM now() - max(created))::float8 FROM assemblies"


@dataclass(frozen=True, slots=True)
class Occasion:
    """An agent, its last context, and the sum of the change counters of that context's owners."""

    agent: UUID
    last: UUID
    changes: int


def watched_agents() -> Iterator[Occasion]:
    """Yield the agents that asked within the last hour, the last one first, as they are now."""
    limits = {"seconds": WATCHED_SECONDS, "contexts": MOST_CONTEXTS, "agents": MOST_AGENTS}
    given = {**limits, "clearance": DEFAULT_LEVEL, "organisation": ORGANISATION}
    yield from (Occasion(*row) for row in fetch_rows(WATCHED_SQL, given))


def seconds_since_last_context() -> float | None:
    """Return for how many seconds no context has been recorded; None if there is none."""
    ((seconds,),) = fetch_rows(QUIET_SQL)
    return None if seconds is None else float(seconds)
