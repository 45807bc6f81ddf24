"""Which question an agent will probably ask next, as its own contexts of the last 14 days tell.

Two things are expected: what followed the last question of an agent most often, in the same team, within an hour; and
what it asked at this time of day on at least two of the last days. Nothing is told from one agent to another: each
statement compares questions of one agent with each other.

Questions are told apart by what the columns of a record say of them: team, topic, profile, budget and tokenizer. Those
with turns of a conversation or an additional context are never expected, because such texts do not come twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from assembly.models import Assembly
from assembly.models.assembly import PURPOSE_SQL
from assembly.models.encryption import RecordErased
from assembly.pipeline.request import AssemblyRequest
from assembly.records.reader import RecordDamaged, load_record
from assembly.simulation.basis import ContextOwners, OwnerDeleted, load_owners, request_of_record
from config.db.statements import fetch_rows

DAYS = 14
RECENT_SECONDS = 120
FOLLOWS_WITHIN_SECONDS = 3_600
SOON_SECONDS = 240
"""What was asked on former days within so many seconds from this time of day is expected; less than rows are cached."""
LEAST_DAYS = 2
MOST_RECORDS = 1_000
"""The most contexts of an agent that are compared, the newest ones."""
MOST_AGENTS = 100
MOST_EXPECTED = 2
"""The most questions that are expected after one."""
_IS_FIRST = f"({PURPOSE_SQL}) = 'agent' AND parent IS NULL"
QUESTION = "(team_id, topic, profile_name, budget, tokenizer)"

RECENT_SQL = f"""
SELECT DISTINCT ON (agent_id) agent_id, id FROM assemblies
WHERE created > now() - make_interval(secs => %(seconds)s) AND {_IS_FIRST}
ORDER BY agent_id, created DESC, id DESC LIMIT %(limit)s
"""  # noqa: S608 - only the constants above are put in
FOLLOWING_SQL = f"""
WITH asked AS (
    SELECT id, created, ROW{QUESTION}::text AS question FROM assemblies
    WHERE agent_id = %(agent)s AND created > now() - make_interval(days => %(days)s) AND {_IS_FIRST}
    ORDER BY created DESC, id DESC LIMIT %(limit)s
), following AS (
    SELECT id, created, question, lag(question) OVER before AS former, created - lag(created) OVER before AS later
    FROM asked WINDOW before AS (ORDER BY created, id)
)
SELECT (array_agg(id ORDER BY created DESC))[1] FROM following
WHERE former = (SELECT question FROM asked ORDER BY created DESC, id DESC LIMIT 1) AND question <> former
    AND later < make_interval(secs => %(seconds)s)
GROUP BY question ORDER BY count(*) DESC, max(created) DESC LIMIT %(expected)s
"""  # noqa: S608 - only the constants above are put in
AT_THIS_TIME_SQL = f"""
SELECT (array_agg(id ORDER BY created DESC))[1] FROM generate_series(1, %(days)s) AS day JOIN assemblies
    ON created >= now() - make_interval(days => day)
    AND created < now() - make_interval(days => day, secs => -%(seconds)s) AND {_IS_FIRST}
GROUP BY agent_id, ROW{QUESTION}::text HAVING count(DISTINCT day) >= %(least)s
ORDER BY count(DISTINCT day) DESC, max(created) DESC LIMIT %(limit)s
"""  # noqa: S608 - only the constants above are put in


@dataclass(frozen=True, slots=True)
class ExpectedRequest:
    """A request that will probably come: whose context, and what is asked."""

    owners: ContextOwners
    asked: AssemblyRequest


def recent_agents() -> dict[UUID, UUID]:
    """Return the last context of each agent that asked for one a moment ago, as ids."""
    return dict(fetch_rows(RECENT_SQL, {"seconds": RECENT_SECONDS, "limit": MOST_AGENTS}))


def records_following(agent: UUID) -> list[UUID]:
    """Return the newest records of the questions that followed the agent's last question, the most frequent first."""
    given = {"days": DAYS, "limit": MOST_RECORDS, "seconds": FOLLOWS_WITHIN_SECONDS, "expected": MOST_EXPECTED}
    return [id_ for (id_,) in fetch_rows(FOLLOWING_SQL, {"agent": agent, **given})]


def records_at_this_time() -> list[UUID]:
    """Return the newest records of the questions that agents asked at this time of day on several of the last days."""
    given = {"days": DAYS, "seconds": SOON_SECONDS, "least": LEAST_DAYS, "limit": MOST_AGENTS}
    return [id_ for (id_,) in fetch_rows(AT_THIS_TIME_SQL, given)]


def expected_requests(records: Sequence[UUID], last: UUID | None = None) -> list[ExpectedRequest]:
    """Return the requests of the records, as they would be asked today.

    One that belonged to a session is expected in the session of the record `last`.
    """
    by_id = Assembly.objects.in_bulk([*records, *([last] if last else [])])
    session = str(by_id[last].request.get("session") or "") if last and last in by_id else ""
    found = []
    for record in (by_id[id_] for id_ in records if id_ in by_id):
        try:
            owners, asked = load_owners(record), request_of_record(load_record(record))
        except (OwnerDeleted, RecordDamaged, RecordErased):
            continue
        if not asked.history and not asked.additional_context:
            found.append(ExpectedRequest(owners, replace(asked, session=session if asked.session else "")))
    return found
