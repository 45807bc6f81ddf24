"""Counting contexts, as they are recorded: a batch at a time, in the transaction that takes them off the queue."""

import datetime
from typing import Any

import orjson
from django.db import connection

from assembly.engine.flat import flat
from assembly.models import Assembly
from assembly.recorded import Recorded
from assembly.trends.tally import MAPS, Key, Tally, key_of, named
from teams.database import ORGANISATION

COUNTING_LOCK = 7_152_001
"""Shared by those who count contexts as they come, held alone by who counts a day anew."""

MEMORY = "memory:"
SUMS = ("contexts", "repeats", "tokens", "budget", "assembly_ms", "considered")
_ADDED = [f"{name} = context_counts.{name} + excluded.{name}" for name in SUMS]
_ADDED += [f"{name} = counts_added(context_counts.{name}, excluded.{name})" for name in MAPS]
_TYPES = [f"{name} bigint" for name in SUMS] + [f"{name} jsonb" for name in MAPS]
_NAMES = ", ".join(("day", "agent_id", "team_id", *SUMS, *MAPS))
_ROW = f"day date, agent_id uuid, team_id uuid, {', '.join(_TYPES)}"

# In one order for everybody, so that two who count at once cannot wait for each other in a circle.
ADD = f"""
INSERT INTO context_counts ({_NAMES})
SELECT {_NAMES} FROM jsonb_to_recordset(%(rows)s::jsonb) AS row ({_ROW}) ORDER BY day, agent_id, team_id
ON CONFLICT (day, agent_id, team_id) DO UPDATE SET {", ".join(_ADDED)}
"""  # noqa: S608 - only the constant names above are put in

TELL = """
INSERT INTO memory_tellings (memory_id, told_on)
SELECT memory_id, told_on FROM jsonb_to_recordset(%(rows)s::jsonb) AS row (memory_id uuid, told_on date)
ORDER BY memory_id
ON CONFLICT (memory_id) DO UPDATE SET told_on = excluded.told_on WHERE memory_tellings.told_on < excluded.told_on
"""


class Counting:
    """What a batch of contexts adds to the counts. They are written at once, when all are in."""

    def __init__(self) -> None:
        self._tallies: dict[Key, Tally] = {}
        self._told_on: dict[str, datetime.date] = {}

    def add(self, assembly: Assembly, told: Recorded) -> None:
        """One more context, with what it holds."""
        key = key_of(assembly)
        for counted in (key, Key(key.day, ORGANISATION, None)):
            self._tallies.setdefault(counted, Tally()).add(assembly, told)
        for decision in told.decisions:
            if decision.included and decision.ref.startswith(MEMORY):
                id_ = named(decision.ref).removeprefix(MEMORY)
                self._told_on[id_] = max(key.day, self._told_on.get(id_, key.day))

    def write(self) -> None:
        """Two statements, however many contexts there were."""
        _write(ADD, [_row(key, tally) for key, tally in self._tallies.items()])
        _write(TELL, [{"memory_id": id_, "told_on": str(day)} for id_, day in self._told_on.items()])


def counting_begin() -> Counting:
    """For contexts that come off the queue: who counts a whole day anew is waited for."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [COUNTING_LOCK])
    return Counting()


def _row(key: Key, tally: Tally) -> dict[str, Any]:
    return {
        "day": str(key.day),
        "agent_id": str(key.agent_id),
        "team_id": str(key.team_id) if key.team_id else None,
        **flat(tally),
    }


def _write(statement: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"rows": orjson.dumps(rows).decode()})
