"""This module creates, changes and deletes teams and memberships."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from config.db.statements import fetch_rows
from config.http.errors import Conflict, NotFound
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.legal_holds import require_not_held
from teams.models import Membership, Team, TeamFile, User, admins_of, readers_of
from teams.principal import SYSTEM, Principal, Role
from teams.versioned_text.drafts import drafts_delete
from teams.versioned_text.versioned_file import StaleVersion, files_insert, lock_row


@transaction.atomic
def team_create(*, slug: str, name: str, principal: Principal = SYSTEM) -> Team:
    """Create a team with its three empty files. A person who creates it becomes its admin. Raises Conflict."""
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name)
    except IntegrityError:
        raise Conflict(f"There is a team “{slug}” already. Choose another slug.") from None
    team_files_provision([team])
    if principal.kind == "person":
        Membership.objects.create(team=team, user_id=principal.id, role=Role.ADMIN)
    activity_record(principal, ActivityAction.TEAM_CREATED, name, team_ids=[team.id])
    return team


@transaction.atomic
def team_files_provision(teams: Sequence[Team]) -> int:
    """Create the missing files of the teams, empty. Return how many were created.

    Running it twice at the same time is safe, because the rows of the teams are locked.
    """
    ids = [
        team.id
        for team in Team.objects.select_for_update(no_key=True)
        .filter(id__in=[team.id for team in teams])
        .order_by("id")
    ]
    present = set(TeamFile.everything.filter(team__in=ids).values_list("team_id", "file_key"))
    missing = [(id_, key) for id_ in ids for key in TeamFile.Key.values if (id_, key) not in present]
    files_insert(files=[TeamFile(team_id=id_, file_key=key) for id_, key in missing], author=SYSTEM.author)
    return len(missing)


@transaction.atomic
def team_update(
    *,
    team: Team,
    expected_version: int,
    name: str,
    agents_may_change_texts: bool | None = None,
    secret_handling: str | None = None,
    reading_reasons: str | None = None,
    principal: Principal = SYSTEM,
) -> Team:
    """Rename a team, set whether agents may change what people wrote in it, what happens to texts with secrets, and
    what is read only with a reason; None leaves a setting unchanged.

    A call that changes nothing creates no version. Raises StaleVersion.
    """
    current = lock_row(team)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    given = {
        "name": name,
        "agents_may_change_texts": agents_may_change_texts,
        "secret_handling": secret_handling,
        "reading_reasons": reading_reasons,
    }
    before = {field: getattr(current, field) for field in given}
    after = {field: before[field] if value is None else value for field, value in given.items()}
    if before == after:
        return current
    detail = changed_values(before, after)
    activity_record(principal, ActivityAction.TEAM_CHANGED, current.name, team_ids=[team.id], detail=detail)
    for field, value in after.items():
        setattr(current, field, value)
    current.version += 1
    current.save()
    return current


@transaction.atomic
def team_delete(*, team: Team, principal: Principal) -> None:
    """Delete a team and everything that it owns.

    Assemblies remain, as part of the audit trail; members keep their drafts.
    """
    abouts = [file.about for file in TeamFile.everything.filter(team=team)]
    drafts_delete(abouts=Q(about__in=abouts), readers=readers_of([team.id]))
    erase("teams", team.id, principal)
    activity_record(principal, ActivityAction.TEAM_DELETED, team.name)


class LastAdmin(Conflict):
    """The person is the last one who can manage the team, so the membership cannot be removed."""

    code = "last_admin"
    title = "A team needs an admin"

    def __init__(self, user: User) -> None:
        super().__init__(f"{user} is the only admin of this team. Make someone else an admin first.")


@transaction.atomic
def membership_set(*, team: Team, user: User, role: str, principal: Principal = SYSTEM) -> Membership:
    """Add the person to the team, or change their role. Raises LastAdmin."""
    current = lock_row(team)  # two admins who demote each other at once take turns
    if role != Role.ADMIN:
        _require_another_admin(current, user)
    # The lock on the team's row keeps others from adding or changing the membership meanwhile.
    membership = Membership.objects.filter(team=current, user=user).first()
    before = membership.role if membership else None
    if membership is None:
        membership = Membership.objects.create(team=current, user=user, role=role)
    elif before != role:
        membership.role = role
        membership.save(update_fields=["role"])
    if before != role:
        detail = {"team": current.name, "role": role, "before": {"role": before}}
        activity_record(principal, ActivityAction.MEMBER_SET, str(user), team_ids=[current.id], detail=detail)
    return membership


@transaction.atomic
def membership_remove(*, team: Team, user: User, principal: Principal = SYSTEM) -> None:
    """Remove the person from the team. Raises LastAdmin, and NotFound."""
    current = lock_row(team)
    _require_another_admin(current, user)
    deleted, _ = Membership.objects.filter(team=current, user=user).delete()
    if not deleted:
        raise NotFound("This membership")
    detail = {"team": current.name}
    activity_record(principal, ActivityAction.MEMBER_REMOVED, str(user), team_ids=[current.id], detail=detail)


def _require_another_admin(team: Team, user: User) -> None:
    if set(admins_of(team)) == {user}:
        raise LastAdmin(user)


def people_to_add(principal: Principal) -> QuerySet[User]:
    """Return the people whom the principal may add to a team that it manages.

    Team admins can add people of their own teams only, so that they cannot find out which usernames exist. Organisation
    admins can add everyone who may sign in.
    """
    people = User.objects.filter(is_active=True)
    if principal.is_admin:
        return people
    met = Membership.objects.filter(team__in=Team.objects.visible_to(principal))
    return people.filter(id__in=met.values("user_id"))


ERASE_SQL = "SELECT erase(%s, %s, %s)"


def erase(table: str, row_id: UUID, principal: Principal) -> None:
    """Delete a row with its history through the database's one audited function. Raises NotFound and HeldByLaw."""
    require_not_held(table, row_id)
    ((erased,),) = fetch_rows(ERASE_SQL, [table, row_id, principal.ref])
    if not erased:
        raise NotFound
