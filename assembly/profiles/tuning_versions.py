"""The tuning of a profile is read, applied and changed here: by windows of contexts, and by admins.

Every change is a new version; none is changed or deleted. The newest version is in force, and a new window begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from uuid_utils.compat import uuid7

from assembly.engine.profile import Profile
from assembly.engine.tuning import UNTUNED, Adjustment, Tuning, tuned
from assembly.engine.types import field_values
from assembly.models import ProfileTuning, TuningChange, TuningWindow
from assembly.profiles.catalogue import find_profile_entry
from assembly.profiles.shipped import CONVERSATION
from config.db.statements import Statement, lock_until_commit, run_statement
from config.http.errors import Conflict
from teams.access import require_admin
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import SYSTEM, Principal

TUNING_LOCK = 7_152_004
"""The lock that serialises changes of tunings."""
NEWEST_SQL = """
SELECT is_on, conflict_sensitivity, entity_share, coherence_weight FROM profile_tunings
WHERE profile_name = %(name)s ORDER BY version DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class TuningState:
    """The tuning of a profile as it is now, and whether it is on. Switched off, its values are kept, without effect."""

    is_on: bool
    tuning: Tuning

    @property
    def in_force(self) -> Tuning:
        """The tuning that contexts get."""
        return self.tuning if self.is_on else UNTUNED


def is_tunable(profile: Profile) -> bool:
    """Return whether feedback may tune the profile: any but `conversation`, which stays as it is."""
    return profile.name != CONVERSATION.name


def is_on_by_default(profile: Profile) -> bool:
    """Return whether the tuning of the profile is on until somebody switches it: in profiles with levels of detail.

    These are the profiles of the memory layer, as `memory`; the sections of all others stay as their texts say.
    """
    return is_tunable(profile) and profile.lod is not None


def tuning_state(profile: Profile) -> TuningState:
    """Return the state of the profile's tuning; one query, none for a profile that is not tunable."""
    rows = run_statement(Statement(NEWEST_SQL, {"name": profile.name})) if is_tunable(profile) else []
    if not rows:
        return TuningState(is_on_by_default(profile), UNTUNED)
    ((is_on, *values),) = rows
    return TuningState(is_on, Tuning(*values))


def apply_tuning(profile: Profile) -> Profile:
    """Return the profile with the tuning in force; `profile` is the one whose text it is, or a request's variant."""
    return tuned(profile, tuning_state(profile).in_force)


def tuning_versions(name: str, limit: int) -> QuerySet[ProfileTuning]:
    """Return the newest versions of the tuning of a profile, the newest first."""
    return ProfileTuning.objects.filter(profile_name=name).order_by("-version")[:limit]


@transaction.atomic
def tuning_adjust(*, profile: Profile, steps: Sequence[Adjustment], evidence: Sequence[UUID]) -> list[ProfileTuning]:
    """Store a version for each step that a window of contexts gave reason for. `evidence` are the contexts' ids."""
    lock_until_commit(TUNING_LOCK)
    state = tuning_state(profile)
    made, tuning = [], state.tuning
    for step in steps:
        tuning = step.applied(tuning)
        facts = {"before": step.before, "after": step.after, "mean": step.mean, "evidence": list(evidence)}
        made.append(
            _add_version(profile.name, TuningChange(step.reason), TuningState(state.is_on, tuning), SYSTEM, facts)
        )
    return made


@transaction.atomic
def tuning_reset(*, name: str, principal: Principal) -> ProfileTuning | None:
    """Reset the tuning of a profile, so that it is as its text says. Raises Forbidden, NotFound, Conflict.

    Returns None if nothing changes.
    """
    profile = _profile_to_change(name, principal)
    state = tuning_state(profile)
    if state.tuning == UNTUNED:
        return None
    activity_record(
        principal,
        ActivityAction.PROFILE_TUNED,
        name,
        detail={**field_values(UNTUNED), "before": field_values(state.tuning)},
    )
    return _add_version(name, TuningChange.RESET, TuningState(state.is_on, UNTUNED), principal)


@transaction.atomic
def tuning_switch(*, name: str, is_on: bool, principal: Principal) -> ProfileTuning | None:
    """Switch the tuning of a profile on or off; its values are kept. Raises Forbidden, NotFound, Conflict.

    Returns None if nothing changes.
    """
    profile = _profile_to_change(name, principal)
    state = tuning_state(profile)
    if state.is_on == is_on:
        return None
    activity_record(
        principal, ActivityAction.PROFILE_TUNED, name, detail={"is_on": is_on, "before": {"is_on": state.is_on}}
    )
    change = TuningChange.ON if is_on else TuningChange.OFF
    return _add_version(name, change, TuningState(is_on, state.tuning), principal)


@transaction.atomic
def tuning_restart(*, profile: Profile, is_new: bool, principal: Principal) -> None:
    """Reset the tuning of a name whose profile is made or restored, and begin a new window.

    The tuning of a new profile is on as by default; that of a restored one stays on or off. The caller must check that
    the principal may do this, and call it before it changes the profile, as all who change tunings do.
    """
    lock_until_commit(TUNING_LOCK)
    window_begin(profile.name, uuid7())
    before = tuning_state(profile)
    after = TuningState(is_on_by_default(profile) if is_new else before.is_on, UNTUNED)
    if after != before:
        _add_version(profile.name, TuningChange.RESET, after, principal)


def window_begin(name: str, after: UUID) -> None:
    """Let the next window of the profile begin after this context, or after an id of this moment.

    The caller must hold TUNING_LOCK.
    """
    TuningWindow.objects.update_or_create(profile_name=name, defaults={"assembly": after})


def _profile_to_change(name: str, principal: Principal) -> Profile:
    require_admin(principal)
    lock_until_commit(TUNING_LOCK)
    entry = find_profile_entry(name)
    if entry.described is None:
        raise Conflict(f"The profile {name} cannot be used: its text is not valid. Correct it first.")
    if not is_tunable(entry.described.profile):
        raise Conflict(f"The profile {name} is never tuned. Copy it under another name to have it tuned.")
    return entry.described.profile


def _add_version(
    name: str,
    change: TuningChange,
    state: TuningState,
    principal: Principal,
    facts: dict[str, object] | None = None,
) -> ProfileTuning:
    window_begin(name, uuid7())
    newest = ProfileTuning.objects.filter(profile_name=name).order_by("-version").values_list("version", flat=True)
    return ProfileTuning.objects.create(
        profile_name=name,
        version=(newest.first() or 0) + 1,
        change=change,
        is_on=state.is_on,
        **field_values(state.tuning),
        **(facts or {}),
        changed_by=principal.ref,
        changer_name=principal.name,
    )
