"""The policies that hold: defaults, what the organisation saved instead, and what a team saved for itself."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from config.db.statements import lock_until_commit
from config.http.errors import Conflict, Invalid
from config.invisible_characters import clean_text
from memories.lifecycle.kv_policy import (
    CONTENT_TYPES,
    DEFAULT_POLICIES,
    InvalidPolicy,
    KVPolicy,
    parse_policy,
    stored_policy,
)
from memories.models import KVPolicyVersion, LifecycleReport
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Principal

POLICY_LOCK = 7_301_003
EVER = datetime.datetime.min.replace(tzinfo=datetime.UTC)
NOT_SAVED_YET = datetime.datetime.max.replace(tzinfo=datetime.UTC)


def newest_versions() -> QuerySet[KVPolicyVersion]:
    """Return the version that holds of each policy that somebody saved."""
    rows = KVPolicyVersion.objects.order_by("team_id", "content_type", "-version")
    return rows.distinct("team_id", "content_type")


class PolicyBook:
    """All policies that hold at one moment, and what rebalancing made of their age thresholds."""

    def __init__(self, instead: Mapping[tuple[UUID | None, str], KVPolicy] | None = None) -> None:
        """Read the policies; those of `instead`, by team and content type, hold in place of what is saved."""
        rows = list(newest_versions())
        self._saved: dict[tuple[UUID | None, str], KVPolicy] = {
            (row.team_id, row.content_type): stored_policy(row.policy) for row in rows if row.policy is not None
        }
        self._factors = age_factors(rows)
        self._saved_at = {(row.team_id, row.content_type): row.created for row in rows}
        for (team_id, content_type), policy in (instead or {}).items():
            self._saved[team_id, content_type] = policy
            self._factors.pop(content_type, None)  # as saving does
            self._saved_at[team_id, content_type] = NOT_SAVED_YET

    def policy(self, content_type: str, team_id: UUID | None = None) -> KVPolicy:
        """Return the team's policy of the content type, else the organisation's, else the default, as it was saved."""
        own = self._saved.get((team_id, content_type)) if team_id else None
        return own or self._saved.get((None, content_type)) or DEFAULT_POLICIES[content_type]

    def saved_at(self, content_type: str, team_id: UUID | None = None) -> datetime.datetime:
        """Return since when the team's policy of the content type is what it is; the beginning of time for defaults."""
        own = self._saved_at.get((team_id, content_type), EVER) if team_id else EVER
        if team_id and (team_id, content_type) in self._saved:
            return own
        return max(own, self._saved_at.get((None, content_type), EVER))

    def rebalanced(self, content_type: str, team_id: UUID | None = None) -> KVPolicy:
        """Return the policy as it holds: its age threshold is that which was saved, times the factor."""
        policy, factor = self.policy(content_type, team_id), self.age_factor(content_type)
        hours = policy.compress.age_threshold_hours * factor
        return replace(policy, compress=replace(policy.compress, age_threshold_hours=hours))

    def age_factor(self, content_type: str) -> float:
        """Return by what rebalancing multiplies the age thresholds of the content type; 1 where it changed nothing."""
        return self._factors.get(content_type, 1.0)

    def pins(self, content_type: str) -> bool:
        """Return whether a policy of the content type, of whomever, has patterns."""
        policies = [
            DEFAULT_POLICIES[content_type],
            *(one for key, one in self._saved.items() if key[1] == content_type),
        ]
        return any(one.pin.patterns for one in policies)

    @property
    def longest_pin_hours(self) -> float:
        """The longest time for which a policy pins."""
        return max(one.pin.ttl_hours for one in (*self._saved.values(), *DEFAULT_POLICIES.values()))

    @property
    def least_size(self) -> float:
        """The least size, in GB, from which on a policy evicts."""
        return min(one.evict.max_total_size_gb for one in (*self._saved.values(), *DEFAULT_POLICIES.values()))


def age_factors(versions: Sequence[KVPolicyVersion]) -> dict[str, float]:
    """Return the factors by content type that the last rebalancing found; saving a policy of the type ends its factor.

    `versions` are the newest ones.
    """
    report = last_report(REBALANCE)
    if report is None:
        return {}
    saved = {one.content_type for one in versions if one.created > report.created}
    return {name: factor for name, factor in report.detail["factors"].items() if name not in saved}


REBALANCE = "rebalance"


def last_report(step: str) -> LifecycleReport | None:
    """Return the newest report of the step; None if there is none."""
    return LifecycleReport.objects.filter(step=step).order_by("-created", "-id").first()


def versions_of(content_type: str, team: Team | None) -> QuerySet[KVPolicyVersion]:
    """Return all versions of a policy, newest first."""
    return KVPolicyVersion.objects.filter(content_type=content_type, team=team).order_by("-version")


def current_version(content_type: str, team: Team | None) -> int:
    """Return the number of the newest version; 0 if nobody saved the policy."""
    return versions_of(content_type, team).values_list("version", flat=True).first() or 0


@transaction.atomic
def kv_policy_save(
    *,
    content_type: str,
    team: Team | None,
    policy: Mapping[str, Any] | None,
    expected_version: int,
    note: str = "",
    principal: Principal,
) -> KVPolicyVersion:
    """Save the next version of a policy and return it; None brings the default back.

    The caller must check the permission. Raises Invalid, and Conflict where somebody saved meanwhile.
    """
    if content_type not in CONTENT_TYPES:
        raise Invalid("content_type", f"Send one of {', '.join(CONTENT_TYPES)}.")
    try:
        stored = None if policy is None else parse_policy(policy).as_json()
    except InvalidPolicy as wrong:
        raise Invalid(f"policy.{wrong.field}", str(wrong)) from wrong
    lock_until_commit(POLICY_LOCK)
    version = current_version(content_type, team)
    if version != expected_version:
        raise Conflict(f"The policy has version {version} by now. Look at it, and save again.")
    saved = KVPolicyVersion.objects.create(
        team=team,
        content_type=content_type,
        version=version + 1,
        policy=stored,
        note=clean_text(note),
        by_ref=principal.ref,
        by_name=principal.name,
    )
    action = ActivityAction.KV_POLICY_SAVED if stored else ActivityAction.KV_POLICY_RESET
    ids = [team.id] if team else []
    detail = {"content_type": content_type, "version": str(saved.version)}
    activity_record(principal, action, team.name if team else content_type, team_ids=ids, detail=detail)
    return saved
