"""This module creates, changes and deletes profiles. A text that cannot be parsed is refused with its line."""

from django.db import IntegrityError, transaction

from agents.models import Agent
from assembly.models import PublicationGuard, StoredProfile
from assembly.profiles.catalogue import find_profile_row, is_stored, known_sources
from assembly.profiles.documents import document_create, name_taken, refuse_name
from assembly.profiles.learned_weights import State, newest_switch, switch_record
from assembly.profiles.parser import parse_profile
from assembly.profiles.shipped import CONVERSATION, SHIPPED
from assembly.profiles.tuning_versions import tuning_restart
from config.http.errors import Conflict, NotFound
from teams.access import require_admin
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import SYSTEM, Principal
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, file_create, file_save

MAX_PROFILES = 200
MAX_NAMED = 5
RESERVED_NAMES = {"new", "check"}
"""Names that no profile can have, because they are parts of URLs."""


@transaction.atomic
def profile_create(*, name: str, content: str, principal: Principal, note: str = "") -> StoredProfile:
    """Create a profile of the organisation. Raises Forbidden, Conflict, and Invalid, which names the line."""
    require_admin(principal)
    refuse_name(name, RESERVED_NAMES)
    row = StoredProfile(name=name, content=content)
    if name in SHIPPED:
        raise name_taken(row)
    profile = parse_profile(content, name=name, version=1, sources=known_sources())
    if StoredProfile.objects.count() >= MAX_PROFILES:
        raise Conflict(f"There are {MAX_PROFILES} profiles already. Delete one first.")
    tuning_restart(profile=profile, is_new=True, principal=principal)
    return document_create(row=row, principal=principal, note=note)


@transaction.atomic
def profile_save(
    *, name: str, content: str, expected_version: int, principal: Principal, note: str = ""
) -> StoredProfile:
    """Save the next version of a profile; the same text again makes none.

    The first change of a shipped profile keeps its text as version 1, by Dossier. Raises Forbidden, NotFound, Conflict,
    StaleVersion, and Invalid, which names the line.
    """
    require_admin(principal)
    row = find_changeable_profile(name)
    parse_profile(content, name=name, version=row.version + 1, sources=known_sources())
    if not is_stored(row):
        if expected_version != row.version:
            raise StaleVersion(row, expected_version)
        if content == row.content:
            return row
        row = _create_stored(row)
    return file_save(file=row, content=content, expected_version=expected_version, author=principal.author, note=note)


@transaction.atomic
def profile_delete(*, name: str, principal: Principal) -> None:
    """Delete a profile with its history; a built-in one is reset to its default. Raises Forbidden,
    NotFound, Conflict.
    """
    require_admin(principal)
    row = find_changeable_profile(name)
    if not is_stored(row):
        raise Conflict(f"The profile {name} has not been changed: there is nothing to delete.")
    if name not in SHIPPED and (agents := list(Agent.objects.filter(profile=name).order_by("name")[:MAX_NAMED])):
        users = ", ".join(agent.name for agent in agents)
        raise Conflict(f"Agents use the profile {name}: {users}. Choose another profile for them first.")
    if name in SHIPPED:
        restored = parse_profile(SHIPPED[name], name=name, version=1, sources=known_sources())
        tuning_restart(profile=restored, is_new=False, principal=principal)
    if (learned := newest_switch(name)) and learned.state == State.ON:
        # Otherwise they would be in force for a new profile with this name and the same weights.
        switch_record(learned=learned, state=State.OFF, principal=principal)
    erase("profiles", row.id, principal)
    if name not in SHIPPED:
        PublicationGuard.objects.filter(about=row.about).delete()
    activity_record(principal, ActivityAction.PROFILE_DELETED, name)


def find_changeable_profile(name: str) -> StoredProfile:
    """Return the profile to be changed. Raises NotFound, and Conflict for the profile that cannot be changed."""
    row = find_profile_row(name)
    if row is None:
        raise NotFound(f"The profile “{name}”")
    if name == CONVERSATION.name:
        raise Conflict(f"The profile {name} cannot be changed. Copy it under another name and change the copy.")
    return row


def _create_stored(row: StoredProfile) -> StoredProfile:
    try:
        with transaction.atomic():
            return file_create(file=row, author=SYSTEM.author)
    except IntegrityError:  # somebody else changed it first in this very moment
        return StoredProfile.objects.get(name=row.name)
