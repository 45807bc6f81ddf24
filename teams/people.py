"""Writes about people's accounts: made by admins, never deleted, as what somebody wrote stays theirs."""

import secrets
from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.dispatch import Signal

from config.http.errors import Conflict
from teams.models import Membership, Team, User, teams_administered_alone
from teams.sign_in.browser_sessions import sessions_end

admin_rights_ended = Signal()  # sender: User; person: who is no admin of the organisation any more, or switched off


@transaction.atomic
def person_create(*, username: str, name: str, is_admin: bool) -> tuple[User, str]:
    """A new person. Returns it and its first password, which nobody can read again. Raises Conflict."""
    password = _new_password()
    try:
        with transaction.atomic():
            return User.objects.create_user(username, password, name=name, is_admin=is_admin), password
    except IntegrityError:
        raise Conflict(f"There is a person “{username}” already. Choose another username.") from None


class LeavesTeamsWithoutAdmin(Conflict):
    """Somebody is switched off who is the only admin of teams; nothing was changed."""

    code = "last_admin"
    title = "A team keeps one admin"

    def __init__(self, person: User, teams: Sequence[Team]) -> None:
        names = ", ".join(team.name for team in teams)
        super().__init__(
            f"{person} is the only admin of these teams: {names}. Make somebody else an admin of each, or tick the "
            "ones that shall stay without an admin for now. Admins of the organisation manage them until then."
        )


@transaction.atomic
def person_update(
    *, person: User, name: str, is_admin: bool, is_active: bool, without_admin: Collection[UUID] = ()
) -> User:
    """Change a person's name, and whether they are an admin and may sign in; who may not is signed out at once.

    The admin keys of somebody who is no admin any more are revoked, by the app of keys, which listens. `without_admin`
    are the ids of the teams that may lose their only admin by it: whoever leaves the organisation is switched off at
    once, and somebody has looked at what that leaves.

    Raises LeavesTeamsWithoutAdmin, and Conflict where nobody would be left who can do this.
    """
    if not is_active:
        _require_other_admins(person, without_admin)
    # All admins are held, so that two who lock out each other at once do not both succeed.
    admins = set(User.objects.select_for_update().filter(is_admin=True, is_active=True).order_by("id"))
    if not (is_admin and is_active) and admins == {person}:
        raise Conflict("This is the only admin of the organisation. Make somebody else an admin first.")
    current = User.objects.select_for_update().get(pk=person.pk)
    was_admin = current.is_admin and current.is_active
    # When switched on again too: a sign-in that was under way while they were switched off leaves no session either.
    if current.is_active != is_active:
        sessions_end(person=current)
    current.name, current.is_admin, current.is_active = name, is_admin, is_active
    current.save(update_fields=["name", "is_admin", "is_active"])
    if was_admin and not (is_admin and is_active):
        admin_rights_ended.send(sender=User, person=current)
    return current


def _require_other_admins(person: User, without_admin: Collection[UUID]) -> None:
    own = Membership.objects.filter(user=person).values("team_id")
    # Held, so that of two admins who are switched off or demoted at once the second one is the last.
    list(Team.objects.select_for_update(no_key=True).filter(id__in=own).order_by("id"))
    left = [team for team in teams_administered_alone(person) if team.id not in without_admin]
    if left:
        raise LeavesTeamsWithoutAdmin(person, left)


@transaction.atomic
def person_password_renew(*, person: User) -> str:
    """A new password for somebody who forgot theirs; it ends their sessions. Returns it; nobody can read it again."""
    password = _new_password()
    person.set_password(password)
    person.save(update_fields=["password"])
    sessions_end(person=person)
    return password


def _new_password() -> str:
    return secrets.token_urlsafe(12)
