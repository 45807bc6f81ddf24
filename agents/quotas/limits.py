"""The limits of a subject (`key:…`, `person:…`, `agent:…`, `team:…`) come from settings, the
organisation and its team.
"""

from collections.abc import Mapping
from typing import NamedTuple

from django.conf import settings

from agents.quotas.models import LIMIT_NAMES, QuotaLimit
from teams.principal import Principal


def subjects_of(principal: Principal) -> tuple[str, ...]:
    """Return the subjects whose usage a request of the principal counts towards: itself, its agent and its teams.

    The system counts towards none.
    """
    if principal.kind == "system":
        return ()
    agent = (f"agent:{principal.agent_id}",) if principal.agent_id else ()
    return (principal.ref, *agent, *(f"team:{team}" for team in sorted(principal.team_ids)))


def limit_owner_phrase(kind: str, subject: str) -> str:
    """Return how an error message names the subject of a limit to a caller of this kind."""
    if subject.startswith(("agent:", "team:")):
        return f"this {subject.partition(':')[0]}"
    return {"person": "you", "address": "this address"}.get(kind, "this key")


UNLIMITED = 0
DAY_REACHED_SECONDS = 3_600
"""The value of Retry-After, in seconds, when a limit of the day is reached: before midnight, because an admin may raise
it.
"""
DAY_LIMIT_ADVICE = "The next day begins at midnight UTC; an admin can raise the limit."


class Limits(NamedTuple):
    """The limits of a subject; 0 means no limit."""

    requests_under_way: int = UNLIMITED
    requests_per_minute: int = UNLIMITED
    text_bytes_per_day: int = UNLIMITED
    record_bytes_per_day: int = UNLIMITED

    @property
    def is_unlimited(self) -> bool:
        return not any(self)


NO_LIMITS = Limits()


def default_limits(kind: str) -> Limits:
    """Return the limits in the settings for a kind of principal. Agents and teams have none there."""
    if kind in {"agent_key", "person"}:
        return Limits(
            settings.QUOTA_REQUESTS_UNDER_WAY,
            settings.QUOTA_REQUESTS_PER_MINUTE,
            settings.QUOTA_TEXT_BYTES_PER_DAY,
            settings.QUOTA_RECORD_BYTES_PER_DAY,
        )
    if kind == "admin_key":  # a whole organisation may import with one
        return Limits(settings.QUOTA_REQUESTS_UNDER_WAY)
    return NO_LIMITS


def allowed_limits(default: Limits, organisation: QuotaLimit | None) -> Limits:
    """Return the limits that the organisation allows: those that it set, else the defaults."""
    return Limits(
        *(_value_or_default(getattr(organisation, name, None), getattr(default, name)) for name in LIMIT_NAMES)
    )


def effective_limits(allowed: Limits, own: QuotaLimit | None) -> Limits:
    """Return the limits in effect: the lower ones of what the organisation allows and what the team's admins set."""
    return Limits(*(lower_limit(getattr(allowed, name), getattr(own, name, None)) for name in LIMIT_NAMES))


def lower_limit(allowed: int, own: int | None) -> int:
    """Return the lower of two limits, of which 0 means no limit and None that it is not set."""
    if not own:
        return allowed
    return min(allowed, own) if allowed else own


def limits_from_rows(kind: str, rows: Mapping[bool, QuotaLimit]) -> Limits:
    """Return the limits in effect for a subject with these rows, by whether they are the organisation's."""
    return effective_limits(allowed_limits(default_limits(kind), rows.get(True)), rows.get(False))


def _value_or_default(value: int | None, default: int) -> int:
    return default if value is None else value
