"""Each predictor looks at one thing that an agent's own past tells; their order and number are fixed."""

import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly, Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.preassembly.expected import ExpectedRequest, expected_requests
from assembly.preassembly.occasions import seconds_since_last_context, watched_agents
from assembly.preassembly.predictors import (
    MOST_EXPECTED,
    Predictor,
    Situation,
    after_event,
    expected_after,
    following,
    next_task,
    of_session,
    records_at_this_time,
)
from assembly.preassembly.reading_ahead import Preassembly, read_ahead
from assembly.sources.base import ConversationTurn
from memories.models import Event, Session
from memories.services.task_stack import task_pop, task_push
from teams.principal import SYSTEM
from tests.assembly.preassembly.scene import A, B, C, Owners, ask, hits_of, move_to

D = "Where are the proofs?"


def last(owners: Owners) -> Assembly:
    return Assembly.objects.filter(agent_id=owners[0].id).latest("created")


def predicted(predictor: Predictor, owners: Owners) -> list[str]:
    return [one.asked.topic for one in predictor(Situation(last(owners)))]


def happens(owners: Owners, kind: str, moment: datetime.datetime | None = None) -> None:
    content = {"text": "x"}
    Event.objects.create(agent=owners[0], type=kind, content=content, size=12, occurred_at=moment or timezone.now())


def recorded(owners: Owners, topic: str, moment: datetime.datetime, **asked: Any) -> None:
    """A context that was recorded at that moment, and not now."""
    row = ask(owners, topic, purpose=Purpose.TEST, **asked).assembly
    row.purpose = Purpose.AGENT
    move_to(row, moment)


def test_what_followed_events_of_this_type_is_expected_after_one(owners: Owners, worker: Preassembly) -> None:
    now = timezone.now()
    for hours, kind, topic in ((5, "build_failed", B), (4, "build_failed", B), (3, "mail", C), (2, "build_failed", D)):
        moment = now - datetime.timedelta(hours=hours)
        happens(owners, kind, moment - datetime.timedelta(seconds=30))
        happens(owners, kind, moment - datetime.timedelta(seconds=10))
        recorded(owners, topic, moment)
    ask(owners, A)
    assert predicted(after_event, owners) == [], "nothing has happened since"
    happens(owners, "build_failed")
    assert predicted(after_event, owners) == [B, D]
    worker.round()
    assert hits_of(lambda: ask(owners, B)) == (1, 0)
    happens(owners, "mail")
    assert predicted(after_event, owners) == [C]
    happens(owners, "never_before")
    assert predicted(after_event, owners) == []


def test_events_and_questions_of_others_tell_nothing(owners: Owners) -> None:
    other = Agent.objects.create(slug="other", name="Other")
    moment = timezone.now() - datetime.timedelta(hours=1)
    happens((other, owners[1]), "mail", moment)
    recorded(owners, B, moment + datetime.timedelta(minutes=1))
    ask(owners, A)
    happens(owners, "mail")
    assert predicted(after_event, owners) == []


def test_the_next_task_is_expected_by_an_agent_that_asks_for_one_after_the_other(
    owners: Owners, worker: Preassembly
) -> None:
    agent, _ = owners
    root = task_push(agent=agent, session=None, goal="Print the issue", principal=SYSTEM)
    for goal in ("Fold the sheets", "Cut the paper"):  # the newest of siblings is the current one
        task = task_push(agent=agent, session=None, goal=goal, principal=SYSTEM)
        task.parent, task.depth = root, 1
        task.save()
    ask(owners, "Something else")
    assert predicted(next_task, owners) == [], "it does not ask for tasks"
    ask(owners, "Cut the paper")
    assert predicted(next_task, owners) == ["Fold the sheets"]
    task_pop(agent=agent, session=None, result="cut", principal=SYSTEM)
    assert predicted(next_task, owners) == ["Fold the sheets", "Print the issue"]
    worker.round()
    assert hits_of(lambda: ask(owners, "Fold the sheets")) == (1, 0)


def test_without_a_topic_the_same_is_expected_for_the_task_that_has_become_current(owners: Owners) -> None:
    agent, _ = owners
    for goal in ("Print the issue", "Cut the paper"):
        task_push(agent=agent, session=None, goal=goal, principal=SYSTEM)
    ask(owners, "")
    assert predicted(next_task, owners) == []
    task_push(agent=agent, session=None, goal="Sharpen the knife", principal=SYSTEM)
    assert predicted(next_task, owners) == [""]


def test_the_most_frequent_followers_come_first_and_none_of_another_agent(owners: Owners) -> None:
    other = Agent.objects.create(slug="other", name="Other")
    for topic in (A, C, A, B, A, B, A):
        ask(owners, topic)
    for topic in (A, "A secret of the other one", A):
        assemble(agent=other, asked=AssemblyRequest(topic=topic, purpose=Purpose.AGENT), principal=SYSTEM)
    assert predicted(following, owners) == [B, C]
    assert predicted(following, (other, owners[1])) == ["A secret of the other one"]
    assert {one.agent for one in watched_agents()} == {owners[0].id, other.id}


def test_the_last_topics_of_the_session_are_expected_again(owners: Owners) -> None:
    for name in ("monday", "tuesday"):
        Session.objects.create(agent=owners[0], external_id=name, started_at=timezone.now())
    ask(owners, D, session="monday")
    for topic in (C, B, A):
        ask(owners, topic, session="tuesday")
    assert predicted(of_session, owners) == [A, B, C]
    ask(owners, D, session="tuesday")
    ask(owners, A, session="monday")
    assert predicted(of_session, owners) == [A], "the others belong to another session"


def test_previews_and_requests_with_texts_of_their_own_are_not_expected(owners: Owners) -> None:
    ask(owners, A)
    ask(owners, B, purpose=Purpose.PREVIEW)
    ask(owners, A, max_tokens=2_000)
    ask(owners, B, history=(ConversationTurn("user", "hello"),))
    ask(owners, A)
    ask(owners, C, additional_context="Only today.")
    ask(owners, A)
    assert [topic for topic in predicted(following, owners) if topic != A] == []
    assert set(predicted(of_session, owners)) == {A}


def test_a_question_of_a_session_is_expected_in_the_present_one(owners: Owners) -> None:
    first, second = (
        Session.objects.create(agent=owners[0], external_id=name, started_at=timezone.now())
        for name in ("monday", "tuesday")
    )
    ask(owners, A, session="monday")
    ask(owners, B, session="monday")
    ask(owners, A, session="tuesday")
    expected: list[ExpectedRequest] = list(following(Situation(last(owners))))
    assert [(one.asked.topic, one.asked.session) for one in expected] == [(B, "tuesday")]
    Session.objects.filter(id=second.id).delete()
    assert read_ahead(expected[0]) is None, "its session is gone"
    assert first.external_id == "monday"


def test_what_is_asked_at_this_time_of_day_or_week_is_expected(owners: Owners, worker: Preassembly) -> None:
    zone = ZoneInfo("America/St_Johns")
    Agent.objects.filter(id=owners[0].id).update(timezone=zone.key)
    owners[0].refresh_from_db()
    soon = timezone.now().astimezone(zone) + datetime.timedelta(minutes=1)

    def days_ago(days: float) -> datetime.datetime:
        return soon - datetime.timedelta(days=days)  # by the clock on the wall, also over a change to summer time

    for topic, days in ((A, (1, 9)), (B, (1, 20)), (C, (14, 21)), (D, (1.1, 2.1)), ("Weekly?", (21, 28)), ("x", (3,))):
        for day in days:
            recorded(owners, topic, days_ago(day))
    found = [one.asked.topic for one in expected_requests(records_at_this_time())]
    assert set(found) == {A, C, "Weekly?"}
    worker.round()
    assert hits_of(lambda: ask(owners, C)) == (1, 0)


def test_predictors_come_in_their_order_and_expect_three_questions_together(owners: Owners) -> None:
    happens(owners, "mail", timezone.now() - datetime.timedelta(minutes=50))
    recorded(owners, D, timezone.now() - datetime.timedelta(minutes=40))
    for topic in (A, B, A, C, A):
        ask(owners, topic)
    assert [one.asked.topic for one in expected_after(last(owners).id)] == [C, B, A]
    happens(owners, "mail")
    expected = [one.asked.topic for one in expected_after(last(owners).id)]
    assert expected == [D, C, B]
    assert len(expected) == MOST_EXPECTED


def test_a_moment_ago_is_a_moment_ago(owners: Owners) -> None:
    assert seconds_since_last_context() is None
    ask(owners, A)
    seconds = seconds_since_last_context()
    assert seconds is not None
    assert 0 <= seconds < 60
