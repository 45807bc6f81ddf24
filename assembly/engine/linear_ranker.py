"""A ranker is a linear model over many features, in which each feature's share of the score can be inspected.

An item's score is the sum of weight x feature. The weights are data: they come with the profile and are recorded too.
A ranker may have two columns of weights, for owners of long texts and for owners of brief ones. The measure `brevity`,
which all texts of an owner share, blends them: weight = (1 - brevity) x long + brevity x brief.
A difference of scores is a difference of log odds, as the model was trained: an item that scores 1 more has e times
the odds of being relevant to the topic.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from assembly.engine.types import Candidate, InvalidAssembly

WORDS_FEATURE = "words"
"""The feature that measures the share, 0 to 1, of the topic's words (by weight) that an item contains."""
BREVITY_FEATURE = "brevity"
"""The measure, 0 to 1, of how brief the texts of the item's owner are."""
SHARE_PREFIX = "share:"
"""Prefix of the signals of a decision that hold the shares of its score."""
SOURCE_SHARE_PREFIX = "source_share:"
"""Prefix of the signals of a decision that hold the shares of the score of its source, not of its own score."""
PROFILE_FEATURES = frozenset({"salience", "credibility"})
"""Features of memories; for blocks, the profile weights them itself."""
DECIMALS = 4
MIN_BOOST = 1e-6
HALF_RELEVANCE_SCORE = 10.0
"""The score that corresponds to a relevance of 0.5; nearly every topic that the texts cover finds a higher one."""

SignalValues = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Ranker:
    """A linear model over the measures of candidates. Raises InvalidAssembly for a number that is not finite."""

    name: str
    version: int
    weights: tuple[tuple[str, float], ...]
    """Weights by feature, sorted by name; if there are brief weights, these are for owners of long texts."""
    least_words: float
    """The least share of the topic's words with which an item counts as found, however low its similarity is."""
    reach: float
    """The largest difference from the best score at which an item still counts as relevant without being found."""

    brief_weights: tuple[tuple[str, float], ...] = ()
    """Weights of the same features for owners of brief texts; if empty, `weights` serve all texts."""
    _blended_weights: dict[float, tuple[tuple[str, float], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Cached weights for the last brevity: candidates of one owner come in sequence and have the same brevity."""

    def __post_init__(self) -> None:
        both = (*self.weights, *self.brief_weights)
        if self.brief_weights and [name for name, _ in self.weights] != [name for name, _ in self.brief_weights]:
            raise InvalidAssembly(f"Both columns of weights of the ranker {self.name} must name the same features.")
        numbers = (self.least_words, self.reach, *(weight for _, weight in both))
        if not all(math.isfinite(number) for number in numbers):
            raise InvalidAssembly(f"The weights of the ranker {self.name} must be finite numbers.")

    def weights_for(self, candidate: Candidate) -> tuple[tuple[str, float], ...]:
        """Return the weight of each feature, blended by the brevity of the owner's texts."""
        if not self.brief_weights:
            return self.weights
        brevity = candidate.measures.get(BREVITY_FEATURE, 0.0)
        blended = self._blended_weights.get(brevity)
        if blended is None:
            pairs = zip(self.weights, self.brief_weights, strict=True)
            blended = tuple([(name, (1 - brevity) * long + brevity * brief) for (name, long), (_, brief) in pairs])
            self._blended_weights.clear()
            self._blended_weights[brevity] = blended
        return blended

    def shares(self, candidate: Candidate) -> SignalValues:
        """Return what each feature of the candidate adds to its score, in the order of the weights, without zeros.

        The candidate's memo caches them, because ranking, the priority and the record all need them.
        """
        known: tuple[Ranker, SignalValues] | None = candidate.own_memo.get(SHARE_PREFIX)
        if known is None or known[0] is not self:
            measures = candidate.measures
            shares = [
                (name, share)
                for name, weight in self.weights_for(candidate)
                if (measure := measures.get(name)) and (share := round(weight * measure, DECIMALS))
            ]
            known = candidate.own_memo[SHARE_PREFIX] = self, tuple(shares)
        return known[1]

    def is_near_topic(self, candidate: Candidate, threshold: float) -> bool:
        """Return whether the candidate is near the topic by itself: by its similarity, or by its words."""
        near = candidate.similarity is not None and candidate.similarity >= threshold
        return near or candidate.measures.get(WORDS_FEATURE, 0.0) >= self.least_words

    def to_dict(self) -> dict[str, Any]:
        """Return the ranker as JSON-safe data; from_dict restores an equal ranker."""
        facts = {
            "name": self.name,
            "version": self.version,
            "weights": dict(self.weights),
            "least_words": self.least_words,
            "reach": self.reach,
        }
        return facts | {"brief_weights": dict(self.brief_weights)} if self.brief_weights else facts

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Ranker":
        """Return the ranker that to_dict described; unknown keys are ignored.

        Weights are sorted by name: a record's JSON keeps no order, and floating-point sums depend on the order.
        """
        weights, brief = (_sorted_weights(data.get(key, {})) for key in ("weights", "brief_weights"))
        return cls(data["name"], data["version"], weights, float(data["least_words"]), float(data["reach"]), brief)


def _sorted_weights(weights: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((str(name), float(weight)) for name, weight in weights.items()))


def score_of(shares: SignalValues) -> float:
    """Return the score as the sum of the shares, rounded to four decimals."""
    return round(math.fsum([share for _, share in shares]), DECIMALS)


def boost_share(boost: float) -> float:
    """Return what a boost adds to a score: its logarithm, as it multiplies the odds; a boost below 1 lowers it."""
    return round(math.log(max(boost, MIN_BOOST)), DECIMALS)


def share_signals(shares: SignalValues) -> SignalValues:
    """Return the shares under the names that signals of a decision use for them."""
    return tuple([(_share_name(name), share) for name, share in shares])


@lru_cache(256)
def _share_name(feature: str) -> str:
    # All decisions share one string per feature, because thousands of decisions are cached.
    return f"{SHARE_PREFIX}{feature}"


def source_share_signals(ranker: Ranker | None, candidate: Candidate) -> SignalValues:
    """Return the shares of the score by which the source of a block ranked it, named apart from those of its own score.

    Returns none if the source measured nothing for a ranker, for example without a topic. The candidate's memo caches
    them, because the engine and the record both need them.
    """
    if ranker is None or BREVITY_FEATURE not in candidate.measures:
        return ()
    known: tuple[Ranker, SignalValues] | None = candidate.own_memo.get(SOURCE_SHARE_PREFIX)
    if known is None or known[0] is not ranker:
        shares = tuple([(f"{SOURCE_SHARE_PREFIX}{name}", share) for name, share in block_shares(ranker, candidate)])
        known = candidate.own_memo[SOURCE_SHARE_PREFIX] = ranker, shares
    return known[1]


def block_shares(ranker: Ranker, candidate: Candidate) -> SignalValues:
    """Return what each feature adds to a block's score at its source, without the features that the profile weights."""
    return tuple([(name, share) for name, share in ranker.shares(candidate) if name not in PROFILE_FEATURES])


def relevance_of(score: float) -> float:
    """Return the score mapped to 0 to 1: 0 for a score of 0 or below, one half for HALF_RELEVANCE_SCORE."""
    return max(0.0, score) / (max(0.0, score) + HALF_RELEVANCE_SCORE)
