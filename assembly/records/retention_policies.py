"""Retention says how long records are kept: by the organisation's rule or a team's own. A flag keeps one for longer."""

from dataclasses import dataclass

from django.db import IntegrityError, transaction

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.models import Assembly, AssemblyFlag, RetentionPolicy
from assembly.models.retention import MAX_DAYS
from config.http.errors import Forbidden, Invalid, NotFound
from teams.access import is_permitted, require_admin
from teams.models import Team
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion, lock_row


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """How long: so many days, or for ever (None). `keep_flagged`: what somebody flagged stays all the same."""

    days: int | None = None
    keep_flagged: bool = True


def find_policy(team: Team | None) -> RetentionPolicy | None:
    """The policy of the team itself, or of the organisation (None); None where there is none."""
    return RetentionPolicy.objects.filter(team=team).first()


@dataclass(frozen=True, slots=True)
class EffectiveRetention:
    """What holds for the records of a team (None: of those that have no rule of their own), and who said so."""

    team: Team | None
    keeping: RetentionRule
    policy: RetentionPolicy | None
    """Its own; None where the organisation's rule holds for it, or nobody said anything."""

    @property
    def version(self) -> int:
        """Of its own policy; 0 where there is none."""
        return self.policy.version if self.policy else 0


def effective_retention(team: Team | None) -> EffectiveRetention:
    """The team's own policy, else the organisation's, else for ever."""
    own = find_policy(team)
    policy = own or (find_policy(None) if team else None)
    return EffectiveRetention(team, RetentionRule(policy.days, policy.keep_flagged) if policy else RetentionRule(), own)


@transaction.atomic
def retention_set(
    *, team: Team | None, keeping: RetentionRule, expected_version: int, principal: Principal
) -> RetentionPolicy:
    """Say for how long; the same again makes no new version. Version 0 is expected where there is none yet.

    Raises Forbidden, Invalid, and StaleVersion where somebody said something else meanwhile.
    """
    _require_policy_admin(team, principal)
    if keeping.days is not None and not 1 <= keeping.days <= MAX_DAYS:
        raise Invalid("days", f"Give a number of days from 1 to {MAX_DAYS:,}, or none to keep records for ever.")
    current = find_policy(team)
    if current is None:
        return _create_policy(team, keeping, expected_version, principal)
    current = lock_row(current)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    if RetentionRule(current.days, current.keep_flagged) != keeping:
        current.days, current.keep_flagged = keeping.days, keeping.keep_flagged
        current.version += 1
        current.signed_by(principal.author)
        current.save(force_update=True)
    return current


@transaction.atomic
def retention_clear(*, team: Team | None, expected_version: int, principal: Principal) -> None:
    """Go back to the organisation's rule; its own is for ever then. Raises Forbidden, NotFound and StaleVersion."""
    _require_policy_admin(team, principal)
    policy = find_policy(team)
    if policy is None:
        raise NotFound("A retention of its own")
    policy = lock_row(policy)
    if policy.version != expected_version:
        raise StaleVersion(policy, expected_version)
    policy.delete()


def _require_policy_admin(team: Team | None, principal: Principal) -> None:
    """Admins of the organisation for its rule; a team's admins for the team's."""
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
    except IntegrityError:  # somebody was faster
        raise StaleVersion(find_policy(team) or policy, expected_version) from None
    return policy


def may_flag(principal: Principal, assembly: Assembly) -> bool:
    """Whether somebody who sees the record may flag it: who may write in its team, or for its agent where it has none.

    Once these are gone, admins of the organisation alone.
    """
    if principal.is_admin:
        return True
    if assembly.team_id:
        team = Team.objects.filter(id=assembly.team_id).first()
        return bool(team and is_permitted(principal, team, Action.WRITE))
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    return bool(agent and may_with_agent(principal, agent, Action.WRITE))


def assembly_flag(*, assembly: Assembly, note: str = "", principal: Principal) -> AssemblyFlag:
    """Keep this record; one that is flagged stays as it is. Raises Forbidden, and NotFound where it was just pruned."""
    _require_may_flag(principal, assembly)
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
    """It need not be kept any longer than others. Raises Forbidden."""
    _require_may_flag(principal, assembly)
    AssemblyFlag.objects.filter(assembly=assembly).delete()


def _require_may_flag(principal: Principal, assembly: Assembly) -> None:
    if not may_flag(principal, assembly):
        raise Forbidden("Your role does not allow this. Ask an editor or an admin of the team.")
