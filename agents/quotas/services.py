"""This module reads and writes limits, reads usage, and counts texts of requests that store more than their bodies."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from agents.quotas.access import Subject, require_limit_setter, team_ids_of
from agents.quotas.headers import rate_limit_headers
from agents.quotas.limits import (
    DAY_LIMIT_ADVICE,
    DAY_REACHED_SECONDS,
    Limits,
    allowed_limits,
    default_limits,
    effective_limits,
    limit_owner_phrase,
    subjects_of,
)
from agents.quotas.models import LIMIT_NAMES, DailyUse, QuotaLimit
from agents.quotas.uses import today, uses
from config.http.errors import Invalid, TooManyRequests
from config.server.request_counts import SubjectCounts
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.principal import Principal

DAYS = 30
MEGABYTE = 1_000_000
NEAR_SHARE = 0.8
"""The share of a limit of the day above which a page shows a warning."""


@dataclass(frozen=True, slots=True)
class Quota:
    """The limits of a subject, and its usage in the last days, today last."""

    subject: Subject
    allowed: Limits
    """The limits that the organisation allows."""
    set_by_organisation: Mapping[str, int | None]
    set_by_team: Mapping[str, int | None]
    effective: Limits
    days: Sequence[DailyUse]

    @property
    def today(self) -> DailyUse:
        """Today's usage, as far as it is written."""
        return self.days[-1]

    @property
    def near(self) -> list[str]:
        """The names of the limits of the day that are nearly reached."""
        shares = {
            "text_bytes_per_day": (self.today.text_bytes, self.effective.text_bytes_per_day),
            "record_bytes_per_day": (self.today.record_bytes, self.effective.record_bytes_per_day),
        }
        return [name for name, (used, limit) in shares.items() if limit and used >= NEAR_SHARE * limit]


def quotas_of(subjects: Sequence[Subject], days: int = DAYS) -> list[Quota]:
    """Return the quotas of the subjects, in their order; two queries."""
    refs = [subject.ref for subject in subjects]
    rows = {(row.subject, row.by_organisation): row for row in QuotaLimit.objects.filter(subject__in=refs)}
    newest = today()
    dates = [newest - datetime.timedelta(days=back) for back in reversed(range(days))]
    used = {(use.subject, use.day): use for use in DailyUse.objects.filter(subject__in=refs, day__gte=dates[0])}
    return [
        _quota(
            subject,
            rows.get((subject.ref, True)),
            rows.get((subject.ref, False)),
            [used.get((subject.ref, day)) or DailyUse(subject=subject.ref, day=day) for day in dates],
        )
        for subject in subjects
    ]


def _quota(subject: Subject, organisation: QuotaLimit | None, own: QuotaLimit | None, days: list[DailyUse]) -> Quota:
    allowed = allowed_limits(default_limits(subject.principal_kind), organisation)
    nothing = dict.fromkeys(LIMIT_NAMES)
    return Quota(
        subject=subject,
        allowed=allowed,
        set_by_organisation=organisation.values() if organisation else nothing,
        set_by_team=own.values() if own else nothing,
        effective=effective_limits(allowed, own),
        days=days,
    )


@transaction.atomic
def limits_set(*, subject: Subject, limits: Mapping[str, int | None], principal: Principal) -> Quota:
    """Set all limits of a subject: for the organisation if the principal is its admin, else for the team. None unsets a
    limit.

    Processes apply them within about a second. Raises Forbidden, and Invalid for a limit above what the organisation
    allows.
    """
    require_limit_setter(principal, subject)
    if not principal.is_admin:
        _require_allowed(quotas_of([subject], days=1)[0].allowed, limits)
    stored = QuotaLimit.objects.filter(subject=subject.ref, by_organisation=principal.is_admin).first()
    after = {name: limits[name] for name in LIMIT_NAMES}
    QuotaLimit.objects.update_or_create(subject=subject.ref, by_organisation=principal.is_admin, defaults=after)
    if detail := changed_values(stored.values() if stored else dict.fromkeys(LIMIT_NAMES), after):
        detail["by_organisation"] = principal.is_admin
        activity_record(
            principal, ActivityAction.LIMITS_SET, subject.name, team_ids=team_ids_of(subject), detail=detail
        )
    return quotas_of([subject])[0]


def require_room_for_texts(principal: Principal, text_bytes: int) -> None:
    """Check that texts of this size are within today's limits of the principal, its agent and its teams.

    Raises TooManyRequests. Two processes that check within the same second do not see each other's texts.
    """
    subjects = subjects_of(principal)
    if not subjects:
        return
    uses.refresh(subjects)
    for subject in subjects:
        limit = uses.limits_of(subject, principal.kind if subject == principal.ref else "").text_bytes_per_day
        stored = uses.stored_today(subject)
        if limit and stored[0] + text_bytes > limit:
            left = max(0, limit - stored[0])
            raise TooManyRequests(
                (
                    f"This request stores {_megabytes(text_bytes)} of text. The limit for "
                    f"{limit_owner_phrase(principal.kind, subject)} is {_megabytes(limit)} per day, of which "
                    f"{_megabytes(left)} are left. Send less at a time. {DAY_LIMIT_ADVICE}"
                ),
                retry_after=DAY_REACHED_SECONDS,
                policies=["text-bytes-per-day"],
                headers=rate_limit_headers(Limits(text_bytes_per_day=limit), SubjectCounts(0, 0, 0), stored),
            )


def texts_count(*, principal: Principal, text_bytes: int) -> None:
    """Count texts of this size towards today's usage of the principal, its agent and its teams."""
    uses.add(subjects_of(principal), text_bytes=text_bytes)


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:,.1f} MB"


def _require_allowed(allowed: Limits, limits: Mapping[str, int | None]) -> None:
    for name in LIMIT_NAMES:
        most, wanted = getattr(allowed, name), limits[name]
        if wanted is None:
            continue
        if wanted == 0 or (most and wanted > most):
            largest = f"the organisation allows {most:,}" if most else "1 is the least"
            raise Invalid(name, f"Use a number from 1, or leave it out; {largest}.", "too_large")
