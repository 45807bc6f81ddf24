"""The level of a stored text is changed here: who may set which level, and the entry in the activity log.

Editors raise a level, up to their own clearance; only admins of the team lower it. `teams.sensitivity` says what the
levels mean.
"""

from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import transaction

from config.http.errors import Forbidden
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.origin import Origin
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, SETTABLE_LEVELS, OwnerKind, Sensitive, Sensitivity, clearances_for
from teams.versioned_text.versioned_file import VersionedFile, lock_row, store_version


def require_level(principal: Principal, row: Any, level: int | None) -> None:
    """Check that the principal may give the row this level, or create it with it; None leaves the level as it is.

    Nobody sets a level above their own clearance. Only admins of a team set a level below that of the text, or below
    internal. Raises Forbidden.
    """
    old = DEFAULT_LEVEL if row._state.adding else row.sensitivity  # noqa: SLF001 - Django's documented name
    if level is None or level == old:
        return
    if Sensitivity.WITHHELD in {level, old}:
        raise Forbidden(
            "Texts about a subject whose data is restricted are withheld, and no others. Nothing was changed. Lift the "
            "restriction on the page of the subject first."
        )
    clearance = clearance_of(principal, row)
    if level > clearance:
        raise Forbidden(
            f"You may read up to {Sensitivity(clearance).word}, so you cannot make this {Sensitivity(level).word}. "
            "Nothing was changed. Ask an admin of the team."
        )
    if level < old and not may_lower(principal, row):
        raise Forbidden("Only an admin of the team may lower the sensitivity of a text. Nothing was changed.")


def clearance_of(principal: Principal, row: Any) -> int:
    """Return the level up to which the principal may read texts of the row's owner."""
    agent, team = _owner_ids(row)
    kind: OwnerKind = "agent" if agent else "team" if team else "organisation"
    return clearances_for(agent=agent, team=team, reader=principal).of(kind)


def may_lower(principal: Principal, row: Any) -> bool:
    """Return whether the principal may lower the row's level: an admin of its team, or of a team of its agent."""
    if principal.is_admin:
        return True
    # A person reads what is restricted as an admin alone; a key, by its scope.
    return principal.kind == "person" and clearance_of(principal, row) >= Sensitivity.RESTRICTED


def offered_levels(principal: Principal, row: Any) -> list[Sensitivity]:
    """Return the levels that the principal may give the row, its own among them."""
    clearance, lowest = clearance_of(principal, row), 0 if may_lower(principal, row) else row.sensitivity
    if row.sensitivity == Sensitivity.WITHHELD:
        return [Sensitivity.WITHHELD]
    return [level for level in SETTABLE_LEVELS if level == row.sensitivity or lowest <= level <= clearance]


def record_level(principal: Principal, row: Any, old: int) -> None:
    """Record in the activity log that the row's level was changed from `old`; nothing if it is the same."""
    if row.sensitivity == old:
        return
    agent, team = _owner_ids(row)
    links: Any = apps.get_model("agents", "AgentTeam")  # by name, because agents are a room above this one
    teams = [team] if team else list(links.objects.filter(agent_id=agent).values_list("team_id", flat=True))
    detail = {"sensitivity": Sensitivity(row.sensitivity).word, "before": {"sensitivity": Sensitivity(old).word}}
    target = row.ref.partition("@")[0]
    activity_record(principal, ActivityAction.SENSITIVITY_CHANGED, target, team_ids=teams, detail=detail)


@transaction.atomic
def level_set(*, row: Any, level: int, principal: Principal, note: str = "") -> Any:
    """Give the row this level, as its next version, and return it as it is stored. The same level creates no version.

    Raises Forbidden as `require_level` does, and NotFound.
    """
    current = lock_row(row)
    old = current.sensitivity
    if level == old:
        return current
    require_level(principal, current, level)
    current.sensitivity = level
    if isinstance(current, VersionedFile):
        store_version(current, principal.author, note, origin=Origin(current.origin))
    else:
        current.version += 1
        current.signed_by(principal.author, rewritten=False)
        current.save(force_update=True)
        if hasattr(current, "as_version"):
            current.as_version(note).save(force_insert=True)
        current.refresh_from_db(fields=["sensitivity"])  # it is at least that of what it belongs to
    record_level(principal, current, old)
    return current


def _owner_ids(row: Sensitive) -> tuple[UUID | None, UUID | None]:
    """Return the ids of the agent and of the team that own the row; neither for the organisation's."""
    return getattr(row, "agent_id", None), getattr(row, "team_id", None)
