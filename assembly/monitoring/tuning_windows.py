"""The quality of new contexts is stored, and profiles are tuned by windows of 50 contexts.

One bad answer moves no profile: a window has 50 answers. A context waits an hour before it counts, so that what
somebody says about it meanwhile replaces what was measured of it. Contexts from before the last change of the tuning,
or of another version of the profile, say nothing about the profile as it is, and do not count.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from assembly.engine.profile import Profile
from assembly.engine.quality import ContextQuality
from assembly.engine.tuning import WindowValues, adjustments
from assembly.engine.types import field_values
from assembly.models import Assembly, AssemblyFeedback, AssemblyQuality, ProfileTuning, TuningWindow
from assembly.profiles.catalogue import all_profiles
from assembly.profiles.tuning_versions import TUNING_LOCK, tuning_adjust, tuning_state, window_begin
from assembly.records.feedback import feedback_by_assembly
from config.db.statements import lock_until_commit
from memories.jobs.periodic import periodic
from memories.lifecycle.planned_moves import first_id_of

WINDOW = 50
"""The number of contexts of a window (K.6)."""
FEEDBACK_TIME = datetime.timedelta(hours=1)
"""The age at which a context counts. Later feedback tunes no profile."""
TUNE_SECONDS = 300
FIRST_ID = UUID(int=0)


class QualityBatch:
    """The measures of a batch of contexts, which are written together at the end."""

    def __init__(self) -> None:
        self._rows: list[AssemblyQuality] = []

    def add(self, assembly: Assembly, quality: ContextQuality | None) -> None:
        """Add a context with its quality, if that is known. An answer from the cache is its first record again."""
        if quality:
            first = assembly.decided_in or assembly.id
            self._rows.append(
                AssemblyQuality(assembly=first, profile_name=assembly.profile_name, **field_values(quality))
            )

    def write(self) -> None:
        """Write the measures, once for each answer."""
        AssemblyQuality.objects.bulk_create(self._rows, ignore_conflicts=True)


@periodic(TUNE_SECONDS, "tuning")
def profiles_tune() -> None:
    """Evaluate the full windows of all profiles."""
    for entry in all_profiles():
        if entry.described:
            profile_tune(entry.described.profile)


@transaction.atomic
def profile_tune(profile: Profile, now: datetime.datetime | None = None) -> list[ProfileTuning]:
    """Evaluate the full windows of a profile, the oldest first, and store the versions of its tuning that follow.

    After a step, the next window begins: older contexts had the values of before. Nothing is evaluated while the tuning
    is off.
    """
    lock_until_commit(TUNING_LOCK)
    state, made = tuning_state(profile), list[ProfileTuning]()
    if not state.is_on:
        return made
    before = first_id_of((now or timezone.now()) - FEEDBACK_TIME)
    while not made and (window := _next_window(profile, before)):
        ids = [row.assembly for row in window]
        window_begin(profile.name, ids[-1])
        steps = adjustments(profile, state.tuning, window_values(window, _said(ids)))
        made = tuning_adjust(profile=profile, steps=steps, evidence=ids)
    return made


def _next_window(profile: Profile, before: UUID) -> list[AssemblyQuality]:
    """Return the next 50 contexts of this version of the profile, the oldest first; none if there are fewer."""
    begun = TuningWindow.objects.filter(profile_name=profile.name).values_list("assembly", flat=True).first()
    of_version = Assembly.objects.filter(id=OuterRef("assembly"), profile_version=profile.version)
    following = AssemblyQuality.objects.filter(
        Exists(of_version), profile_name=profile.name, assembly__gt=begun or FIRST_ID, assembly__lt=before
    )
    window = list(following.order_by("assembly")[:WINDOW])
    return window if len(window) == WINDOW else []


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
    """Return the feedback on these contexts, with that on their repeats from the cache."""
    given = AssemblyFeedback.objects.filter(assembly=OuterRef("id"))
    records = Assembly.objects.filter(Q(id__in=ids) | Q(decided_in__in=ids), Exists(given))
    first = dict(records.values_list("id", Coalesce("decided_in", "id")))
    found: dict[UUID, list[AssemblyFeedback]] = {}
    for id_, said in feedback_by_assembly(first).items():
        found.setdefault(first[id_], []).extend(said)
    return found
