"""Predictors say which questions an agent will probably ask next; each looks at one thing that the past tells.

Their order is that of PREDICTORS, and at most MOST_EXPECTED questions are expected of an agent at once:

1. what the agent asked most often after an event of the type that has just happened;
2. the task that has become current, and the one after it, if the agent asks for one task after the other;
3. what it asked most often after the question that it asked last;
4. the last topics of its session.

What agents ask at this time of day is expected by the clock, not by an occasion: see `records_at_this_time`. All is
told by the agent's own contexts of the last weeks; nothing is told from one agent to another. Questions are told apart
by what the columns of a record say of them: team, topic, profile, budget and tokenizer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from uuid import UUID

from assembly.models import Assembly
from assembly.pipeline.request import find_session
from assembly.preassembly.expected import ExpectedRequest, expected_request, expected_requests
from assembly.preassembly.occasions import IS_FIRST, MOST_AGENTS
from config.db.statements import fetch_rows
from config.http.errors import NotFound
from memories.models import TaskFrame, TaskStatus
from memories.services.task_stack import task_peek
from teams.sensitivity import DEFAULT_LEVEL

MOST_EXPECTED = 3
"""The most questions that are expected of an agent at once."""
DAYS, WEEKS = 14, 4
FOLLOWS_WITHIN_SECONDS = 3_600
SESSION_SECONDS = 3_600
SOON_SECONDS = 240
"""What was asked on former days within so many seconds from this time of day is expected: less than readings live."""
LEAST_TIMES = 2
MOST_RECORDS = 1_000
"""The most contexts of an agent that are compared, the newest ones."""
MOST_EVENTS = 200
"""The most events of a type that are looked at, the newest ones."""
MOST_TASKS = 50
"""The most tasks of an agent among which the topic of its last context is sought, the newest ones."""
QUESTION = "ROW(team_id, topic, profile_name, budget, tokenizer)::text"

# The question that came first after each event of the type counts, once for all events that it followed.
AFTER_EVENT_SQL = f"""
WITH newest AS (
    SELECT type, occurred_at FROM events
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
    ORDER BY occurred_at DESC, id DESC LIMIT 1
), happened AS (
    SELECT events.occurred_at FROM events, newest
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND events.type = newest.type
        AND newest.occurred_at > %(since)s AND events.occurred_at < newest.occurred_at
        AND events.occurred_at > now() - make_interval(days => %(days)s)
    ORDER BY events.occurred_at DESC, events.id DESC LIMIT %(events)s
), followed AS (
    SELECT DISTINCT next.* FROM happened CROSS JOIN LATERAL (
        SELECT id, created, {QUESTION} AS question FROM assemblies
        WHERE agent_id = %(agent)s AND created >= happened.occurred_at
            AND created < happened.occurred_at + make_interval(secs => %(seconds)s) AND {IS_FIRST}
        ORDER BY created, id LIMIT 1
    ) next
)
SELECT (array_agg(id ORDER BY created DESC))[1] FROM followed
GROUP BY question ORDER BY count(*) DESC, max(created) DESC LIMIT %(expected)s
"""  # noqa: S608 - only the constants above are put in
FOLLOWING_SQL = f"""
WITH asked AS (
    SELECT id, created, {QUESTION} AS question FROM assemblies
    WHERE agent_id = %(agent)s AND created > now() - make_interval(days => %(days)s) AND {IS_FIRST}
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
OF_SESSION_SQL = f"""
WITH asked AS (
    SELECT id, created, {QUESTION} AS question FROM assemblies
    WHERE agent_id = %(agent)s AND created > now() - make_interval(secs => %(seconds)s) AND {IS_FIRST}
    ORDER BY created DESC, id DESC LIMIT %(limit)s
)
SELECT (array_agg(id ORDER BY created DESC))[1] FROM asked GROUP BY question
ORDER BY max(created) DESC, (array_agg(id ORDER BY created DESC))[1] DESC LIMIT %(expected)s
"""  # noqa: S608 - only the constants above are put in
# The same time of day is that of the agent's time zone, so that a change to summer time moves nothing.
AT_THIS_TIME_SQL = f"""
WITH moments AS MATERIALIZED (
    SELECT zone, day, (now() AT TIME ZONE zone - make_interval(days => day)) AT TIME ZONE zone AS moment
    FROM (SELECT DISTINCT timezone AS zone FROM agents) zones, generate_series(1, %(days)s) AS day
), asked AS (
    SELECT assemblies.agent_id, {QUESTION} AS question, assemblies.id, assemblies.created, moments.day
    FROM moments JOIN assemblies ON assemblies.created >= moments.moment
        AND assemblies.created < moments.moment + make_interval(secs => %(seconds)s)
    JOIN agents ON agents.id = assemblies.agent_id AND agents.timezone = moments.zone
    WHERE {IS_FIRST.replace("sensitivity", "assemblies.sensitivity")}
), often AS (
    SELECT agent_id, (array_agg(id ORDER BY created DESC))[1] AS id, count(DISTINCT day) AS days,
        max(created) AS last, row_number() OVER (
            PARTITION BY agent_id ORDER BY count(DISTINCT day) DESC, max(created) DESC
        ) AS place
    FROM asked GROUP BY agent_id, question
    HAVING count(DISTINCT day) FILTER (WHERE day <= %(recent)s) >= %(least)s
        OR count(DISTINCT day) FILTER (WHERE day %% 7 = 0) >= %(least)s
)
SELECT id FROM often WHERE place <= %(expected)s ORDER BY days DESC, last DESC LIMIT %(limit)s
"""  # noqa: S608 - only the constants above are put in


@dataclass
class Situation:
    """Where an agent is: its last context."""

    last: Assembly

    @cached_property
    def request(self) -> ExpectedRequest | None:
        """The last request, as it would be asked again; None if it cannot be."""
        return expected_request(self.last.id)

    @property
    def session(self) -> str:
        """The session of the last request; empty without one."""
        return self.request.asked.session if self.request else ""


Predictor = Callable[[Situation], Iterator[ExpectedRequest]]


def after_event(situation: Situation) -> Iterator[ExpectedRequest]:
    """Yield what followed events of the type of the agent's newest event, if it happened after the last context."""
    last = situation.last
    given = {"since": last.created, "events": MOST_EVENTS, "seconds": FOLLOWS_WITHIN_SECONDS}
    yield from expected_requests(_records(AFTER_EVENT_SQL, last.agent_id, **given), situation.session)


def next_task(situation: Situation) -> Iterator[ExpectedRequest]:
    """Yield the last request for the task that is current now, and for the one that becomes current after it, its next
    sibling or else its parent, if the last context was about a task: without a topic, it is about the current one.
    """
    if not (request := situation.request):
        return
    topic, agent = request.asked.topic.strip(), request.owners.agent
    goals = TaskFrame.objects.filter(agent=agent, sensitivity__lte=DEFAULT_LEVEL).order_by("-created", "-id")
    if topic and topic not in {goal.strip() for goal in goals.values_list("goal", flat=True)[:MOST_TASKS]}:
        return
    try:
        session = find_session(agent, request.asked.session)
    except NotFound:  # it was deleted
        return
    current = task_peek(agent=agent, session=session)
    if current is None:
        return
    stack = TaskFrame.objects.filter(agent=agent, session=session, status=TaskStatus.ACTIVE).exclude(id=current.id)
    if not topic:
        if current.updated > situation.last.created:
            yield request
        return
    for task in (current, stack.order_by("-depth", "-created", "-id").first()):
        if task and task.goal.strip() != topic and task.sensitivity <= DEFAULT_LEVEL:
            yield ExpectedRequest(request.owners, replace(request.asked, topic=task.goal))


def following(situation: Situation) -> Iterator[ExpectedRequest]:
    """Yield what followed the agent's last question most often, in the same team, within an hour."""
    given = {"limit": MOST_RECORDS, "seconds": FOLLOWS_WITHIN_SECONDS}
    yield from expected_requests(_records(FOLLOWING_SQL, situation.last.agent_id, **given), situation.session)


def of_session(situation: Situation) -> Iterator[ExpectedRequest]:
    """Yield the newest questions of the agent's session, the last one first; without a session, of its last hour."""
    given = {"limit": MOST_RECORDS, "seconds": SESSION_SECONDS}
    for one in expected_requests(_records(OF_SESSION_SQL, situation.last.agent_id, **given)):
        if one.asked.session == situation.session:
            yield one


PREDICTORS: Sequence[Predictor] = (after_event, next_task, following, of_session)


def expected_after(last: UUID) -> Iterator[ExpectedRequest]:
    """Yield the requests that are expected of an agent after its last context, each once, the most probable first."""
    row = Assembly.objects.filter(id=last).first()
    if row is None:
        return
    yield from islice(_distinct(Situation(row)), MOST_EXPECTED)


def _distinct(situation: Situation) -> Iterator[ExpectedRequest]:
    known = set[bytes]()
    for predictor in PREDICTORS:
        for one in predictor(situation):
            if one.key not in known:
                known.add(one.key)
                yield one


def records_at_this_time() -> list[UUID]:
    """Return the newest records of the questions that agents ask at this time of day: on two of the last 14 days, or on
    this day of the week in two of the last four weeks; at most MOST_EXPECTED of each agent.
    """
    given = {"days": 7 * WEEKS, "recent": DAYS, "seconds": SOON_SECONDS, "least": LEAST_TIMES, "limit": MOST_AGENTS}
    common = {"expected": MOST_EXPECTED, "clearance": DEFAULT_LEVEL}
    return [id_ for (id_,) in fetch_rows(AT_THIS_TIME_SQL, {**given, **common})]


def _records(sql: str, agent: UUID, **given: object) -> list[UUID]:
    common = {"agent": agent, "days": DAYS, "expected": MOST_EXPECTED, "clearance": DEFAULT_LEVEL}
    return [id_ for (id_,) in fetch_rows(sql, {**common, **given})]
