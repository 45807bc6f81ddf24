"""The score of an item, feature by feature, in plain words. Features are named for people here alone. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from assembly.engine.linear_ranker import DECIMALS, SHARE_PREFIX, SOURCE_SHARE_PREFIX
from assembly.engine.profile import Weights
from assembly.engine.types import Decision, field_values

WIDTH = 1000  # of a bar, in the units of its SVG
MINUS_SIGN = "\N{MINUS SIGN}"
BOOST_LABEL = "boost"
STANDARD_SCORE = "_z"
"""How the name of a measure ends that compares an item with the others; what it was before explains no more."""
SIMILARITY = "similarity"
FEATURE_LABELS: Mapping[str, str | Promise] = {
    "similarity": gettext_lazy("Its meaning is near the topic"),
    "similarity_z": gettext_lazy("How near its meaning is to the topic, compared with others"),
    "similarity_with_previous": gettext_lazy("Its meaning, together with what was said before it"),
    "similarity_with_previous_z": gettext_lazy("How near its meaning is together with what stands before it"),
    "similarity_of_day": gettext_lazy("The nearest in meaning of its day"),
    "similarity_of_day_z": gettext_lazy("How near the best of its day or its document is to the topic"),
    "words": gettext_lazy("Words of the topic are in it"),
    "words_z": gettext_lazy("How well its words match the topic, compared with others"),
    "words_around_z": gettext_lazy("How well words match in it and on either side"),
    "words_of_day_z": gettext_lazy("How well words match on its day or in its document"),
    "words_with_previous": gettext_lazy("Words of the topic, in it or right before it"),
    "words_around": gettext_lazy("Words of the topic, in it or on either side"),
    "words_of_day": gettext_lazy("Words of the topic, anywhere on its day"),
    "labelled": gettext_lazy("A word of the topic labels it, as the name of a speaker does"),
    "date": gettext_lazy("It is of a day that the topic names"),
    "near_date": gettext_lazy("It is from around a time that the topic names"),
    "time_said": gettext_lazy("It says when something was"),
    "relative_length": gettext_lazy("How long it is among its like"),
    "length": gettext_lazy("How much it says"),
    "brevity": gettext_lazy("How brief the texts are among which it was found"),
    "asks": gettext_lazy("It asks rather than tells"),
    "after_question": gettext_lazy("It comes right after a question"),
    "salience": gettext_lazy("Importance"),
    "credibility": gettext_lazy("Trust"),
    "recency": gettext_lazy("How new it is"),
    "relevance": gettext_lazy("How near it is to the topic"),
    "coherence": gettext_lazy("Words that it shares with the rest"),
    "boost": gettext_lazy("Weighed by a rule"),
    "source_score": gettext_lazy("Score where it was found"),
    "type_match": gettext_lazy("Such things help with what is asked"),
    "mentioned": gettext_lazy("The topic names it"),
    "weight": gettext_lazy("Strength of the relation"),
    "depth": gettext_lazy("Steps away from what is at hand"),
    "keyword_matches": gettext_lazy("Words of the topic found in it"),
    "boosts": gettext_lazy("Factor for words found, and for being new"),
    "successes": gettext_lazy("Times that it helped"),
    "applications": gettext_lazy("Times that it was used"),
    "intent_match": gettext_lazy("It is made for what is asked"),
    "type_matches": gettext_lazy("It is made for what is at hand"),
}


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One thing that was measured. `share` is what it adds to the score; None: it explains, and counts for nothing.

    `width` is its share's part of a bar, in the units of its SVG: that of the largest share is whole. `source_share` is
    what it added to the score by which its source ranked it, where that is another one.
    """

    label: str
    value: float | None
    share: float | None
    width: int = 0
    source_share: float | None = None

    @property
    def against(self) -> bool:
        """Whether it takes away."""
        return self.share is not None and self.share < 0

    @property
    def measured(self) -> str:
        """The value to two decimals; empty where it has none."""
        return "" if self.value is None else f"{self.value:.2f}"

    @property
    def counted(self) -> str:
        """The share to two decimals. Said here, because a page has hundreds of them, and filters take their time."""
        if self.source_share is not None:
            return _("%(share)s at source") % {"share": _signed_number(self.source_share)}
        return _("counts nothing") if self.share is None else _signed_number(self.share)


def score_parts(decision: Decision, weights: Weights) -> list[ScorePart]:
    """What the score is made of, the largest share first, and then what explains it; empty without a score.

    The shares add up to the score. `weights` are those of the profile, for what was ranked by them.
    """
    if decision.score is None:
        return []
    signals = dict(decision.signals)
    measured = {
        name: value for name, value in signals.items() if not name.startswith((SHARE_PREFIX, SOURCE_SHARE_PREFIX))
    }
    at_source = {
        name.removeprefix(SOURCE_SHARE_PREFIX): share for name, share in signals.items() if SOURCE_SHARE_PREFIX in name
    }
    shares = _shares(decision.score, signals, measured, weights)
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
    return counted + [ScorePart(feature_label(name), measured[name], None) for name in explains]


def _signed_number(share: float) -> str:
    return f"{share:.2f}".replace("-", MINUS_SIGN)


def feature_label(feature: str) -> str:
    """What a feature is called; one that is not known by its own name in words."""
    return _localized_label(get_language(), feature)


@lru_cache(maxsize=512)
def _localized_label(_language: str | None, feature: str) -> str:
    return str(FEATURE_LABELS.get(feature) or feature.replace("_", " ").capitalize())


def _shares(
    score: float, signals: Mapping[str, Any], measured: Mapping[str, float], weights: Weights
) -> dict[str, float]:
    """By feature: as the ranker recorded them; else by the weights of the profile, or by the similarity alone."""
    if recorded := {
        name.removeprefix(SHARE_PREFIX): share for name, share in signals.items() if name.startswith(SHARE_PREFIX)
    }:
        return recorded
    if set(measured) <= {SIMILARITY, BOOST_LABEL}:
        shares = {SIMILARITY: measured[SIMILARITY]} if SIMILARITY in measured else {}
    else:
        counted = {name: weight * measured.get(name, 0.0) for name, weight in field_values(weights).items()}
        shares = {name: share for name, share in counted.items() if share}
    if BOOST_LABEL in measured:
        # A rule multiplies the score of the others.
        shares[BOOST_LABEL] = round(score - sum(shares.values()), DECIMALS)
    return shares
