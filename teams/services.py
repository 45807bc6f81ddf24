"""Writes about people and teams."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from config.db.statements import fetch_rows
from config.http.errors import Conflict, NotFound
from teams.models import Membership, Team, TeamFile, User, admins_of, readers_of
from teams.principal import SYSTEM, Principal, Role
from teams.versioned_text.drafts import drafts_delete
from teams.versioned_text.versioned_file import StaleVersion, file_create, lock_row


@transaction.atomic
def team_create(*, slug: str, name: str, principal: Principal = SYSTEM) -> Team:
    """A team with its three empty files; a person who creates it becomes its admin. Raises Conflict."""
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
    except IntegrityError:
        raise Conflict(f"There is a team “{slug}” already. Choose another slug.") from None
    team_files_provision([team])
    if principal.kind == "person":
        Membership.objects.create(team=team, user_id=principal.id, role=Role.ADMIN)
    return team


@transaction.atomic
def team_files_provision(teams: Sequence[Team]) -> int:
    """Give the teams those of their three files that they lack, empty. Returns how many were made.

    Safe to run twice at once: the teams' rows are held while it looks and writes.
    """
    ids = [
        team.id
        for team in Team.objects.select_for_update(no_key=True)
        .filter(id__in=[team.id for team in teams])
        .order_by("id")
    ]
    present = set(TeamFile.objects.filter(team__in=ids).values_list("team_id", "file_key"))
    missing = [(id_, key) for id_ in ids for key in TeamFile.Key.values if (id_, key) not in present]
    for id_, key in missing:
        file_create(file=TeamFile(team_id=id_, file_key=key), author=SYSTEM.author)
    return len(missing)


@transaction.atomic
def team_update(*, team: Team, expected_version: int, name: str, agents_may_change_texts: bool | None = None) -> Team:
    """Rename a team, and decide whether agents may change what people wrote in it; None leaves that as it is.

    The same again makes no new version. Raises StaleVersion.
    """
    current = lock_row(team)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    may_change = current.agents_may_change_texts if agents_may_change_texts is None else agents_may_change_texts
    if (current.name, current.agents_may_change_texts) == (name, may_change):
        return current
    current.name, current.agents_may_change_texts, current.version = name, may_change, current.version + 1
    current.save()
    return current


@transaction.atomic
def team_delete(*, team: Team, principal: Principal) -> None:
    """Delete a team and all that it owns. Assemblies stay, as part of the audit trail, and members keep drafts."""
    drafts_delete(abouts=Q(about__in=[file.about for file in team.files.all()]), readers=readers_of([team.id]))
    erase("teams", team.id, principal)


class LastAdmin(Conflict):
    """Somebody would be left out without whom nobody could manage the team."""

    code = "last_admin"
    title = "A team keeps one admin"

    def __init__(self, user: User) -> None:
        super().__init__(f"{user} is the only admin of this team. Make somebody else an admin first.")


@transaction.atomic
def membership_set(*, team: Team, user: User, role: str) -> Membership:
    """Make the person a member of the team, or change the role. Raises LastAdmin."""
    current = lock_row(team)  # two admins who demote each other at once take turns
    if role != Role.ADMIN:
        _require_another_admin(current, user)
    membership, _ = Membership.objects.update_or_create(team=current, user=user, defaults={"role": role})
    return membership


@transaction.atomic
def membership_remove(*, team: Team, user: User) -> None:
    """Take the person out of the team. Raises LastAdmin, and NotFound."""
    current = lock_row(team)
    _require_another_admin(current, user)
    deleted, _ = Membership.objects.filter(team=current, user=user).delete()
    if not deleted:
        raise NotFound("This membership")


def _require_another_admin(team: Team, user: User) -> None:
    if set(admins_of(team)) == {user}:
        raise LastAdmin(user)


def people_to_add(principal: Principal) -> QuerySet[User]:
    """The people whom the principal may add to a team that it manages.

    Admins of a team add people whom they meet in their teams, so that they cannot find out which usernames exist;
    admins of the organisation add everybody who may sign in.
    """
    people = User.objects.filter(is_active=True)
    if principal.is_admin:
        return people
    met = Membership.objects.filter(team__in=Team.objects.visible_to(principal))
    return people.filter(id__in=met.values("user_id"))


ERASE_SQL = "SELECT erase(%s, %s, %s)"


def erase(table: str, row_id: UUID, principal: Principal) -> None:
    """Delete a row with its history through the database's one audited function. Raises NotFound."""
    ((erased,),) = fetch_rows(ERASE_SQL, [table, row_id, principal.ref])
    if not erased:
        raise NotFound
