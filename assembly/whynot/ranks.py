"""Ways to a better place for a candidate: more places, a lower bar, a higher score, a rule, a pin. Pure."""

import math
from collections.abc import Iterator

from assembly.engine.ranking import SHARE
from assembly.engine.rules import By, Selector
from assembly.engine.ruling import effect, selects
from assembly.engine.types import Decision
from assembly.whynot.changes import INCLUDABLE, may_be_included
from assembly.whynot.scores import is_scored
from assembly.whynot.standpoint import Standpoint, Way

FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 50, 100, 1_000)
"""What a boost may multiply by."""
FINE = 10_000
"""Steps in one unit of a score."""
LABELS: tuple[By, ...] = ("path", "kg_entity", "memory_kind", "tag")


def more_places(stand: Standpoint) -> Iterator[Way]:
    top_k = stand.section.top_k or 0
    considered = sum(one.section == stand.section.key for one in stand.inputs.candidates)
    guess = (stand.decision.rank or 0) - top_k
    yield Way(lambda n: stand.change("top_k", top_k + n), considered - top_k, guess)


def lower_threshold(stand: Standpoint) -> Iterator[Way]:
    """Steps go down from the similarity that is asked for, to that of the candidate."""
    threshold, own = stand.inputs.profile.similarity_threshold, stand.candidate.similarity
    if own is None or own >= threshold:
        return
    start, end = math.ceil(threshold * FINE), math.floor(own * FINE)
    yield Way(lambda n: stand.change("threshold", (start - n) / FINE), start - end, start - end)


def longer_reach(stand: Standpoint) -> Iterator[Way]:
    """Of a ranker, as far as to the candidate."""
    ranker, least = stand.ranker, stand.decision.detail.get("threshold")
    if ranker is None or stand.decision.score is None or least is None:
        return
    start, missing = math.floor(ranker.reach * FINE), _steps(least - _unboosted(stand.decision))
    yield Way(lambda n: stand.change("reach", (start + n) / FINE), missing + 2, missing)


def higher_score(stand: Standpoint) -> Iterator[Way]:
    """As high as is asked for, and above all that it competes with at most. What was not measured begins at 0."""
    detail, factor = stand.decision.detail, _factor(stand)
    asked = detail.get("last_score", detail.get("threshold"))
    scores = [one.score for one in stand.rivals if one.score is not None]
    if not scores or not is_scored(stand.candidate, stand.section, stand.inputs.profile):
        return
    score, highest = stand.decision.score or 0.0, max(scores)
    most = _steps((max(highest, highest if asked is None else asked) - score) / factor) + 2
    guess = 0 if asked is None else _steps((asked - score) / factor)
    yield Way(lambda n: stand.change("score", n / FINE), most, guess)


def higher_source_score(stand: Standpoint) -> Iterator[Way]:
    """Blocks get the room of their section by the score that their source gave them; lines by the one they have."""
    if stand.section.shape != "blocks":
        yield from higher_score(stand)
        return
    own = stand.candidate.score or 0.0
    highest = max(one.score or 0.0 for one in stand.inputs.candidates if one.section == stand.section.key)
    yield Way(lambda n: stand.change("source_score", n / FINE), _steps((highest - own) / _factor(stand)) + 2)


def boost(stand: Standpoint) -> Iterator[Way]:
    """A rule that boosts as little else as it can."""
    if stand.decision.score is not None and stand.section.shape in {"blocks", "lines"}:
        selector = _narrowest(stand)
        name = f"{selector.by}:{selector.value}"
        yield Way(lambda n: stand.change("boost", FACTORS[n - 1], name), len(FACTORS))


def pin(stand: Standpoint) -> Iterator[Way]:
    """Memories alone can be pinned, and it counts in lists alone."""
    may_be = stand.section.shape == "lines" and stand.candidate.ref.startswith("memory:")
    if may_be and not stand.candidate.pinned:
        yield Way(lambda _: stand.change("pin"), whole=stand.is_short)


def always_include(stand: Standpoint) -> Iterator[Way]:
    """A rule by what the thing is found by."""
    candidate = stand.candidate
    if not may_be_included(candidate):
        return
    by = INCLUDABLE[candidate.ref.partition(":")[0]]
    if labels := candidate.labels.get(by):
        yield Way(lambda _: stand.change("always_include", name=f"{by}:{labels[0]}"), whole=stand.is_short)


def _factor(stand: Standpoint) -> float:
    """By how much a raise counts once rules have boosted it. A ranker's boost is added."""
    if stand.ranker:
        return 1.0
    factor = effect(stand.candidate, stand.section, stand.inputs.request.rules).boost
    return max(factor, 1 / FINE)


def _unboosted(decision: Decision) -> float:
    """No rule changes how near something is."""
    return (decision.score or 0.0) - dict(decision.signals).get(f"{SHARE}boost", 0.0)


def _steps(amount: float) -> int:
    return max(0, math.ceil(amount * FINE))


def _narrowest(stand: Standpoint) -> Selector:
    """The selector of the candidate that finds the fewest others; its section's source, where it has no label."""
    labels = stand.candidate.labels
    selectors = [Selector(by, value) for by in LABELS for value in labels.get(by, ())]
    if not selectors:
        return Selector("source", stand.section.source)
    sections = {section.key: section for section in stand.inputs.profile.sections}

    def found(selector: Selector) -> int:
        return sum(selects(selector, one, sections[one.section]) for one in stand.inputs.candidates)

    return min(selectors, key=found)
