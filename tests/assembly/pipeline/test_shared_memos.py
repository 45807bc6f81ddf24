"""Candidates of several contexts share what follows from their texts and lasting facts, and nothing else."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from assembly.engine.linear_ranker import BREVITY_FEATURE, source_share_signals
from assembly.engine.types import Candidate, Summary
from assembly.pipeline.shared_memos import MAX_CHARACTERS, forget_memos, share_memos
from assembly.profiles.rankers import RANKERS
from assembly.records.encoding import piece_of

NOW = datetime.datetime(2026, 11, 24, 9, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def no_memos() -> Iterator[None]:
    forget_memos()
    yield
    forget_memos()


def offered(**facts: Any) -> Candidate:
    """Return a candidate as a source offers it, after it was given a memo."""
    known: dict[str, Any] = {"ref": "memory:1@1", "section": "agent_memories", "text": "The bridge opens in May."}
    candidate = Candidate(**known | {"occurred_at": NOW, "labels": {"memory_kind": ("fact",)}} | facts)
    share_memos([candidate])
    return candidate


def test_what_one_topic_computed_serves_the_next() -> None:
    first = offered(similarity=0.4, score=0.3, measures={"relevance": 0.3})
    piece = piece_of(first)
    again = offered(similarity=0.7, score=0.6, measures={"relevance": 0.6}, section="knowledge")
    assert again.memo is first.memo
    assert piece_of(again) is piece
    assert again.score == 0.6


@pytest.mark.parametrize(
    "other",
    [
        {"ref": "memory:1@2"},
        {"text": "The bridge opens in June."},
        {"kind": "fact"},
        {"occurred_at": NOW + datetime.timedelta(days=1)},
        {"superseded_by": "memory:2"},
        {"retired": "It was wrong."},
        {"pinned": True},
        {"labels": {"memory_kind": ("rule",)}},
        {"origin": "tool"},
        {"levels": {"macro": Summary("The bridge.", "extract")}},
        {"mark": "disputed"},
    ],
)
def test_another_fact_is_another_memo(other: dict[str, Any]) -> None:
    assert offered(**other).memo is not offered().memo


def test_what_depends_on_measures_is_not_shared() -> None:
    first, again = (offered(measures={BREVITY_FEATURE: 0.5, "words_z": words}) for words in (2.0, 9.0))
    assert first.memo is again.memo
    ranker = RANKERS["default"]
    assert source_share_signals(ranker, first) != source_share_signals(ranker, again)


def test_cached_rows_keep_their_memo() -> None:
    kept = structs.replace(offered())
    memo = kept.memo
    piece_of(kept)
    share_memos([kept])
    assert kept.memo is memo


def test_very_long_texts_are_not_kept() -> None:
    assert offered(text="x" * (MAX_CHARACTERS + 1)).memo is not offered(text="x" * (MAX_CHARACTERS + 1)).memo
