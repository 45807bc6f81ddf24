"""This module writes the activity log, in the transaction of the act."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from teams.activity.models import Activity, ActivityAction
from teams.principal import Principal

MAX_TARGET_CHARACTERS, MAX_NAME_CHARACTERS = 200, 120
SYSTEM_NAME = "Dossier"


def activity_record(
    principal: Principal,
    action: ActivityAction,
    target: str,
    *,
    team_id: UUID | None = None,
    detail: Mapping[str, Any] | None = None,
) -> Activity:
    """Record that the principal did this. The values in `detail` must be JSON; no secret belongs there."""
    return Activity.objects.create(
        actor=principal.ref,
        actor_name=(principal.name or SYSTEM_NAME)[:MAX_NAME_CHARACTERS],
        action=action,
        target=target[:MAX_TARGET_CHARACTERS],
        team_id=team_id,
        detail=dict(detail or {}),
    )


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `after` that differ, with the old ones under `before`; empty if nothing differs."""
    new = {name: value for name, value in after.items() if before[name] != value}
    return {**new, "before": {name: before[name] for name in new}} if new else {}
