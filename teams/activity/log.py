"""This module writes the activity log, in the transaction of the act."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from config.db.migration_helpers import ORGANISATION
from config.http.client_address import client_address
from config.observability.request_context import CURRENT_REQUEST
from teams.activity.models import MAX_ACTIVITY_REASON_CHARACTERS, Activity, ActivityAction
from teams.principal import Principal
from teams.sealing.fields import must_be_sealed

MAX_TARGET_CHARACTERS, MAX_NAME_CHARACTERS, MAX_ADDRESS_CHARACTERS = 200, 120, 45
SYSTEM_NAME = "Dossier"


def activity_record(
    principal: Principal,
    action: ActivityAction,
    target: str,
    *,
    team_ids: Iterable[UUID | None] = (),
    detail: Mapping[str, Any] | None = None,
    of: Any = None,
    reason: str = "",
) -> Activity:
    """Record that the principal did this, from the address of the current request. The values in `detail` must be JSON;
    `reason` is what the principal was asked to give. `of` is the row that has a level of its own and is named by the
    target or the detail; if it is above internal, both are sealed.

    Admins of each team of `team_ids` will read the entry, and it stays for years: it must have no secret, no URL
    (they may have tokens), and no name of another team. None among the ids is the organisation.
    """
    activity = Activity(
        actor=principal.ref,
        actor_name=(principal.name or SYSTEM_NAME)[:MAX_NAME_CHARACTERS],
        action=action,
        target=target[:MAX_TARGET_CHARACTERS],
        team_ids=sorted(id_ for id_ in team_ids if id_),
        detail=dict(detail or {}),
        about=getattr(of, "about", ""),
        address=_address(),
        reason=reason[:MAX_ACTIVITY_REASON_CHARACTERS],
    )
    activity.sealed_for = ORGANISATION if must_be_sealed(of) else None
    activity.save(force_insert=True)
    return activity


def export_record(
    principal: Principal, file_name: str, *, rows: int | None = None, team_ids: Iterable[UUID | None] = ()
) -> None:
    """Record that the principal takes out a file with so many rows; None if it has none, such as the text of a context.

    Every response that is downloaded as a file calls this, or writes another entry: the walks of `tests.rights` see to
    it.
    """
    detail = {} if rows is None else {"rows": rows}
    activity_record(principal, ActivityAction.EXPORT_DOWNLOADED, file_name, team_ids=team_ids, detail=detail)


def _address() -> str:
    """Return the IP address of the client of the current request; empty in jobs and commands."""
    request = CURRENT_REQUEST.get()
    return client_address(request)[:MAX_ADDRESS_CHARACTERS] if request else ""


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `after` that differ, with the old ones under `before`; empty if nothing differs."""
    new = {name: value for name, value in after.items() if before[name] != value}
    return {**new, "before": {name: before[name] for name in new}} if new else {}
