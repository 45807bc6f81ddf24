"""This module writes the activity log, in the transaction of the act."""

from collections.abc import Iterable, Mapping
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
    team_ids: Iterable[UUID | None] = (),
    detail: Mapping[str, Any] | None = None,
) -> Activity:
    """Record that the principal did this. The values in `detail` must be JSON.

    Admins of each team of `team_ids` will read the entry, and it can never be deleted: it must have no secret, no URL
    (they may have tokens), and no name of another team. None among the ids is the organisation.
    """
    return Activity.objects.create(
        actor=principal.ref,
        actor_name=(principal.name or SYSTEM_NAME)[:MAX_NAME_CHARACTERS],
        action=action,
        target=target[:MAX_TARGET_CHARACTERS],
        team_ids=sorted(id_ for id_ in team_ids if id_),
        detail=dict(detail or {}),
    )


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `after` that differ, with the old ones under `before`; empty if nothing differs."""
    new = {name: value for name, value in after.items() if before[name] != value}
    return {**new, "before": {name: before[name] for name in new}} if new else {}
