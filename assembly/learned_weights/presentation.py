"""The learned weights of a profile, as its page and the REST API show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import ngettext

from assembly.learned_weights.services import missing_gain_sentence, shows_gain
from assembly.models import Assembly, LearnedWeights, ShadowReport
from assembly.profiles.catalogue import ProfileEntry
from assembly.profiles.learned_weights import State, fits_entry, weights_in_force
from teams.principal import Principal

SHOWN_VERSIONS = 20
"""The newest versions that are shown."""


@dataclass(frozen=True, slots=True)
class LearnedVersion:
    """A version of learned weights with its newest shadow report and the row that last switched it, if there are any.

    `differing` are the contexts in the report that the reader may see; `is_current` says whether the profile is still
    as it was when the weights were learned.
    """

    learned: LearnedWeights
    report: ShadowReport | None
    switched: LearnedWeights | None
    is_on: bool
    is_current: bool
    differing: Sequence[Mapping[str, Any]]

    @property
    def has_gain(self) -> bool:
        """Whether the report is reason enough to switch the weights on."""
        return self.report is not None and shows_gain(self.report)

    @property
    def missing_gain(self) -> str:
        """Why the report is no reason to switch the weights on; empty if it is, or without a report."""
        return missing_gain_sentence(self.report) if self.report and not self.has_gain else ""

    @property
    def verdict(self) -> str:
        """The sentence that tells the result of the report; empty without a report."""
        if self.report is None or not self.has_gain:
            return self.missing_gain
        return ngettext(
            "With these weights, the recall of used items rises from %(before).3f to %(after).3f in 1 context that "
            "they were not learned from.",
            "With these weights, the recall of used items rises from %(before).3f to %(after).3f in %(n)s contexts "
            "that they were not learned from.",
            self.report.measured,
        ) % {"before": self.report.recall_before, "after": self.report.recall_after, "n": f"{self.report.measured:,}"}

    @property
    def may_be_on(self) -> bool:
        """Whether an admin may switch the weights on."""
        return self.has_gain and self.is_current and not self.is_on

    @property
    def state(self) -> str:
        """The state: proposed if the version was never switched; on only while it is in force."""
        if self.is_on:
            return State.ON.value
        return State.OFF.value if self.switched else State.PROPOSED.value


def learned_versions(entry: ProfileEntry, principal: Principal) -> list[LearnedVersion]:
    """Return the newest versions of learned weights of the profile, the newest first; five queries at most."""
    rows = LearnedWeights.objects.filter(profile=entry.name)
    proposed = list(rows.filter(state=State.PROPOSED).order_by("-version")[:SHOWN_VERSIONS])
    if not proposed:
        return []
    numbers = [one.version for one in proposed]
    switches = rows.filter(version__in=numbers).exclude(state=State.PROPOSED).order_by("created", "id")
    switched = {one.version: one for one in switches}  # the newest remains
    reports = ShadowReport.objects.filter(profile=entry.name, version__in=numbers).order_by("created", "id")
    newest = {one.version: one for one in reports}
    visible = _visible_contexts(newest.values(), principal)
    written = entry.described.profile if entry.described else None
    in_force = weights_in_force(written) if written else None
    return [
        LearnedVersion(
            learned=one,
            report=newest.get(one.version),
            switched=switched.get(one.version),
            is_on=in_force is not None and in_force.version == one.version,
            is_current=fits_entry(one, entry),
            differing=_differing(newest.get(one.version), visible),
        )
        for one in proposed
    ]


def _visible_contexts(reports: Any, principal: Principal) -> dict[str, Assembly]:
    """Return the contexts that the reports name and the principal may see, by id."""
    ids = {UUID(one["assembly"]) for report in reports for one in report.detail["differing"]}
    found = Assembly.objects.visible_to(principal).filter(id__in=ids).listed() if ids else ()
    return {str(assembly.id): assembly for assembly in found}


def _differing(report: ShadowReport | None, visible: Mapping[str, Assembly]) -> list[Mapping[str, Any]]:
    named = report.detail["differing"] if report else ()
    return [{**one, "context": visible[one["assembly"]]} for one in named if one["assembly"] in visible]


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A weight before and after learning."""

    name: str
    before: float
    after: float

    @property
    def moved(self) -> str:
        """The change with its sign."""
        return f"{round(self.after, 2) - round(self.before, 2):+.2f}"


def weight_changes(learned: LearnedWeights) -> list[WeightChange]:
    """Return the weights of the profile's text and the learned ones, by measure."""
    return [WeightChange(name, learned.own_weights[name], after) for name, after in learned.weights.items()]
