"""An embedder on a server that is late, down or talks nonsense costs what is found by meaning, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agents.models import Agent
from assembly.contexts.layers import source_rows
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.records.warnings import warnings_of
from memories.embeddings.active_model import last_known_model, read_active_model, remember_model
from memories.models import EmbeddingSpace, Session, TaskFrame
from memories.services import MemoryFacts, memory_create
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import leaving_no_thread_behind
from tests.http_endpoints import Endpoint, Handler, closed_port, giving, serving

Behave = Callable[[Handler], None]
DIMENSIONS = 3
TIME_MS = 3_000
LATE = "The embedder timed out, so items were found by words and dates only."
FAILED = "The embedder failed, so items were found by words and dates only."


def embedding(handler: Handler) -> None:
    """By what each text is about: the ferry, or anything else."""
    texts = handler.endpoint.seen[-1].body["input"]
    rows = [[1.0, 0.0, 0.0] if "ferry" in text else [0.0, 1.0, 0.0] for text in texts]
    giving({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})(handler)


def asleep(handler: Handler) -> None:
    handler.wait_until_gone(30)


def vector(*numbers: Any) -> Behave:
    return giving({"data": [{"index": 0, "embedding": list(numbers)}]})


@pytest.fixture
def ferry(luna: Agent, settings: Any) -> Iterator[Agent]:
    """Luna, whose memories were embedded by a server; the oldest is about the ferry."""
    before = last_known_model()
    EmbeddingSpace.objects.update(model="openai:tiny-1", dimensions=DIMENSIONS)
    read_active_model()
    with behaving(settings, embedding):
        for text in ("The ferry leaves at nine.", *(f"Paint pot {number} is empty." for number in range(30))):
            memory_create(owner=luna, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    with leaving_no_thread_behind():
        yield luna
    remember_model([before.model, str(before.dimensions), before.slot])


@contextmanager
def behaving(settings: Any, behave: Behave) -> Iterator[Endpoint]:
    with serving(behave) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        yield endpoint


def told(ferry: Agent, time_ms: int | None = TIME_MS, **wishes: Any) -> AssemblyResult:
    wishes = {"topic": "When is the ferry?", **wishes}
    asked = AssemblyRequest(budgets=RequestBudgets(time_ms=time_ms), **wishes)
    return assemble(agent=ferry, asked=asked, principal=SYSTEM)


def report(answer: AssemblyResult) -> dict[str, Any] | None:
    return next((source for source in answer.assembly.sources if source["name"] == "embedder"), None)


def without_meaning(answer: AssemblyResult, code: str, message: str, fault: str) -> None:
    """The rest is there, the record says what happened, and it replays."""
    assert [(warned.code, warned.message) for warned in warnings_of(answer.assembly)] == [(code, message)]
    told_of_it = report(answer)
    assert told_of_it
    assert (told_of_it["code"], told_of_it["count"]) == (code, 0)
    assert fault in told_of_it["fault"]
    assert 0 <= told_of_it["started_ms"] <= told_of_it["deadline_ms"]
    assert "You are Luna." in answer.content
    assert "The ferry leaves at nine." in answer.content, "by its words"
    assert not any("similarity" in dict(decision.signals) for decision in answer.decisions)
    assert {name: value for name, value in codes(answer).items() if value} == {"embedder": code}
    [row] = [row for row in source_rows(answer.assembly) if row.label == "Meaning of the topic"]
    assert row.trouble.endswith(message)
    assert replay(load_record(Assembly.objects.get(id=answer.assembly.id))).identical


def codes(answer: AssemblyResult) -> dict[str, Any]:
    return {source["name"]: source["code"] for source in answer.assembly.sources}


def test_one_that_answers_finds_what_is_near_and_is_not_reported_on(ferry: Agent, settings: Any) -> None:
    with behaving(settings, embedding) as endpoint:
        answer = told(ferry)
    assert (answer.assembly.warnings, report(answer), len(endpoint.seen)) == ([], None, 1)
    assert "The ferry leaves at nine." in answer.content


def test_one_that_hangs_costs_what_is_found_by_meaning_and_not_the_context(ferry: Agent, settings: Any) -> None:
    settings.EMBEDDER_TIMEOUT_MS = 60_000
    with behaving(settings, asleep) as endpoint:
        answer = told(ferry)
        assert endpoint.gone.wait(10), "the socket is closed"
    without_meaning(answer, "SOURCE_TIMEOUT", LATE, "did not answer within")
    late = report(answer)
    assert late
    assert late["deadline_ms"] - late["started_ms"] <= 0.4 * TIME_MS, "others need the rest"


def test_without_a_time_of_the_request_its_own_is_the_limit(ferry: Agent, settings: Any) -> None:
    settings.EMBEDDER_TIMEOUT_MS = 300
    with behaving(settings, asleep):
        answer = told(ferry, None)
    without_meaning(answer, "SOURCE_TIMEOUT", LATE, "did not answer within 300 ms")


@pytest.mark.parametrize(
    ("behave", "fault"),
    [
        (giving({"error": "overloaded"}, 500), "answered 500 instead of 200"),
        (giving(b"<html>Welcome</html>"), "is not JSON"),
        (giving({"data": "none"}), "The embedding server's answer is JSON, but has no vector for each text."),
        (vector(1.0, 0.0), "gives 2 dimensions now and gave 3 before"),
        (vector(float("nan"), 0.0, 1.0), "The embedding server's answer has invalid vectors."),
    ],
    ids=["500", "garbage", "nothing", "size", "nan"],
)
def test_an_answer_that_is_no_vector_costs_no_more(ferry: Agent, settings: Any, behave: Behave, fault: str) -> None:
    with behaving(settings, behave):
        answer = told(ferry)
    without_meaning(answer, "SOURCE_FAILED", FAILED, fault)


def test_where_nobody_listens_it_is_the_same(ferry: Agent, settings: Any) -> None:
    settings.EMBEDDER_URL = f"http://127.0.0.1:{closed_port()}/v1"
    without_meaning(told(ferry), "SOURCE_FAILED", FAILED, "could not be reached")


def test_what_lacks_meaning_is_never_told_again(ferry: Agent, settings: Any) -> None:
    with behaving(settings, giving({}, 500)):
        partial = [told(ferry) for _ in range(2)]
    with behaving(settings, embedding):
        whole = [told(ferry) for _ in range(2)]
    repeats = [answer.assembly.request.get("repeats") for answer in (*partial, *whole)]
    assert repeats == [None, None, None, str(whole[0].assembly.id)]


def test_of_the_current_task_its_goal_is_embedded_within_the_same_limits(ferry: Agent, settings: Any) -> None:
    session = Session.objects.create(agent=ferry, started_at=NOW)
    TaskFrame.objects.create(agent=ferry, session=session, goal="Take the ferry to the island")
    wishes: dict[str, Any] = {"topic": "", "profile": "stack", "session": str(session.id)}
    settings.EMBEDDER_TIMEOUT_MS = 60_000
    with behaving(settings, asleep):
        late = told(ferry, **wishes)
    with behaving(settings, embedding) as endpoint:
        whole = told(ferry, **wishes)
    assert {name: value for name, value in codes(late).items() if value} == {"embedder": "SOURCE_TIMEOUT"}
    assert (whole.assembly.warnings, [seen.body["input"] for seen in endpoint.seen]) == (
        [],
        [["Take the ferry to the island"]],
    )
    assert all("Take the ferry to the island" in answer.content for answer in (late, whole))
