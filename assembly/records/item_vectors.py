"""The items of a context are compared with each other when it is recorded, because no record holds vectors.

The vectors are those of the bundled embedder, whatever embedder searches: they take little time, need no server, and
the scale of `assembly.engine.quality` was measured with them. Of a text, the beginning is embedded.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from assembly.engine.linear_ranker import DECIMALS
from assembly.engine.profile import Profile, Shape
from assembly.engine.quality import item_coherence, vector_coherence
from assembly.engine.types import Candidate, Decision
from assembly.models import text_hash
from config.caching.process_cache import ProcessCache
from config.http.cpu_budget import TooCostly, TookTooLong, cpu_budget, cpu_seconds_left
from memories.embeddings.base import Vector
from memories.embeddings.wordllama import DIMENSIONS, embed
from teams.sensitivity import may_cache

logger = logging.getLogger(__name__)

MAX_ITEMS = 60
"""The number of included items that are compared; further ones do not count."""
MAX_CHARACTERS = 2_000
"""The number of characters of a text that are embedded."""
CPU_SHARE = 0.5
"""The share of the remaining CPU time of a request that the comparison may use."""
MAX_CACHE_BYTES = 4_000_000
ENTRY_BYTES = 1_500
"""Approximate bytes of memory of a cached vector with its key."""
WHOLE_SHAPES: frozenset[Shape] = frozenset({"text", "note"})
"""The shapes of sections that consist of one text, such as a whole file."""

Signals = Mapping[str, float]

_cache = ProcessCache[bytes, Vector]("item_vectors", MAX_CACHE_BYTES, lambda _: ENTRY_BYTES)


def mean_coherence(
    topic: str, profile: Profile, candidates: Sequence[Candidate], decisions: Sequence[Decision], level: int
) -> float | None:
    """Return the mean c of the included items, by `assembly.engine.quality`; None if it is known of none, or if the
    request has too little time for it.

    `level` is the least sensitivity of all texts. The first MAX_ITEMS items count; a whole file does not.
    """
    measured = _measured_items(profile, candidates, decisions)
    try:
        with cpu_budget(cpu_seconds_left() * CPU_SHARE):
            cosines = _largest_cosines((topic, level), [(one.text, max(level, one.sensitivity)) for one, _ in measured])
    except (TooCostly, TookTooLong) as error:
        logger.warning("the items of a context were not compared: %s", type(error).__name__)
        return None
    known = [
        item_coherence(signals) if cosine is None else vector_coherence(signals, cosine)
        for (_, signals), cosine in zip(measured, cosines, strict=True)
    ]
    found = [one for one in known if one is not None]
    return round(fmean(found), DECIMALS) if found else None


def _measured_items(
    profile: Profile, candidates: Iterable[Candidate], decisions: Iterable[Decision]
) -> list[tuple[Candidate, Signals]]:
    """Return the included items that count, each once, with their signals."""
    whole = {section.key for section in profile.sections if section.shape in WHOLE_SHAPES}
    offered = {(candidate.section, candidate.ref): candidate for candidate in candidates}
    found: dict[str, tuple[Candidate, Signals]] = {}
    for decision in decisions:
        if not decision.included or decision.ref in found:
            continue
        candidate, signals = offered[decision.section, decision.ref], dict(decision.signals)
        if candidate.text.strip() and (decision.section not in whole or item_coherence(signals) is not None):
            found[decision.ref] = candidate, signals
    return [*found.values()][:MAX_ITEMS]


def _largest_cosines(topic: tuple[str, int], items: Sequence[tuple[str, int]]) -> list[float | None]:
    """Return for each item its largest cosine to the topic and to another item; None for one that has no vector, or
    that there is nothing to compare with.

    Each text is given with its level.
    """
    about, *vectors = _vectors([topic, *items])
    known = [place for place, vector in enumerate(vectors) if vector is not None]
    others = [] if about is None else [about]
    rows = np.array([*(vectors[place] for place in known), *others], dtype=np.float32).reshape(-1, DIMENSIONS)
    found: list[float | None] = [None] * len(items)
    if len(rows) > 1:
        for place, cosine in zip(known, _nearest(rows), strict=False):
            found[place] = float(cosine)
    return found


def _nearest(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest cosine of each row to another one."""
    # Sums instead of a matrix product, whose threads would block each other in concurrent requests.
    cosines = np.einsum("ik,jk->ij", rows, rows)
    np.fill_diagonal(cosines, -1.0)
    nearest: NDArray[np.float32] = cosines.max(axis=1)
    return nearest


def _vectors(texts: Sequence[tuple[str, int]]) -> list[Vector | None]:
    """Return the vectors of texts with levels; None for a text in which the model knows no token.

    Only vectors of texts that a process may keep are cached.
    """
    begins = [text[:MAX_CHARACTERS] for text, _ in texts]
    keys = [text_hash(text) for text in begins]
    kept = {key for key, (_, level) in zip(keys, texts, strict=True) if may_cache(level)}
    known: dict[bytes, Vector | None] = {**_cache.get_many(kept)}
    missing = {key: text for key, text in zip(keys, begins, strict=True) if key not in known}
    made = dict(zip(missing, embed([*missing.values()]), strict=True))
    _cache.put_many({key: vector for key, vector in made.items() if vector is not None and key in kept})
    known |= made
    return [known[key] for key in keys]
