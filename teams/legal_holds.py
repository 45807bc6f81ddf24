"""Whether a legal hold forbids that something is deleted.

Holds are set in `privacy`, a room above this one, so they are read by SQL.
"""

import datetime
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.apps import apps
from django.db.models import UUIDField

from config.db.statements import fetch_rows
from config.http.errors import DossierError

HOLD_SQL = """
SELECT hold.id, hold.created, hold.reason FROM legal_holds AS hold, {table} AS doomed
WHERE doomed.id = %(id)s AND hold.lifted_at IS NULL AND CASE hold.kind
    WHEN 'agent' THEN hold.target = {agent}
    WHEN 'team' THEN hold.target = {team}
    ELSE hold.target = doomed.id OR EXISTS (
        SELECT FROM subject_mentions AS mention
        WHERE mention.subject_id = hold.target AND mention.status <> 'dismissed' AND mention.{named} = doomed.id
    ) END
ORDER BY hold.created LIMIT 1
"""
OWNING = {"agents": "agent_id", "teams": "team_id"}
"""The columns in which mentions of subjects name the rows of these tables; those of others are in `thing`."""


@dataclass(frozen=True, slots=True)
class HoldInForce:
    """A legal hold that was not lifted: since when, and why."""

    id: UUID
    created: datetime.datetime
    reason: str


class HeldByLaw(DossierError):
    """A legal hold forbids the erasure or deletion (409)."""

    status = 409
    code = "legal_hold"
    title = "A legal hold forbids this"

    def __init__(self, hold: HoldInForce, what: str = "deletion") -> None:
        super().__init__(
            f"A legal hold of {hold.created:%Y-%m-%d} forbids the {what}: {hold.reason} Nothing was changed. An admin "
            "of the organisation can lift the hold.",
            hold=str(hold.id),
        )


def hold_on(table: str, id_: UUID) -> HoldInForce | None:
    """Return a hold that forbids to delete the row of this table, None without one; one query.

    It is a hold on the row itself, on the agent or the team that owns it, or on a subject that it mentions. An agent or
    a team mentions a subject if something does that it owns.
    """
    statement = _hold_sql(table)
    for row in fetch_rows(statement, {"id": id_}) if statement else ():
        return HoldInForce(*row)
    return None


def require_not_held(table: str, id_: UUID) -> None:
    """Check that no legal hold forbids to delete the row of this table. Raises HeldByLaw."""
    if hold := hold_on(table, id_):
        raise HeldByLaw(hold)


def has_holds() -> bool:
    """Return whether there is any legal hold in force."""
    ((has,),) = fetch_rows("SELECT EXISTS (SELECT FROM legal_holds WHERE lifted_at IS NULL)")
    return bool(has)


@lru_cache
def _hold_sql(table: str) -> str:
    """Return the statement for a table of a model; empty for any other name, and where ids are numbers."""
    tables = {model._meta.db_table: model for model in apps.get_models()}  # noqa: SLF001 - Django's documented name
    if table not in tables or not isinstance(tables[table]._meta.pk, UUIDField):  # noqa: SLF001
        return ""
    columns = {field.column for field in tables[table]._meta.concrete_fields}  # noqa: SLF001
    agent, team = ("doomed." + name if name in columns else "NULL" for name in ("agent_id", "team_id"))
    return HOLD_SQL.format(
        table=table,
        agent="doomed.id" if table == "agents" else agent,
        team="doomed.id" if table == "teams" else team,
        named=OWNING.get(table, "thing"),
    )
