"""This module explains an item's score, feature by feature; only here are features named for people. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from assembly.engine.linear_ranker import DECIMALS, SHARE_PREFIX, SOURCE_SHARE_PREFIX
from assembly.engine.priority import PRIORITY, PRIORITY_PREFIX
from assembly.engine.profile import Weights
from assembly.engine.types import Decision, field_values

WIDTH = 1000  # width of a bar in the units of its SVG
MINUS_SIGN = "\N{MINUS SIGN}"
BOOST_LABEL = "boost"
STANDARD_SCORE = "_z"
"""Suffix of features that are standard scores; the raw feature of the same name adds nothing to an explanation."""
SIMILARITY = "similarity"
FEATURE_LABELS: Mapping[str, str | Promise] = {
    "similarity": gettext_lazy("Similarity to the topic"),
    "similarity_z": gettext_lazy("Similarity to the topic, compared with other items"),
    "similarity_with_previous": gettext_lazy("Similarity together with the previous text"),
    "similarity_with_previous_z": gettext_lazy("Similarity together with the previous text, compared with other items"),
    "similarity_of_day": gettext_lazy("Highest similarity of its day"),
    "similarity_of_day_z": gettext_lazy("Highest similarity of its day or document, compared with other items"),
    "words": gettext_lazy("Words of the topic"),
    "words_z": gettext_lazy("Match of the topic's words, compared with other items"),
    "words_around_z": gettext_lazy("Match of words in it and its neighbours"),
    "words_of_day_z": gettext_lazy("Match of words on its day or in its document"),
    "words_with_previous": gettext_lazy("Words of the topic, in it or the previous text"),
    "words_around": gettext_lazy("Words of the topic, in it or its neighbours"),
    "words_of_day": gettext_lazy("Words of the topic, on its day"),
    "labelled": gettext_lazy("The topic names its label, such as a speaker"),
    "date": gettext_lazy("The topic names its day"),
    "near_date": gettext_lazy("Its date is near a date in the topic"),
    "time_said": gettext_lazy("It contains a time"),
    "relative_length": gettext_lazy("Length, compared with other items"),
    "length": gettext_lazy("Length"),
    "brevity": gettext_lazy("Brevity of the texts of this owner"),
    "asks": gettext_lazy("It is a question"),
    "after_question": gettext_lazy("It follows a question"),
    "salience": gettext_lazy("Importance"),
    "credibility": gettext_lazy("Confidence"),
    "recency": gettext_lazy("Recency"),
    "relevance": gettext_lazy("Relevance to the topic"),
    "coherence": gettext_lazy("Coherence: words shared with the context"),
    "boost": gettext_lazy("Boosted by a rule"),
    "source_score": gettext_lazy("Source score"),
    "type_match": gettext_lazy("Its type matches the intent"),
    "mentioned": gettext_lazy("The topic names it"),
    "weight": gettext_lazy("Strength of the relation"),
    "depth": gettext_lazy("Distance in the graph"),
    "keyword_matches": gettext_lazy("Words of the topic found in it"),
    "boosts": gettext_lazy("Factor for matching words and recency"),
    "successes": gettext_lazy("Successful applications"),
    "applications": gettext_lazy("Applications"),
    "intent_match": gettext_lazy("Matches the intent"),
    "type_matches": gettext_lazy("Matches the current entities"),
    PRIORITY: gettext_lazy("Priority beside items of other sections"),
}
_APART = (SHARE_PREFIX, SOURCE_SHARE_PREFIX, PRIORITY)
"""Prefixes of signals that are no features of the score."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One feature of an item's score.

    `share` is its summand of the score; None for a feature that only explains. `width` is the share as part of a bar,
    in the units of its SVG; the largest share fills the bar. `source_share` is its summand of the score by which the
    item's source ranked it, if that is another score, and `priority_share` that of its priority, if the score is none.
    """

    label: str
    value: float | None
    share: float | None
    width: int = 0
    source_share: float | None = None
    priority_share: float | None = None

    @property
    def against(self) -> bool:
        """Whether the feature lowers the score."""
        return self.share is not None and self.share < 0

    @property
    def measured(self) -> str:
        """The feature's value with two decimals; empty without a value."""
        return "" if self.value is None else f"{self.value:.2f}"

    @property
    def counted(self) -> str:
        """The feature's share with two decimals, as text; template filters are too slow for hundreds of these."""
        if self.source_share is not None:
            return _("%(share)s at source") % {"share": _signed_number(self.source_share)}
        if self.priority_share is not None:
            share = _signed_number(self.priority_share)
            return share if self.value is None else _("%(share)s of priority") % {"share": share}
        return _("no weight") if self.share is None else _signed_number(self.share)


def score_parts(decision: Decision, weights: Weights, *, is_mean: bool = True) -> list[ScorePart]:
    """Return the features of the item's score, the largest share first, then features that only explain, then those of
    its priority, if that is not its score.

    The shares add up to the score. `weights` are those of the profile, used if the record holds no shares. `is_mean`
    says whether the score of a block is the mean of its measures, or their sum as in old records.
    """
    signals = dict(decision.signals)
    if decision.score is None:
        return _priority_parts(signals, weights)
    measured = {name: value for name, value in signals.items() if not name.startswith(_APART)}
    at_source = {
        name.removeprefix(SOURCE_SHARE_PREFIX): share for name, share in signals.items() if SOURCE_SHARE_PREFIX in name
    }
    shares = _shares(decision.score, signals, measured, weights, is_mean=is_mean)
    largest = max((abs(share) for share in shares.values()), default=0) or 1.0
    order = sorted(shares, key=lambda name: -abs(shares[name]))
    counted = [
        ScorePart(feature_label(name), measured.get(name), shares[name], round(WIDTH * abs(shares[name]) / largest))
        for name in order
    ]
    found = sorted(at_source, key=lambda name: -abs(at_source[name]))
    counted += [
        ScorePart(feature_label(name), measured.get(name), None, source_share=at_source[name]) for name in found
    ]
    named = shares.keys() | at_source.keys()
    explains = [name for name in measured if name not in named and f"{name}{STANDARD_SCORE}" not in named]
    counted += [ScorePart(feature_label(name), measured[name], None) for name in explains]
    return counted + _priority_parts(signals, weights)


def _priority_parts(signals: Mapping[str, float], weights: Weights) -> list[ScorePart]:
    """Return the measures of a priority that is not the score, each with its share of it; none without one."""
    if PRIORITY not in signals:
        return []
    measured = {
        name.removeprefix(PRIORITY_PREFIX): value for name, value in signals.items() if name.startswith(PRIORITY_PREFIX)
    }
    by_measure = {name: weight for name, weight in field_values(weights).items() if name in measured}
    total = sum(by_measure.values()) or 1.0
    parts = [
        ScorePart(feature_label(name), measured[name], None, priority_share=weight * measured[name] / total)
        for name, weight in by_measure.items()
    ]
    parts.sort(key=lambda part: -(part.priority_share or 0.0))
    return [ScorePart(feature_label(PRIORITY), None, None, priority_share=signals[PRIORITY]), *parts]


def _signed_number(share: float) -> str:
    return f"{share:.2f}".replace("-", MINUS_SIGN)


def feature_label(feature: str) -> str:
    """Return the name of a feature for people; an unknown feature's own name in words."""
    return _localized_label(get_language(), feature)


@lru_cache(maxsize=512)
def _localized_label(_language: str | None, feature: str) -> str:
    return str(FEATURE_LABELS.get(feature) or feature.replace("_", " ").capitalize())


def _shares(
    score: float, signals: Mapping[str, Any], measured: Mapping[str, float], weights: Weights, *, is_mean: bool
) -> dict[str, float]:
    """Return the shares of the score by feature: recorded by the ranker, else from weights or the similarity alone."""
    if recorded := {
        name.removeprefix(SHARE_PREFIX): share for name, share in signals.items() if name.startswith(SHARE_PREFIX)
    }:
        return recorded
    if set(measured) <= {SIMILARITY, BOOST_LABEL}:
        shares = {SIMILARITY: measured[SIMILARITY]} if SIMILARITY in measured else {}
    else:
        by_measure = field_values(weights)
        total = (sum(by_measure.values()) or 1.0) if is_mean else 1.0
        counted = {name: weight * measured.get(name, 0.0) / total for name, weight in by_measure.items()}
        shares = {name: share for name, share in counted.items() if share}
    if BOOST_LABEL in measured:
        # A rule multiplies the sum of the other shares.
        shares[BOOST_LABEL] = round(score - sum(shares.values()), DECIMALS)
    return shares
