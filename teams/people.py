"""This module creates and changes accounts. Accounts are never deleted, because versions name their authors."""

import secrets
from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.dispatch import Signal

from config.http.errors import Conflict
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.models import Membership, Team, User, teams_administered_alone
from teams.principal import SYSTEM, Principal
from teams.sign_in.browser_sessions import sessions_end

admin_rights_ended = (
    Signal()
)  # sender: User; person: who is no admin of the organisation any more, or deactivated; principal: who did it


@transaction.atomic
def person_create(*, username: str, name: str, is_admin: bool, principal: Principal = SYSTEM) -> tuple[User, str]:
    """Create a person. Return the person and the first password, which is not stored in plain text. Raises Conflict."""
    password = _new_password()
    try:
        with transaction.atomic():
            person = User.objects.create_user(username, password, name=name, is_admin=is_admin)
    except IntegrityError:
        raise Conflict(f"There is a person “{username}” already. Choose another username.") from None
    activity_record(principal, ActivityAction.PERSON_CREATED, str(person), detail={"is_admin": is_admin})
    return person, password


class LeavesTeamsWithoutAdmin(Conflict):
    """The person to be deactivated is the only admin of some teams. Nothing was changed."""

    code = "last_admin"
    title = "A team needs an admin"

    def __init__(self, person: User, teams: Sequence[Team]) -> None:
        names = ", ".join(team.name for team in teams)
        super().__init__(
            f"{person} is the only admin of these teams: {names}. Make someone else an admin of each, "
            "or select the teams that may have no admin for now. Admins of the organisation manage "
            "them until then."
        )


@transaction.atomic
def person_update(
    *,
    person: User,
    name: str,
    is_admin: bool,
    is_active: bool,
    without_admin: Collection[UUID] = (),
    principal: Principal = SYSTEM,
) -> User:
    """Change a person's name, whether they are an admin, and whether they may sign in; a deactivated person is signed
    out immediately.

    The app `agents` listens, and revokes the admin keys of a person who is no admin any more. `without_admin` are the
    ids of the teams that may be left without an admin.

    Raises LeavesTeamsWithoutAdmin, and Conflict if no organisation admin would be left.
    """
    if not is_active:
        _require_other_admins(person, without_admin)
    # All admins are held, so that two who lock out each other at once do not both succeed.
    admins = set(User.objects.select_for_update().filter(is_admin=True, is_active=True).order_by("id"))
    if not (is_admin and is_active) and admins == {person}:
        raise Conflict("This is the only admin of the organisation. Make someone else an admin first.")
    current = User.objects.select_for_update().get(pk=person.pk)
    was_admin = current.is_admin and current.is_active
    # When switched on again too: a sign-in that was under way while they were switched off leaves no session either.
    if current.is_active != is_active:
        sessions_end(person=current)
    before = {"name": current.name, "is_admin": current.is_admin, "is_active": current.is_active}
    if detail := changed_values(before, {"name": name, "is_admin": is_admin, "is_active": is_active}):
        activity_record(principal, ActivityAction.PERSON_CHANGED, str(current), detail=detail)
    current.name, current.is_admin, current.is_active = name, is_admin, is_active
    current.save(update_fields=["name", "is_admin", "is_active"])
    if was_admin and not (is_admin and is_active):
        admin_rights_ended.send(sender=User, person=current, principal=principal)
    return current


def _require_other_admins(person: User, without_admin: Collection[UUID]) -> None:
    own = Membership.objects.filter(user=person).values("team_id")
    # Held, so that of two admins who are switched off or demoted at once the second one is the last.
    list(Team.objects.select_for_update(no_key=True).filter(id__in=own).order_by("id"))
    left = [team for team in teams_administered_alone(person) if team.id not in without_admin]
    if left:
        raise LeavesTeamsWithoutAdmin(person, left)


@transaction.atomic
def person_password_renew(*, person: User, principal: Principal = SYSTEM) -> str:
    """Give a person a new password and end their sessions. Return the password, which is not stored in plain text."""
    password = _new_password()
    person.set_password(password)
    person.save(update_fields=["password"])
    sessions_end(person=person)
    activity_record(principal, ActivityAction.PERSON_PASSWORD, str(person))
    return password


@transaction.atomic
def person_sign_out(*, person: User, except_digest: str, principal: Principal) -> int:
    """End all sessions of a person but the one with this digest. Return how many ended."""
    activity_record(principal, ActivityAction.PERSON_SIGNED_OUT, str(person))
    return sessions_end(person=person, except_digest=except_digest)


def _new_password() -> str:
    return secrets.token_urlsafe(12)
