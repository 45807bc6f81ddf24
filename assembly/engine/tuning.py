"""A tuning moves three numbers of a profile by what its contexts were worth, within bounds.

Source: "Quality Feedback" of the seed "Memory Layer", which has the conditions and the factor 1.2; the bounds, the
step of the weight and the way back are decisions of this project.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from assembly.engine.profile import MAX_PERCENT, Profile, Section, Weights
from assembly.engine.types import field_values

MAX_CONTRADICTION_RATE, MIN_COMPLETENESS, MIN_COHERENCE = 0.05, 0.8, 0.75
"""The means beyond which a parameter is moved (seed)."""
FACTOR = 1.2
"""The factor of the sensitivity and of the share (seed: adjustConflictDetection(1.2))."""
EASING = 1.05
"""What the sensitivity is divided by after each window without too many contradictions."""
MIN_FACTOR, MAX_FACTOR = 1.0, 2.0
"""The bounds of the sensitivity and of the share."""
WEIGHT_STEP = 0.05
MIN_WEIGHT, MAX_WEIGHT = 0.05, 0.4
"""The bounds of the weight of coherence, as a share of all weights."""
ENTITY_SOURCES = frozenset({"entities", "relations"})
"""The sources of the sections that get more room if named entities are missing."""

Parameter = Literal["conflict_sensitivity", "entity_share", "coherence_weight"]
Reason = Literal["contradictions", "clean", "completeness", "coherence"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How far a profile is moved from what its text says."""

    conflict_sensitivity: float = 1.0
    """The factor, 1 to 2, of the severity of conflicts: a higher one finds more."""
    entity_share: float = 1.0
    """The factor, 1 to 2, of the room for entities and relations."""
    coherence_weight: float = 0.0
    """What is added to the share of coherence among the weights; the sum is limited to MIN_WEIGHT to MAX_WEIGHT."""


UNTUNED = Tuning()


@dataclass(frozen=True, slots=True)
class WindowValues:
    """The measures of one context in a window; None: not known."""

    contradiction_rate: float
    completeness: float
    coherence: float | None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One step of one parameter, with the mean that led to it. `before` and `after` are values of the parameter."""

    parameter: Parameter
    reason: Reason
    before: float
    after: float
    mean: float

    def applied(self, tuning: Tuning) -> Tuning:
        """Return the tuning with the step."""
        return replace(tuning, **{self.parameter: self.after})


def adjustments(profile: Profile, tuning: Tuning, window: Sequence[WindowValues]) -> list[Adjustment]:
    """Return the steps that the contexts of a window give reason for: at most one for each parameter.

    contradiction_rate > 0.05: sensitivity x 1.2, at most 2; else it goes back by / 1.05, at least to 1.
    completeness < 0.8: share of entities and relations x 1.2, at most 2, if the profile has such sections.
    coherence < 0.75: share of the weight of coherence + 0.05, at most 0.4, if the profile weights coherence.
    """
    if not window:
        return []
    steps = [
        _sensitivity_step(tuning, fmean(one.contradiction_rate for one in window)),
        _share_step(profile, tuning, fmean(one.completeness for one in window)),
    ]
    coherences = [one.coherence for one in window if one.coherence is not None]
    steps += [_weight_step(profile, tuning, fmean(coherences))] if coherences else []
    return [step for step in steps if step is not None and step.before != step.after]


def _sensitivity_step(tuning: Tuning, mean: float) -> Adjustment | None:
    before = tuning.conflict_sensitivity
    if mean > MAX_CONTRADICTION_RATE:
        after = min(MAX_FACTOR, before * FACTOR)
        return Adjustment("conflict_sensitivity", "contradictions", before, after, mean)
    return Adjustment("conflict_sensitivity", "clean", before, max(MIN_FACTOR, before / EASING), mean)


def _share_step(profile: Profile, tuning: Tuning, mean: float) -> Adjustment | None:
    if mean >= MIN_COMPLETENESS:
        return None
    before = tuning.entity_share
    after = min(MAX_FACTOR, before * FACTOR)
    if with_entity_share(profile, after) == with_entity_share(profile, before):  # no room, or nothing that has a limit
        return None
    return Adjustment("entity_share", "completeness", before, after, mean)


def _weight_step(profile: Profile, tuning: Tuning, mean: float) -> Adjustment | None:
    share = coherence_share(profile.weights)
    if mean >= MIN_COHERENCE or not share:
        return None
    before = tuning.coherence_weight
    room = max(0.0, MAX_WEIGHT - share - before)
    after = round(before + min(WEIGHT_STEP, room), 6)
    return Adjustment("coherence_weight", "coherence", before, after, mean)


def tuned(profile: Profile, tuning: Tuning) -> Profile:
    """Return the profile with the tuning: the same profile if nothing is moved."""
    if tuning == UNTUNED:
        return profile
    widened = with_coherence_weight(with_entity_share(profile, tuning.entity_share), tuning.coherence_weight)
    sensitivity = min(MAX_FACTOR, profile.conflict_sensitivity * tuning.conflict_sensitivity)
    return replace(widened, conflict_sensitivity=max(profile.conflict_sensitivity, sensitivity))


def with_entity_share(profile: Profile, factor: float) -> Profile:
    """Return the profile with more room for entities and relations.

    Shares of the budget are multiplied, but all shares together stay within 100 %; so are limits in tokens and numbers
    of items. In profiles that limit the items of scopes instead, the limit of the sections' scope is multiplied.
    """
    mine = [section for section in profile.sections if section.source in ENTITY_SOURCES]
    if factor == 1 or not mine:
        return profile
    shares = _share_factor(profile, mine, factor)
    sections = tuple(
        _with_more_room(section, factor, shares) if section.source in ENTITY_SOURCES else section
        for section in profile.sections
    )
    if sections != profile.sections:
        return replace(profile, sections=sections)
    if any(section.share is not None for section in mine):
        return profile
    scopes = {section.scope for section in mine}
    limits = {
        scope: round(limit * factor) if scope in scopes else limit for scope, limit in profile.scope_limits.items()
    }
    return replace(profile, scope_limits=limits)


def _share_factor(profile: Profile, mine: Sequence[Section], factor: float) -> float:
    own = sum(section.share or 0.0 for section in mine)
    others = sum(section.share or 0.0 for section in profile.sections) - own
    return max(1.0, min(factor, (MAX_PERCENT - others) / own)) if own else 1.0


def _with_more_room(section: Section, factor: float, shares: float) -> Section:
    share, cap, top_k = section.share, section.cap, section.top_k
    return replace(
        section,
        share=None if share is None else share * shares,
        cap=None if cap is None else round(cap * factor),
        top_k=None if top_k is None else round(top_k * factor),
    )


def coherence_share(weights: Weights) -> float:
    """Return the weight of coherence as a share of all weights; 0 without any."""
    total = sum(field_values(weights).values())
    return weights.coherence / total if total else 0.0


def with_coherence_weight(profile: Profile, added: float) -> Profile:
    """Return the profile with `added` to the share of coherence; the others are rescaled so that the sum stays."""
    weights, share = profile.weights, coherence_share(profile.weights)
    if not added or not share:
        return profile
    target = max(share, min(MAX_WEIGHT, max(MIN_WEIGHT, share + added)))
    if share in {target, 1}:
        return profile
    total = sum(field_values(weights).values())
    rest = (1 - target) / (1 - share)
    rescaled = {name: weight * rest for name, weight in field_values(weights).items()}
    return replace(profile, weights=Weights(**{**rescaled, "coherence": target * total}))
