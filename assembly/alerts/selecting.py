"""Which alerts a list shows."""

from typing import Literal, get_args
from uuid import UUID

from assembly.models.alert import AlertQuerySet

State = Literal["waiting", "open", "closed", "settled", "all"]
"""waiting: still so, and settled by nobody; open: still so; closed: so no more."""
STATES: tuple[State, ...] = get_args(State)


def alerts_selected(
    rows: AlertQuerySet, *, state: State = "waiting", agent_id: UUID | None = None, team_id: UUID | None = None
) -> AlertQuerySet:
    """Those of an agent and of a team, if they are named, in that state."""
    rows = rows.filter(agent_id=agent_id) if agent_id else rows
    rows = rows.filter(team_id=team_id) if team_id else rows
    if state == "waiting":
        return rows.waiting()
    if state == "settled":
        return rows.exclude(settled=None)
    if state == "all":
        return rows
    return rows.filter(closed=None) if state == "open" else rows.exclude(closed=None)
