"""What an item's score is made of: the share of each thing that speaks for it or against it. Pure.

The names of all that is measured are put in plain words here, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from assembly.engine.flat import flat
from assembly.engine.profile import Weights
from assembly.engine.ranking import DECIMALS, SHARE
from assembly.engine.types import Decision

WIDTH = 1000  # of a bar, in the units of its SVG
BOOST = "boost"
SIMILARITY = "similarity"
FEATURES: Mapping[str, str | Promise] = {
    "similarity": _("Its meaning is near the topic"),
    "similarity_with_previous": _("Its meaning, together with what was said before it"),
    "similarity_of_day": _("The nearest in meaning of its day"),
    "words": _("Words of the topic are in it"),
    "words_with_previous": _("Words of the topic, in it or right before it"),
    "words_around": _("Words of the topic, in it or on either side"),
    "words_of_day": _("Words of the topic, anywhere on its day"),
    "labelled": _("A word of the topic labels it, as the name of a speaker does"),
    "date": _("It is of a day that the topic names"),
    "near_date": _("It is from around a time that the topic names"),
    "time_said": _("It says when something was"),
    "length": _("How much it says"),
    "asks": _("It asks rather than tells"),
    "after_question": _("It comes right after a question"),
    "salience": _("Importance"),
    "credibility": _("Trust"),
    "recency": _("How new it is"),
    "relevance": _("How near it is to the topic"),
    "coherence": _("Words that it shares with the rest"),
    "boost": _("Weighed by a rule"),
    "source_score": _("Score where it was found"),
    "type_match": _("Such things help with what is asked"),
    "mentioned": _("The topic names it"),
    "weight": _("Strength of the relation"),
    "depth": _("Steps away from what is at hand"),
    "keyword_matches": _("Words of the topic found in it"),
    "boosts": _("Factor for words found, and for being new"),
    "successes": _("Times that it helped"),
    "applications": _("Times that it was used"),
    "intent_match": _("It is made for what is asked"),
    "type_matches": _("It is made for what is at hand"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that was measured. `share` is what it adds to the score; None: it explains, and counts for nothing.

    `width` is its share's part of a bar, in the units of its SVG: that of the largest share is whole.
    """

    label: str | Promise
    value: float | None
    share: float | None
    width: int = 0

    @property
    def against(self) -> bool:
        """Whether it takes away."""
        return self.share is not None and self.share < 0

    @property
    def size(self) -> float:
        """Of its share, for or against."""
        return abs(self.share or 0.0)


def score_parts(decision: Decision, weights: Weights) -> list[Part]:
    """What the score is made of, the largest share first, and then what explains it; empty without a score.

    The shares add up to the score. `weights` are those of the profile, for what was ranked by them.
    """
    if decision.score is None:
        return []
    signals = dict(decision.signals)
    measured = {name: value for name, value in signals.items() if not name.startswith(SHARE)}
    shares = _shares(decision.score, signals, measured, weights)
    largest = max((abs(share) for share in shares.values()), default=0) or 1.0
    order = sorted(shares, key=lambda name: -abs(shares[name]))
    counted = [
        Part(label_of(name), measured.get(name), shares[name], round(WIDTH * abs(shares[name]) / largest))
        for name in order
    ]
    return counted + [Part(label_of(name), value, None) for name, value in measured.items() if name not in shares]


def label_of(feature: str) -> str | Promise:
    """What a feature is called; one that is not known by its own name in words."""
    return FEATURES.get(feature) or feature.replace("_", " ").capitalize()


def _shares(
    score: float, signals: Mapping[str, Any], measured: Mapping[str, float], weights: Weights
) -> dict[str, float]:
    """By feature: as the ranker recorded them; else by the weights of the profile, or by the similarity alone."""
    if recorded := {name.removeprefix(SHARE): share for name, share in signals.items() if name.startswith(SHARE)}:
        return recorded
    if set(measured) <= {SIMILARITY, BOOST}:
        shares = {SIMILARITY: measured[SIMILARITY]} if SIMILARITY in measured else {}
    else:
        counted = {name: weight * measured.get(name, 0.0) for name, weight in flat(weights).items()}
        shares = {name: share for name, share in counted.items() if share}
    if BOOST in measured:
        # A rule multiplies the score of the others.
        shares[BOOST] = round(score - sum(shares.values()), DECIMALS)
    return shares
