"""This cache shares what engine and record compute from an item's text between the contexts that offer the item.

The same events, tools, threads and memories are offered for one topic after another: how they are shown, their tokens,
their words and their pieces of a record follow from their texts and lasting facts, whatever the topic. Why it is never
stale: all of these facts are the key, by value.
"""

from collections.abc import Hashable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import structs

from assembly.engine.types import Candidate, candidate_text_bytes
from config.caching.process_cache import ProcessCache
from teams.sensitivity import may_cache

MAX_BYTES = 24_000_000
MAX_CHARACTERS = 4_000
"""The longest text whose values are cached: passages and memories are shorter, and whole files are rarely the same."""
ITEM_BYTES, CHARACTER_BYTES = 5_000, 10
"""Approximate bytes of memory of an item's values: in all, and for the words of each character of its text."""


class _SharedMemo(NamedTuple):
    """A memo that candidates share, and its approximate bytes of memory."""

    memo: dict[Hashable, Any]
    size_bytes: int


_memos = ProcessCache[Hashable, _SharedMemo]("shared_memos", MAX_BYTES, attrgetter("size_bytes"))


def share_memos(candidates: Sequence[Candidate]) -> None:
    """Let each candidate use the memo of an earlier one with the same text and lasting facts.

    Candidates with a memo of their own, like those of cached rows, keep it. Nothing is shared of a text above the level
    that CACHE_SENSITIVITY permits.
    """
    fresh = [
        (one.lasting_key(), one)
        for one in candidates
        if not one.memo and len(one.text) <= MAX_CHARACTERS and may_cache(one.sensitivity)
    ]
    known = _memos.get_many([key for key, _ in fresh])
    new = dict[Hashable, _SharedMemo]()
    for key, candidate in fresh:
        shared = known.get(key) or new.setdefault(key, _SharedMemo(candidate.memo, _memory_bytes(candidate)))
        structs.force_setattr(candidate, "memo", shared.memo)
    _memos.put_many(new)


def forget_memos() -> None:
    """Remove everything from the cache."""
    _memos.clear()


def _memory_bytes(candidate: Candidate) -> int:
    texts = [candidate.text, *(level.text for level in candidate.levels.values())]
    return ITEM_BYTES + CHARACTER_BYTES * len(candidate.text) + sum(map(candidate_text_bytes, texts))
