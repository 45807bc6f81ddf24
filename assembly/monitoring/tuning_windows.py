"""The quality of new contexts is stored, and profiles are tuned by windows of 50 contexts.

One bad answer moves no profile: a window is evaluated when 50 contexts with the profile were made since the last one.
What somebody said about a context replaces what was measured of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from uuid import UUID

from assembly.engine.profile import Profile
from assembly.engine.quality import ContextQuality
from assembly.engine.tuning import WindowValues, adjustments
from assembly.engine.types import field_values
from assembly.models import Assembly, AssemblyFeedback, AssemblyQuality, ProfileTuning, TuningWindow
from assembly.profiles.catalogue import find_profile
from assembly.profiles.shipped import CONVERSATION
from assembly.profiles.tuning_versions import TUNING_LOCK, tuning_adjust, tuning_state
from config.db.statements import lock_until_commit
from config.http.errors import Invalid

WINDOW = 50
"""The number of contexts of a window (K.6)."""
FIRST_ID = UUID(int=0)


class QualityBatch:
    """The measures of a batch of contexts, which are written together at the end."""

    def __init__(self) -> None:
        self._rows: list[AssemblyQuality] = []

    def add(self, assembly: Assembly, quality: ContextQuality | None) -> None:
        """Add a context with its quality, if that is known."""
        if quality:
            facts = field_values(quality)
            self._rows.append(AssemblyQuality(assembly=assembly.id, profile_name=assembly.profile_name, **facts))

    def write(self) -> None:
        """Write the measures, and evaluate the windows of the profiles that are full."""
        AssemblyQuality.objects.bulk_create(self._rows, ignore_conflicts=True)
        profiles_tune({row.profile_name for row in self._rows})


def profiles_tune(names: Iterable[str]) -> list[ProfileTuning]:
    """Evaluate the full windows of these profiles, and store the versions of their tunings that follow."""
    return [made for name in sorted(set(names) - {CONVERSATION.name}) for made in profile_tune(name)]


def profile_tune(name: str) -> list[ProfileTuning]:
    """Evaluate the window of a profile if it is full; must run in a transaction.

    Nothing is evaluated while the tuning is off, or if the profile no longer exists.
    """
    begun = TuningWindow.objects.filter(profile_name=name).values_list("assembly", flat=True).first() or FIRST_ID
    following = AssemblyQuality.objects.filter(profile_name=name, assembly__gt=begun)
    if len(following.order_by("assembly").values_list("assembly")[:WINDOW]) < WINDOW:
        return []
    lock_until_commit(TUNING_LOCK)
    window = list(following.order_by("-assembly")[:WINDOW])
    newest = window[0].assembly
    TuningWindow.objects.update_or_create(profile_name=name, defaults={"assembly": newest})
    try:
        profile = find_profile(name)
    except Invalid:  # deleted, or its text cannot be parsed any more
        return []
    return _tune(profile, window)


def _tune(profile: Profile, window: Sequence[AssemblyQuality]) -> list[ProfileTuning]:
    state = tuning_state(profile)
    if not state.is_on:
        return []
    ids = [row.assembly for row in window]
    steps = adjustments(profile, state.tuning, window_values(window, _said(ids)))
    return tuning_adjust(profile=profile, steps=steps, evidence=ids)


def window_values(
    window: Sequence[AssemblyQuality], said: Mapping[UUID, Sequence[AssemblyFeedback]]
) -> list[WindowValues]:
    """Return the measures of each context: the mean of what was said about it, else what was measured."""
    return [
        WindowValues(
            contradiction_rate=_mean(said.get(row.assembly, ()), "contradiction_rate", row.contradiction_rate) or 0.0,
            completeness=_mean(said.get(row.assembly, ()), "completeness", row.completeness) or 0.0,
            coherence=_mean(said.get(row.assembly, ()), "coherence", row.coherence_score),
        )
        for row in window
    ]


def _mean(said: Iterable[AssemblyFeedback], name: str, measured: float | None) -> float | None:
    values = [value for one in said if (value := getattr(one, name)) is not None]
    return fmean(values) if values else measured


def _said(ids: Sequence[UUID]) -> dict[UUID, list[AssemblyFeedback]]:
    found: dict[UUID, list[AssemblyFeedback]] = {}
    for one in AssemblyFeedback.objects.filter(assembly__in=ids):
        found.setdefault(one.assembly, []).append(one)
    return found
