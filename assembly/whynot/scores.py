"""Raising the score of one candidate by so much, in the way in which its section scores. Pure."""

from dataclasses import replace

from assembly.engine.flat import flat
from assembly.engine.profile import Profile, Section
from assembly.engine.ranking import WORDS, Ranker
from assembly.engine.types import Candidate

DIGITS = 9


def is_scored(candidate: Candidate, section: Section, profile: Profile) -> bool:
    """Whether there is a number that would raise its score."""
    if section.shape == "blocks":
        return _heaviest_measure(profile) is not None
    if section.shape != "lines":
        return False
    if profile.ranker and candidate.measures:
        return _heaviest_feature(profile.ranker, candidate) is not None
    return True


def raised(candidate: Candidate, section: Section, profile: Profile, by: float) -> Candidate:
    """The candidate as if its score, before any rule boosts it, were higher by so much.

    Blocks and ranked lines are raised by the one measure that weighs most, others by their similarity.
    """
    if section.shape == "lines" and not (profile.ranker and candidate.measures):
        return replace(candidate, similarity=higher(candidate.similarity, by))
    heaviest = _heaviest_measure(profile) if section.shape == "blocks" else _heaviest_feature(profile.ranker, candidate)
    if heaviest is None:
        return candidate
    name, weight = heaviest
    more = {name: higher(candidate.measures.get(name), by / weight)}
    return replace(candidate, measures={**candidate.measures, **more})


def higher(score: float | None, by: float) -> float:
    """Without the noise of the last digits, which would tell equals apart."""
    return round((score or 0.0) + by, DIGITS)


def _heaviest_measure(profile: Profile) -> tuple[str, float] | None:
    """Coherence is left alone: the engine measures it itself."""
    weights: dict[str, float] = {name: weight for name, weight in flat(profile.weights).items() if name != "coherence"}
    name = max(weights, key=lambda name: weights[name])
    return (name, weights[name]) if weights[name] else None


def _heaviest_feature(ranker: Ranker | None, candidate: Candidate) -> tuple[str, float] | None:
    """The words of the topic are left alone: with enough of them, an item is found whatever its score."""
    by_name = ranker.weights_for(candidate) if ranker else ()
    weights = [(name, weight) for name, weight in by_name if name != WORDS and weight]
    return max(weights, key=lambda weighed: abs(weighed[1]), default=None)
