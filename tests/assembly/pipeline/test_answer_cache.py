"""Promise 6: a cached assembly equals an uncached run at the cached `now`, and nothing that changed is ever missed."""

import datetime
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from typing import Any, NoReturn

import pytest
from django.db import transaction
from django.utils import timezone

from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly, StoredText
from assembly.pipeline import services, shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult, CacheKey
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.sources import SOURCES
from assembly.sources.base import ConversationTurn, GatherContext, RequestFilters
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.one_of_each import everything
from tests.assembly.recorded_decisions import decided
from tests.client import Api

Pair = tuple[Agent, Team]
NOON = datetime.datetime(2026, 3, 14, 12, tzinfo=datetime.UTC)


@pytest.fixture
def kept(db: None) -> Pair:
    return everything(timezone.now())


def context(kept: Pair, *, alone: bool = False, principal: Principal = SYSTEM, **wishes: Any) -> tuple[Assembly, str]:
    agent, team = kept
    answer = assemble(agent=agent, team=None if alone else team, asked=AssemblyRequest(**wishes), principal=principal)
    return answer.assembly, answer.content


def is_repeat(assembly: Assembly) -> bool:
    return "repeats" in assembly.request


# --- what a repeat is -------------------------------------------------------------------------------------------


def test_a_repeat_is_a_record_of_its_own_that_says_the_same(kept: Pair) -> None:
    first, content = context(kept, topic="ink")
    texts = StoredText.objects.count()
    second, again = context(kept, topic="ink")
    assert second.request == {**first.request, "repeats": str(first.id)}
    assert second.id > first.id
    assert second.created > first.created
    assert again == content
    assert (first.decided_in, second.decided_in) == (None, first.id)
    new = {"id", "created", "body", "assembly_ms", "decided_in"}
    same = [field.attname for field in Assembly._meta.concrete_fields if field.attname not in new]
    stored = Assembly.objects.get(id=second.id)
    assert [getattr(stored, name) for name in same] == [getattr(first, name) for name in same]
    assert decided(second) == decided(first) != []
    assert StoredText.objects.count() == texts
    assert replay(load_record(stored)).identical
    assert context(kept, topic="ink")[0].request["repeats"] == str(first.id), "the first, not the one in between"


def test_a_repeat_reads_the_counts_and_writes_its_record_and_nothing_else(
    kept: Pair, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    context(kept)
    with django_assert_num_queries(2):
        assert is_repeat(context(kept)[0])


def test_each_record_says_who_asked(kept: Pair) -> None:
    person = User.objects.create_user("nia", name="Nia").principal
    first, content = context(kept)
    second, again = context(kept, principal=person)
    assert is_repeat(second)
    assert again == content
    assert (first.requested_by, second.requested_by, second.requester_name) == ("system", person.ref, "Nia")


def test_no_source_knows_who_asks() -> None:
    """Else the key would have to hold it."""
    assert "Principal" not in str([field.type for field in fields(GatherContext)])


def test_turns_and_what_is_added_are_part_of_the_question(kept: Pair) -> None:
    said: list[dict[str, Any]] = [
        {"history": (ConversationTurn("user", text),), "additional_context": added} for text in "ab" for added in "cd"
    ]
    firsts = [context(kept, profile="coding", **wishes) for wishes in said]
    assert not any(is_repeat(assembly) for assembly, _ in firsts)
    assert len({content for _, content in firsts}) == len(said)
    assert all(is_repeat(context(kept, profile="coding", **wishes)[0]) for wishes in said)


@pytest.mark.parametrize(
    "other",
    [
        {"topic": "paper"},
        {"max_tokens": 900},
        {"tokenizer": "chars4"},
        {"alone": True},
        {"profile": "coding"},
        {"filters": RequestFilters(exclude=("memory:x",))},
        {"format": "messages"},
        {"now": NOON},
    ],
    ids=str,
)
def test_another_question_is_answered_afresh(kept: Pair, other: dict[str, Any]) -> None:
    context(kept, topic="ink")
    different = {"topic": "ink", **other}
    assert not is_repeat(context(kept, **different)[0])
    assert is_repeat(context(kept, **different)[0])
    assert is_repeat(context(kept, topic="ink")[0])


def test_moments_a_microsecond_apart_are_two_questions(kept: Pair) -> None:
    context(kept, now=NOON)
    assert not is_repeat(context(kept, now=NOON + datetime.timedelta(microseconds=1))[0])


@pytest.mark.usefixtures("db")
def test_over_rest_a_repeat_is_created_as_well(agent_api: Api) -> None:
    answers = [agent_api.post("assemblies", {"agent": "ada", "team": "care"}) for _ in range(2)]
    documents = [answer.json() for answer in answers]
    assert [document["repeat_of_id"] for document in documents] == [None, documents[0]["id"]]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert documents[0]["id"] != documents[1]["id"]
    for document in documents:
        assert agent_api.get(f"assemblies/{document.pop('id')}").status_code == 200
        del document["created_at"], document["repeat_of_id"], document["metadata"]["assembly_ms"]
    assert documents[0] == documents[1]


# --- how long it lives ------------------------------------------------------------------------------------------


def test_an_answer_is_forgotten_after_half_a_minute(kept: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 1_000.0
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache(timer=lambda: seconds))
    first, _ = context(kept)
    seconds += 29.9
    assert context(kept)[0].now == first.now
    seconds += 0.1  # a repeat does not prolong it
    assert not is_repeat(context(kept)[0])


def test_a_new_day_where_the_agent_works_is_seen(kept: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, _ = kept
    Agent.objects.filter(id=agent.id).update(timezone="Pacific/Auckland")  # 13 hours ahead in March
    agent.refresh_from_db()
    daily_log_append(agent=agent, date=datetime.date(2026, 3, 8), text="A week ago.", principal=SYSTEM)
    midnight = datetime.datetime(2026, 3, 14, 11, tzinfo=datetime.UTC)
    moment = midnight - datetime.timedelta(seconds=2)
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
    assert "A week ago." in context(kept)[1]
    moment += datetime.timedelta(seconds=1)
    assert is_repeat(context(kept)[0])
    moment += datetime.timedelta(seconds=1)
    assembly, content = context(kept)
    assert not is_repeat(assembly)
    assert "A week ago." not in content


def test_an_answer_whose_record_is_gone_is_not_repeated(kept: Pair) -> None:
    with transaction.atomic():
        context(kept)
        transaction.set_rollback(True)
    first, _ = context(kept)
    assert not is_repeat(first)
    assert context(kept)[0].request["repeats"] == str(first.id)


@pytest.mark.parametrize("step", ["source", "record"])
def test_what_failed_is_not_remembered(kept: Pair, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("on purpose")

    with monkeypatch.context() as patch:
        if step == "source":
            patch.setitem(SOURCES, "daily_logs", replace(SOURCES["daily_logs"], gather=fail, reading=None))
        else:
            patch.setattr(services, "record", fail)
        if step == "source":
            assert context(kept)[0].warnings == ["SOURCE_FAILED"]
        else:
            with pytest.raises(RuntimeError, match="on purpose"), transaction.atomic():
                context(kept)
    assert not is_repeat(context(kept)[0])


SEEN = (1,)


def answer(size: int) -> AssemblyResult:
    return AssemblyResult(Assembly(), "x" * (size - sys.getsizeof("")), ())


def asked(key: bytes) -> CacheKey:
    return CacheKey(key, NOON)


def test_the_oldest_make_room_for_the_new() -> None:
    cache = AssemblyCache[AssemblyResult](max_bytes=10_000)
    for key in (b"a", b"b", b"c"):
        cache.remember(asked(key), SEEN, answer(4_000))
    assert [cache.recall(asked(key), SEEN) is None for key in (b"a", b"b", b"c")] == [True, False, False]
    cache.remember(asked(b"d"), SEEN, answer(10_001))
    assert [cache.recall(asked(key), SEEN) is None for key in (b"b", b"c", b"d")] == [False, False, True], "too large"
    for _ in range(5):  # the same one again and again takes its room once
        cache.remember(asked(b"e"), SEEN, answer(6_000))
    cache.remember(asked(b"f"), SEEN, answer(4_000))
    assert cache.recall(asked(b"e"), SEEN)


def test_what_is_too_old_is_let_go_of() -> None:
    now = [0.0]
    cache = AssemblyCache[AssemblyResult](timer=lambda: now[0])
    cache.remember(asked(b"old"), SEEN, answer(1_000))
    now[0] = 31.0
    cache.remember(asked(b"new"), SEEN, answer(1_000))
    now[0] = 1.0
    assert cache.recall(asked(b"old"), SEEN) is None, "it has left"
    assert cache.recall(asked(b"new"), SEEN)


def test_an_answer_holds_for_the_changes_that_it_saw() -> None:
    now = [0.0]
    cache = AssemblyCache[AssemblyResult](timer=lambda: now[0])
    cache.remember(asked(b"a"), (1, 2), answer(1_000))
    assert cache.knows(asked(b"a"))
    assert not cache.knows(asked(b"b"))
    assert cache.recall(asked(b"a"), (1, 2))
    assert cache.recall(asked(b"a"), (1, 3)) is None
    now[0] = 30.0
    assert not cache.knows(asked(b"a"))
