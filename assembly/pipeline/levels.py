"""Candidates get their levels of detail: those that are stored for their texts, else those derived here.

Levels are made after a text is saved (`assembly.pipeline.level_derivation`). A context never waits for a model: where
none are stored, they are extracted. The extractive deriver always gives equal levels for equal texts, so a context is
the same whether or not the background has been there.

Optimisation: levels are cached in the own memo of a candidate, which the cache of source rows shares between contexts,
and by the hash of the text. Cached levels are never stale, because they follow from the text and the name of the
deriver; extracted ones are not cached while a model is configured, whose levels may be stored any moment.
"""

import sys
from collections.abc import Collection, Sequence

from django.conf import settings
from msgspec import structs

from assembly.engine.detail_levels import EXTRACTIVE_LEVELS, derive_levels
from assembly.engine.overflow import MIN_SHORTENED_TOKENS
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from assembly.engine.types import Candidate, Summary
from assembly.models import text_hash
from assembly.records.stored_levels import Levels, find_levels
from assembly.sources.level_texts import STORED_CHARACTERS
from config.caching.process_cache import ProcessCache
from config.observability.tracing import span
from teams.sensitivity import may_cache

PROMPT_VERSION = 1
"""The version of the request to a model, part of the name of its levels; it rises when the request changes."""

MAX_CACHE_BYTES = 8_000_000
ENTRY_BYTES = 600
"""Approximate bytes of memory of the levels of a text, without the texts of the levels."""

LEVELLED = "levelled"
"""The key under which a candidate's own memo caches the candidate with its levels, by the names of the derivers."""

Derivers = tuple[str, ...]


def derivers() -> Derivers:
    """Return the names of the derivers whose levels are used, the preferred one first: a configured model, extraction.

    Their versions are part of the names.
    """
    if not settings.SUMMARISER_URL:
        return (EXTRACTIVE_LEVELS,)
    return f"{settings.SUMMARISER_MODEL}@{PROMPT_VERSION}", EXTRACTIVE_LEVELS


def with_levels(profile: Profile, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates with levels of detail, for blocks of a profile that uses shorter levels.

    Candidates that have levels, like those of records, stay as they are. One statement reads all stored levels. Raises
    TooCostly and TookTooLong.
    """
    if profile.lod is None or profile.lod == "atomic":
        return candidates
    blocks = {section.key for section in profile.sections if section.shape == "blocks"}
    key = (LEVELLED, names := derivers())
    offered = [one for one in candidates if one.section in blocks and not one.levels]
    unknown = {one.text for one in offered if key not in one.own_memo and _may_have_levels(one.text)}
    with span("levels", {"texts": len(unknown)}):
        found = levels_of(unknown, names, private={one.text for one in offered if not may_cache(one.sensitivity)})
    return [_levelled(one, found.get(one.text), names) if one.section in blocks else one for one in candidates]


def levels_of(texts: Collection[str], names: Derivers, *, private: Collection[str]) -> dict[str, Levels]:
    """Return the levels of each text, stored or extracted; without any where a text has one level alone.

    Those of `private` texts are not cached.
    """
    hashes = {text: text_hash(text) for text in texts}
    known = _cache.get_many([(key, names) for key in hashes.values()])
    found: dict[str, Levels] = {text: known[key, names] for text, key in hashes.items() if (key, names) in known}
    missing = [text for text in texts if text not in found]
    stored = find_levels([hashes[text] for text in missing if len(text) >= STORED_CHARACTERS], names)
    made = {text: stored.get(hashes[text]) or extracted_levels(text) for text in missing}
    _cache.put_many(
        {
            (hashes[text], names): levels
            for text, levels in made.items()
            if text not in private and _is_final(levels, names)
        }
    )
    return found | made


def extracted_levels(text: str) -> Levels:
    """Return the levels of the text by extraction, measured by the default tokenizer, whatever that of a context."""
    derived = derive_levels(text, get_tokenizer(DEFAULT_TOKENIZER))
    return {level: Summary(short, EXTRACTIVE_LEVELS) for level, short in derived.items()}


def _levelled(candidate: Candidate, levels: Levels | None, names: Derivers) -> Candidate:
    """Return the candidate with these levels; None stands for levels that it has, or that are in its own memo."""
    if candidate.levels:
        return candidate
    if levels is None:
        known: Candidate | None = candidate.own_memo.get((LEVELLED, names))
        return known or candidate
    levelled = structs.replace(candidate, levels=levels) if levels else None
    if _is_final(levels, names):
        candidate.own_memo[LEVELLED, names] = levelled
    return levelled or candidate


def _may_have_levels(text: str) -> bool:
    """Return whether the text may have as many tokens as a text with levels: a token has at least one byte."""
    return len(text) >= MIN_SHORTENED_TOKENS or len(text.encode(errors="replace")) >= MIN_SHORTENED_TOKENS


def _is_final(levels: Levels, names: Derivers) -> bool:
    """Return whether the preferred deriver made the levels, so that no better ones can be stored later."""
    return len(names) == 1 or any(summary.model == names[0] for summary in levels.values())


def _memory_bytes(levels: Levels) -> int:
    return ENTRY_BYTES + sum(sys.getsizeof(summary.text) for summary in levels.values())


_cache = ProcessCache[tuple[bytes, Derivers], Levels]("levels", MAX_CACHE_BYTES, _memory_bytes)
