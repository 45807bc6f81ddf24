"""Learned weights that are switched on replace the weights of a profile when a request is prepared.

They are part of the profile from then on, which records and caches hold by value.
"""

from dataclasses import replace

from django.db import transaction

from assembly.engine.profile import Profile, Weights
from assembly.engine.types import field_values
from assembly.models import LearnedWeights
from assembly.profiles.catalogue import ProfileEntry, find_profile
from assembly.profiles.shipped import CONVERSATION
from config.db.statements import find_rows
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal

State = LearnedWeights.State
NEWEST_SWITCH = "WHERE profile = %(profile)s AND state <> 'proposed' ORDER BY created DESC, id DESC LIMIT 1"


def profile_in_force(name: str) -> Profile:
    """Return the profile with this name, with its learned weights if they are switched on; two queries.

    Raises Invalid as `find_profile` does.
    """
    return apply_learned_weights(find_profile(name))


def apply_learned_weights(profile: Profile) -> Profile:
    """Return the profile with its learned weights if they are switched on; one query. `profile` is as written."""
    learned = weights_in_force(profile)
    return replace(profile, weights=Weights(**learned.weights)) if learned else profile


def weights_in_force(profile: Profile) -> LearnedWeights | None:
    """Return the row that switched on learned weights for this profile; None if none are on. `profile` is as written.

    Weights that were learned for another version of the profile, or for other weights in its text, are not in force:
    their shadow run says nothing about this profile. The profile `conversation` never has any.
    """
    if profile.name == CONVERSATION.name:
        return None
    newest = newest_switch(profile.name)
    return newest if newest and newest.state == State.ON and fits_profile(newest, profile) else None


def newest_switch(name: str) -> LearnedWeights | None:
    """Return the newest row that switched learned weights of the profile on or off; None if there is none."""
    found = find_rows(LearnedWeights, NEWEST_SWITCH, {"profile": name})
    return found[0] if found else None


def fits_profile(learned: LearnedWeights, profile: Profile) -> bool:
    """Return whether the weights were learned for this version of the profile, and from the weights in its text."""
    return learned.profile_version == profile.version and learned.own_weights == field_values(profile.weights)


def fits_entry(learned: LearnedWeights, entry: ProfileEntry) -> bool:
    """Return whether the weights were learned for the profile as it is now, not for a deleted one with its name.

    A switched-on row needs only `fits_profile`, because deleting a profile switches its weights off.
    """
    if entry.described is None or not fits_profile(learned, entry.described.profile):
        return False
    return not entry.stored or learned.created >= entry.row.created


@transaction.atomic
def switch_record(*, learned: LearnedWeights, state: LearnedWeights.State, principal: Principal) -> LearnedWeights:
    """Record that a version of learned weights is on or off from now on, and return the new row.

    The caller must check that the principal may do this.
    """
    facts = ("profile", "profile_version", "version", "own_weights", "weights", "contexts", "held_out")
    values = {name: getattr(learned, name) for name in (*facts, "recall_before", "recall_after")}
    row = LearnedWeights.objects.create(**values, state=state, by_ref=principal.ref, by_name=principal.name)
    action = ActivityAction.PROFILE_WEIGHTS_ON if state == State.ON else ActivityAction.PROFILE_WEIGHTS_OFF
    detail = {"version": learned.version, "weights": learned.weights}
    activity_record(principal, action, learned.profile, detail=detail)
    return row
