"""Ranking by many features at once: a linear model whose every share can be looked at.

An item's score is the sum of weight x feature. The weights are data: they come with the profile and are recorded too.
A ranker may have two columns of weights, for owners of long texts and for owners of brief ones. The measure `brevity`,
which all texts of an owner share, blends them: weight = (1 - brevity) x long + brevity x brief.
A difference of scores is a logarithm of odds, as the model was trained: an item that scores 1 more is e times as likely
to be what was asked for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from assembly.engine.types import Candidate, InvalidAssembly

WORDS_FEATURE = "words"
"""The feature that says how much of the topic's weight in words an item has itself, 0 to 1."""
BREVITY_FEATURE = "brevity"
"""The measure that says how brief the texts of the item's owner are, 0 to 1."""
SHARE_PREFIX = "share:"
"""What the names of shares begin with, among the signals of a decision."""
SOURCE_SHARE_PREFIX = "source_share:"
"""Names begin so where the shares add up to the score of the source, and not to that of the decision."""
PROFILE_FEATURES = frozenset({"salience", "credibility"})
"""Features of memories; of blocks, the profile weighs them itself."""
DECIMALS = 4
MIN_BOOST = 1e-6
HALF_RELEVANCE_SCORE = 10.0
"""The score that counts as a relevance of one half: nearly all topics that are spoken of find something above it."""

SignalValues = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Ranker:
    """A linear model over the measures of candidates. Raises InvalidAssembly for a number that is not finite."""

    name: str
    version: int
    weights: tuple[tuple[str, float], ...]
    """By feature, sorted by name; for owners of long texts, where there are brief weights."""
    least_words: float
    """From this share of the topic's words on, an item counts as found, however far its meaning is."""
    reach: float
    """An item that scores less than the best by more than this is too far from the topic, unless it is found."""

    brief_weights: tuple[tuple[str, float], ...] = ()
    """Of the same features, for owners of brief texts; without any, the weights serve all texts."""
    _blended_weights: dict[float, tuple[tuple[str, float], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """The weights of the last brevity: candidates of one owner come one after the other, and share theirs."""

    def __post_init__(self) -> None:
        both = (*self.weights, *self.brief_weights)
        if self.brief_weights and [name for name, _ in self.weights] != [name for name, _ in self.brief_weights]:
            raise InvalidAssembly(f"Both columns of weights of the ranker {self.name} must name the same features.")
        numbers = (self.least_words, self.reach, *(weight for _, weight in both))
        if not all(math.isfinite(number) for number in numbers):
            raise InvalidAssembly(f"The weights of the ranker {self.name} must be finite numbers.")

    def weights_for(self, candidate: Candidate) -> tuple[tuple[str, float], ...]:
        """The weight of each feature, blended as the brevity of the owner's texts asks."""
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
        """What each feature that the candidate has adds to its score, in the order of the weights; zeros left out."""
        measures = candidate.measures
        shares = [
            (name, share)
            for name, weight in self.weights_for(candidate)
            if (measure := measures.get(name)) and (share := round(weight * measure, DECIMALS))
        ]
        return tuple(shares)

    def is_near_topic(self, candidate: Candidate, threshold: float) -> bool:
        """Whether the candidate is near the topic by itself: in meaning, or by its words."""
        near = candidate.similarity is not None and candidate.similarity >= threshold
        return near or candidate.measures.get(WORDS_FEATURE, 0.0) >= self.least_words

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; from_dict restores an equal ranker."""
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
        """The ranker that to_dict described; keys that it does not know are passed over.

        Sorted by name: a record's JSON keeps no order, and the order of a sum is to be the same for ever.
        """
        weights, brief = (_sorted_weights(data.get(key, {})) for key in ("weights", "brief_weights"))
        return cls(data["name"], data["version"], weights, float(data["least_words"]), float(data["reach"]), brief)


def _sorted_weights(weights: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((str(name), float(weight)) for name, weight in weights.items()))


def score_of(shares: SignalValues) -> float:
    """The sum of the shares."""
    return round(math.fsum([share for _, share in shares]), DECIMALS)


def boost_share(boost: float) -> float:
    """What a boost adds to a score: it multiplies the odds. One below 1 takes away."""
    return round(math.log(max(boost, MIN_BOOST)), DECIMALS)


def share_signals(shares: SignalValues) -> SignalValues:
    """The shares as the signals of a decision name them."""
    return tuple([(_share_name(name), share) for name, share in shares])


@lru_cache(256)
def _share_name(feature: str) -> str:
    # The same text for all decisions: they are remembered by the thousand.
    return f"{SHARE_PREFIX}{feature}"


def source_share_signals(ranker: Ranker | None, candidate: Candidate) -> SignalValues:
    """Return the shares by which the source of a block ranked it, under names that tell them from those of its score.

    There are none where its source measured nothing for a ranker, as without a topic.
    """
    if ranker is None or BREVITY_FEATURE not in candidate.measures:
        return ()
    return tuple([(f"{SOURCE_SHARE_PREFIX}{name}", share) for name, share in block_shares(ranker, candidate)])


def block_shares(ranker: Ranker, candidate: Candidate) -> SignalValues:
    """Return what each feature adds to the score of a block at its source, without those that the profile weighs."""
    return tuple([(name, share) for name, share in ranker.shares(candidate) if name not in PROFILE_FEATURES])


def relevance_of(score: float) -> float:
    """The score among others that go from 0 to 1: higher for a higher one, one half for HALF, 0 for none."""
    return max(0.0, score) / (max(0.0, score) + HALF_RELEVANCE_SCORE)
