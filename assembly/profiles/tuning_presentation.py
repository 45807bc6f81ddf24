"""The page of a profile shows how feedback moved its numbers: a chart for each, and a table that says why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.engine.profile import Profile
from assembly.engine.tuning import MAX_FACTOR, MAX_WEIGHT, MIN_FACTOR, UNTUNED, coherence_share, tuned
from assembly.models import ProfileTuning, TuningChange
from assembly.profiles.tuning_versions import TuningState, is_tunable, tuning_state, tuning_versions

WIDTH, HEIGHT = 1_000.0, 120.0
SHOWN_VERSIONS = 40
"""The newest versions in charts and table."""

PARAMETERS = {
    TuningChange.CONTRADICTIONS: gettext_lazy("Conflict sensitivity"),
    TuningChange.CLEAN: gettext_lazy("Conflict sensitivity"),
    TuningChange.COMPLETENESS: gettext_lazy("Room for entities and relations"),
    TuningChange.COHERENCE: gettext_lazy("Weight of coherence"),
}
REASONS = {
    TuningChange.CONTRADICTIONS: gettext_lazy("%(mean)s of the items contradicted each other: more than 0.05"),
    TuningChange.CLEAN: gettext_lazy("%(mean)s of the items contradicted each other: at most 0.05"),
    TuningChange.COMPLETENESS: gettext_lazy("%(mean)s of the named entities were included: less than 0.80"),
    TuningChange.COHERENCE: gettext_lazy("Coherence was %(mean)s: less than 0.75"),
}
ADMIN_CHANGES = {
    TuningChange.RESET: gettext_lazy("Reset"),
    TuningChange.OFF: gettext_lazy("Switched off"),
    TuningChange.ON: gettext_lazy("Switched on"),
}


@dataclass(frozen=True, slots=True)
class ParameterChart:
    """A number of the profile over the versions of its tuning; `points` are those of an SVG line of steps."""

    key: str
    label: str
    now: str
    top: str
    bottom: str
    points: str
    description: str


@dataclass(frozen=True, slots=True)
class TuningRow:
    """A version in the table; `contexts` is the number of contexts that led to it and `newest` the last one's id."""

    version: ProfileTuning
    what: str
    why: str
    moved: str
    contexts: int
    newest: UUID | None


def tuning_facts(profile: Profile) -> dict[str, Any]:
    """Return the variables of the section of the profile's page; at most two queries, none for `conversation`."""
    if not is_tunable(profile):
        return {"is_tunable": False}
    state, versions = tuning_state(profile), list(tuning_versions(profile.name, SHOWN_VERSIONS))
    return {
        "is_tunable": True,
        "tuning": state,
        "tuning_charts": _charts(profile, state, versions[::-1]),
        "tuning_rows": [_row(version) for version in versions],
        "is_tuned": state.tuning != UNTUNED,
    }


def _charts(profile: Profile, state: TuningState, versions: Sequence[ProfileTuning]) -> list[ParameterChart]:
    share = coherence_share(profile.weights)
    now = coherence_share(tuned(profile, state.in_force).weights)

    def weight(version: ProfileTuning) -> float:
        return max(share, min(MAX_WEIGHT, share + version.coherence_weight)) if share else 0.0

    return [
        _chart(
            "conflict_sensitivity",
            _("Conflict sensitivity"),
            state.in_force.conflict_sensitivity,
            (MIN_FACTOR, MAX_FACTOR),
            [MIN_FACTOR, *_values(versions, lambda version: version.conflict_sensitivity, MIN_FACTOR)],
        ),
        _chart(
            "entity_share",
            _("Room for entities and relations"),
            state.in_force.entity_share,
            (MIN_FACTOR, MAX_FACTOR),
            [MIN_FACTOR, *_values(versions, lambda version: version.entity_share, MIN_FACTOR)],
        ),
        _chart(
            "coherence_weight",
            _("Weight of coherence"),
            now,
            (0.0, max(MAX_WEIGHT, share)),
            [share, *_values(versions, weight, share)],
        ),
    ]


def _values(versions: Sequence[ProfileTuning], of: Callable[[ProfileTuning], float], off: float) -> list[float]:
    """Return the number in force after each version: that of the profile's text while the tuning is off."""
    return [of(version) if version.is_on else off for version in versions]


def _chart(key: str, label: str, now: float, bounds: tuple[float, float], values: Sequence[float]) -> ParameterChart:
    low, high = bounds
    step = WIDTH / len(values)
    points = []
    for place, value in enumerate(values):
        y = round(HEIGHT - (value - low) / (high - low) * HEIGHT, 2)
        points += [f"{round(place * step, 2)},{y}", f"{round((place + 1) * step, 2)},{y}"]
    told = _("%(label)s: from %(first)s to %(last)s; the table below has each step.") % {
        "label": label,
        "first": _number(values[0]),
        "last": _number(values[-1]),
    }
    return ParameterChart(key, label, _number(now), _number(high), _number(low), " ".join(points), told)


def _row(version: ProfileTuning) -> TuningRow:
    change = TuningChange(version.change)
    if change in ADMIN_CHANGES:
        return TuningRow(version, str(ADMIN_CHANGES[change]), "", "", 0, None)
    why = REASONS[change] % {"mean": _number(version.mean or 0.0)}
    moved = f"{_number(version.before or 0.0)} → {_number(version.after or 0.0)}"
    if change is TuningChange.COHERENCE:
        moved = f"+{_number(version.before or 0.0)} → +{_number(version.after or 0.0)}"
    contexts = len(version.evidence)
    return TuningRow(version, str(PARAMETERS[change]), why, moved, contexts, max(version.evidence, default=None))


def _number(value: float) -> str:
    return f"{value:.2f}"
