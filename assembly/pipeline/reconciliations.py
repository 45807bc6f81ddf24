"""The known conflicts of the owners of a context are read together with its sources, and matched with the candidates.

They are read in the same snapshot and the same journey as the rows of the sources, so a context costs no statement
more, and rows that have not changed come from the cache. Only if the owners have very many, those of the candidates are
read afterwards. A profile that does not reconcile does not read them.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from django.db import DatabaseError, transaction
from msgspec import Struct

from agents.models import Agent
from assembly.engine.reconciliation import Reconciliation, Resolution, Span
from assembly.engine.types import Candidate
from assembly.models import text_hash
from assembly.sources.base import GatherContext
from config.db.statements import Rows, Statement, run_statement
from config.keys.sealed_texts import open_text
from teams.models import Team
from teams.sensitivity import Clearances

logger = logging.getLogger(__name__)

MAX_CONFLICTS = 1_000
"""The most conflicts that are read with the sources, the newest first. Of owners with more, those of the candidates are
read when these are known.
"""
MAX_RECONCILIATIONS = 500

COLUMNS = """
id, kind, severity, similarity, cue, resolution, resolver_name, resolved_at,
    left_ref, left_item, encode(left_sha256, 'hex') AS left_sha256, left_statement,
    right_ref, right_item, encode(right_sha256, 'hex') AS right_sha256, right_statement
"""
# Both sides of a pair that a person let stand are included, as if there were no conflict.
TO_RECONCILE = "sensitivity <= %(clearance)s AND status <> 'gone' AND resolution NOT IN ('both', 'edited')"
OWNERS = (
    "agent_id = %(agent)s AND (team_id IS NULL OR team_id = %(team)s)",
    "team_id = %(team)s AND agent_id IS NULL",
    "agent_id IS NULL AND team_id IS NULL",
)
"""Conditions of the conflicts of a context's owners, each of which has its own index."""
CONFLICTS_SQL = f"""
SELECT {COLUMNS} FROM ({
    " UNION ALL ".join(
        f"(SELECT * FROM conflicts WHERE {owner} AND {TO_RECONCILE} ORDER BY found DESC LIMIT {MAX_CONFLICTS})"
        for owner in OWNERS
    )
}) AS known ORDER BY found DESC, id LIMIT {MAX_CONFLICTS}
"""  # noqa: S608 - only the constants above are put in
CONFLICTS_OF_ITEMS_SQL = f"""
SELECT {COLUMNS} FROM conflicts
WHERE left_item = ANY(%(items)s) AND right_item = ANY(%(items)s) AND {TO_RECONCILE} AND ({" OR ".join(OWNERS)})
ORDER BY kind = 'duplicate', found DESC, id LIMIT {MAX_CONFLICTS}
"""  # noqa: S608 - only the constants above are put in


class KnownSide(Struct, frozen=True):
    """One side of a known conflict."""

    ref: str
    item: str
    sha256: str
    statement: str

    def is_of(self, candidate: Candidate) -> bool:
        """Return whether the candidate has the text that was compared, or the statement as a part of its text."""
        return (
            candidate.ref == self.ref
            or (bool(self.statement) and self.statement in candidate.text)
            or text_hash(candidate.text).hex() == self.sha256
        )

    def span_in(self, text: str) -> Span | tuple[()]:
        """Return the place of the statement in the text; empty if it is not there as it was compared."""
        start = text.find(self.statement) if self.statement else -1
        return () if start < 0 else (start, start + len(self.statement))


class KnownConflict(Struct, frozen=True):
    """A conflict that is open or decided, as it was read."""

    id: str
    kind: str
    severity: float
    similarity: float
    cue: str
    resolution: Resolution
    decided_by: str
    decided_at: str
    left: KnownSide
    right: KnownSide

    def between(self, left: Candidate, right: Candidate) -> Reconciliation:
        """Return the conflict as one between these candidates."""
        return Reconciliation(
            id=self.id,
            left=left.ref,
            right=right.ref,
            kind=self.kind,
            severity=self.severity,
            similarity=self.similarity,
            cue=self.cue,
            resolution=self.resolution,
            decided_by=self.decided_by,
            decided_at=self.decided_at,
            left_span=self.left.span_in(left.text),
            right_span=self.right.span_in(right.text),
        )


def conflicts_statement(agent: Agent, team: Team | None, clearances: Clearances) -> Statement:
    """Return the statement that reads the conflicts between texts of the agent, the team and the organisation.

    A conflict is as sensitive as its more sensitive side.
    """
    return Statement(CONFLICTS_SQL, _owner_parameters(agent, team, clearances))


def _owner_parameters(agent: Agent, team: Team | None, clearances: Clearances) -> dict[str, Any]:
    return {"agent": agent.id, "team": team.id if team else None, "clearance": clearances.lowest}


def conflicts_of_candidates(
    known: tuple[KnownConflict, ...], context: GatherContext, candidates: Sequence[Candidate]
) -> tuple[KnownConflict, ...]:
    """Return the known conflicts of the owners; if these have more than were read, those of the candidates are read.

    If that fails, the known ones count, which are the newest.
    """
    if len(known) < MAX_CONFLICTS:
        return known
    items = sorted({id_ for candidate in candidates if (id_ := _item_id(candidate))})
    parameters = _owner_parameters(context.agent, context.team, context.clearances)
    try:
        with transaction.atomic():
            return parse_conflicts(run_statement(Statement(CONFLICTS_OF_ITEMS_SQL, {**parameters, "items": items})))
    except DatabaseError as error:
        logger.warning("the conflicts of the candidates were not read: %s", type(error).__name__)
        return known


def _item_id(candidate: Candidate) -> UUID | None:
    """Return the id of the memory, file, document or entity of the candidate; None for what has none."""
    try:
        return UUID(_item(candidate))
    except ValueError:
        return None


def _item(candidate: Candidate) -> str:
    return candidate.ref.partition("@")[0].rpartition(":")[2]


def parse_conflicts(rows: Rows) -> tuple[KnownConflict, ...]:
    """Return the conflicts from the rows of their statement."""
    return tuple(
        KnownConflict(
            str(id_),
            kind,
            severity,
            similarity,
            open_text(cue),
            cast("Resolution", resolution),
            resolver,
            str(resolved_at) if resolved_at else "",
            _side(*map(str, sides[:4])),
            _side(*map(str, sides[4:])),
        )
        for id_, kind, severity, similarity, cue, resolution, resolver, resolved_at, *sides in rows
    )


def _side(ref: str, item: str, sha256: str, statement: str) -> KnownSide:
    return KnownSide(ref, item, sha256, open_text(statement))


def match_conflicts(conflicts: Sequence[KnownConflict], candidates: Sequence[Candidate]) -> tuple[Reconciliation, ...]:
    """Return the conflicts between the candidates, in a fixed order, at most MAX_RECONCILIATIONS: of more, duplicates
    are left out first.

    A whole file and its passage may both be candidates: then both are in conflict with the other side.
    """
    named = {side.item for conflict in conflicts for side in (conflict.left, conflict.right)}
    by_item: dict[str, dict[str, Candidate]] = {}
    for candidate in candidates:
        if (item := _item(candidate)) in named:
            by_item.setdefault(item, {})[candidate.ref] = candidate
    found = {pair for conflict in conflicts for pair in _pairs(conflict, by_item)}
    contradictions_first = sorted(found, key=lambda one: (one.kind == "duplicate", one.id, one.left, one.right))
    return tuple(sorted(contradictions_first[:MAX_RECONCILIATIONS], key=lambda one: (one.id, one.left, one.right)))


def _pairs(conflict: KnownConflict, by_item: Mapping[str, Mapping[str, Candidate]]) -> Iterator[Reconciliation]:
    left, right = by_item.get(conflict.left.item), by_item.get(conflict.right.item)
    if not left or not right:
        return
    others = [other for other in right.values() if conflict.right.is_of(other)]
    for one in left.values():
        if others and conflict.left.is_of(one):
            yield from (conflict.between(one, other) for other in others)
