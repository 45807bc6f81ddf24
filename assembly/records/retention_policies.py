"""Retention says how long records are stored: by the organisation's rule or a team's own. A flag protects one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.models import Assembly, AssemblyFlag, RetentionPolicy
from assembly.models.retention import MAX_DAYS
from config.http.errors import Forbidden, Invalid, NotFound
from teams.access import is_permitted, require_admin
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Action, Principal
from teams.secret_scanning.handling import RefusingOwner, storable_text
from teams.versioned_text.versioned_file import StaleVersion, lock_row


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A retention rule: a number of days, or for ever (None). `keep_flagged`: flagged records are never deleted."""

    days: int | None = None
    keep_flagged: bool = True


def find_policy(team: Team | None) -> RetentionPolicy | None:
    """Return the team's own policy, or the organisation's for None; None if there is no such policy."""
    return RetentionPolicy.objects.filter(team=team).first()


@dataclass(frozen=True, slots=True)
class EffectiveRetention:
    """The retention that applies to a team's records, or (team None) to records of teams without a policy."""

    team: Team | None
    keeping: RetentionRule
    policy: RetentionPolicy | None
    """The team's own policy; None if the organisation's rule or the default applies."""

    @property
    def version(self) -> int:
        """Version of the team's own policy; 0 without one."""
        return self.policy.version if self.policy else 0


def effective_retention(team: Team | None) -> EffectiveRetention:
    """Return the team's own retention, else the organisation's, else for ever."""
    own = find_policy(team)
    policy = own or (find_policy(None) if team else None)
    return EffectiveRetention(team, RetentionRule(policy.days, policy.keep_flagged) if policy else RetentionRule(), own)


@transaction.atomic
def retention_set(
    *, team: Team | None, keeping: RetentionRule, expected_version: int, principal: Principal
) -> RetentionPolicy:
    """Set the retention of a team, or of the organisation for None. An unchanged rule makes no new version.

    `expected_version` is 0 if there is no policy yet. Raises Forbidden, Invalid, and StaleVersion if the policy was
    changed meanwhile.
    """
    _require_policy_admin(team, principal)
    if keeping.days is not None and not 1 <= keeping.days <= MAX_DAYS:
        raise Invalid("days", f"Enter a number of days from 1 to {MAX_DAYS:,}, or none to retain records indefinitely.")
    current = find_policy(team)
    if current is None:
        return _create_policy(team, keeping, expected_version, principal)
    current = lock_row(current)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    if RetentionRule(current.days, current.keep_flagged) != keeping:
        before = RetentionRule(current.days, current.keep_flagged)
        current.days, current.keep_flagged = keeping.days, keeping.keep_flagged
        current.version += 1
        current.signed_by(principal.author)
        current.save(force_update=True)
        _record(principal, team, keeping, before)
    return current


@transaction.atomic
def retention_clear(*, team: Team | None, expected_version: int, principal: Principal) -> None:
    """Delete a team's policy, so that the organisation's applies; without the organisation's, records stay for ever.

    Raises Forbidden, NotFound and StaleVersion.
    """
    _require_policy_admin(team, principal)
    policy = find_policy(team)
    if policy is None:
        raise NotFound("A retention of its own")
    policy = lock_row(policy)
    if policy.version != expected_version:
        raise StaleVersion(policy, expected_version)
    policy.delete()
    name, of = _activity_owner(team)
    activity_record(principal, ActivityAction.RETENTION_CLEARED, name, team_ids=[of])


def _record(
    principal: Principal, team: Team | None, keeping: RetentionRule, before: RetentionRule | None = None
) -> None:
    """Record the new rule in the activity log, with the one that it replaces."""
    name, of = _activity_owner(team)
    detail = changed_values(asdict(before), asdict(keeping)) if before else asdict(keeping)
    activity_record(principal, ActivityAction.RETENTION_SET, name, team_ids=[of], detail=detail)


def _activity_owner(team: Team | None) -> tuple[str, UUID | None]:
    return (team.name, team.id) if team else (_("The organisation"), None)


def _require_policy_admin(team: Team | None, principal: Principal) -> None:
    """Check that the principal is an admin of the team, or of the organisation for its own policy. Raises Forbidden."""
    if team is None or not is_permitted(principal, team, Action.MANAGE):
        require_admin(principal)


def _create_policy(
    team: Team | None, keeping: RetentionRule, expected_version: int, principal: Principal
) -> RetentionPolicy:
    policy = RetentionPolicy(team=team, days=keeping.days, keep_flagged=keeping.keep_flagged)
    if expected_version != 0:
        raise StaleVersion(RetentionPolicy(team=team, version=0), expected_version)
    policy.signed_by(principal.author)
    try:
        with transaction.atomic():
            policy.save(force_insert=True)
    except IntegrityError:  # another request created the policy first
        raise StaleVersion(find_policy(team) or policy, expected_version) from None
    _record(principal, team, keeping)
    return policy


def may_flag(principal: Principal, assembly: Assembly) -> bool:
    """Return whether a principal who sees the record may flag it.

    Allowed are those who may write in its team, or for its agent if it has no team; once these are deleted, only admins
    of the organisation.
    """
    if principal.is_admin:
        return True
    if assembly.team_id:
        team = Team.objects.filter(id=assembly.team_id).first()
        return bool(team and is_permitted(principal, team, Action.WRITE))
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    return bool(agent and may_with_agent(principal, agent, Action.WRITE))


def assembly_flag(*, assembly: Assembly, note: str = "", principal: Principal) -> AssemblyFlag:
    """Flag a record, so that it is not deleted; an existing flag is returned unchanged.

    Raises Forbidden, Invalid for a note with a secret, and NotFound if the record was just pruned.
    """
    _require_may_flag(principal, assembly)
    if note:
        agent = Agent.objects.filter(id=assembly.agent_id).first()
        note = storable_text(note, agent or RefusingOwner(), "note")
    flag = AssemblyFlag(assembly=assembly, by_ref=principal.ref, by_name=principal.name, note=note)
    try:
        with transaction.atomic():
            flag.save(force_insert=True)
    except IntegrityError:
        found = AssemblyFlag.objects.filter(assembly=assembly).first()
        if found is None:
            raise NotFound("This context") from None
        return found
    return flag


def assembly_unflag(*, assembly: Assembly, principal: Principal) -> None:
    """Remove the flag of a record, so that its retention applies again. Raises Forbidden."""
    _require_may_flag(principal, assembly)
    AssemblyFlag.objects.filter(assembly=assembly).delete()


def assemblies_flag(*, assemblies: Sequence[Assembly], principal: Principal) -> int:
    """Flag those of the records that the principal may flag, and return their number. Existing flags remain."""
    flags = [
        AssemblyFlag(assembly=assembly, by_ref=principal.ref, by_name=principal.name)
        for assembly in _may_be_flagged(principal, assemblies)
    ]
    AssemblyFlag.objects.bulk_create(flags, ignore_conflicts=True)
    return len(flags)


def assemblies_unflag(*, assemblies: Sequence[Assembly], principal: Principal) -> int:
    """Remove the flags of those of the records that the principal may flag, and return the number of these records."""
    found = _may_be_flagged(principal, assemblies)
    AssemblyFlag.objects.filter(assembly__in=[assembly.pk for assembly in found]).delete()
    return len(found)


def _may_be_flagged(principal: Principal, assemblies: Sequence[Assembly]) -> list[Assembly]:
    """Return the records that the principal may flag, with a check for each agent and team, not for each record."""
    by_owner = {(assembly.team_id, assembly.agent_id): assembly for assembly in assemblies}
    allowed = {owner for owner, assembly in by_owner.items() if may_flag(principal, assembly)}
    return [assembly for assembly in assemblies if (assembly.team_id, assembly.agent_id) in allowed]


def _require_may_flag(principal: Principal, assembly: Assembly) -> None:
    if not may_flag(principal, assembly):
        raise Forbidden("Your role does not allow this. Ask an editor or an admin of the team.")
