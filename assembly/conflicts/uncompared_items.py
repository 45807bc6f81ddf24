"""The queue of items that were saved and are to be compared with others.

Services announce what they saved; the receivers here only note the items, by one statement in the same transaction, so
that a write takes no longer. The latest items are taken first: edited ones, then new ones, then all others.
"""

import datetime
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.dispatch import receiver
from django.utils import timezone

from assembly.conflicts.compared_texts import KINDS
from config.db.statements import Statement, fetch_rows, run_statement
from memories.services.announcements import texts_in_reach, texts_saved
from teams.versioned_text.versioned_file import file_saved

BEHIND_EDITS = datetime.timedelta(days=1)
"""New texts are noted as if this long ago: pages of conflicts wait for edited ones, also while texts are imported."""
BEHIND_OTHERS = datetime.timedelta(days=30)
"""All texts, which are compared after an upgrade for example, are noted as if this long ago."""
ITEMS_PER_STATEMENT = 10_000

Item = tuple[str, UUID]
"""The kind and the id of an item."""

# A row that another transaction notes again is locked until its commit, so it stays until its text can be read.
NOTE_SQL = """
INSERT INTO uncompared_items (item, kind, noted)
    SELECT id, %(kind)s, %(noted)s::timestamptz FROM unnest(%(items)s::uuid[]) AS id
    ON CONFLICT (item) DO UPDATE
        SET kind = excluded.kind, noted = greatest(uncompared_items.noted, excluded.noted) RETURNING item
"""
# What was just saved is compared first, not after a whole import. The oldest item keeps the others from starving.
TAKE_SQL = """
WITH newest AS (
    SELECT item FROM uncompared_items ORDER BY noted DESC, item DESC LIMIT %s - 1 FOR UPDATE SKIP LOCKED
), oldest AS (
    SELECT item FROM uncompared_items ORDER BY noted, item LIMIT 1 FOR UPDATE SKIP LOCKED
)
DELETE FROM uncompared_items WHERE item IN (SELECT item FROM newest UNION ALL SELECT item FROM oldest)
RETURNING kind, item, noted
"""


@receiver(texts_saved)
def note_saved_rows(sender: type[Any], rows: Sequence[Any], **_: Any) -> None:
    """Note the saved rows, if texts of their kind are compared."""
    _note(sender, [row.id for row in rows], behind=_behind(rows))


@receiver(texts_in_reach)
def note_rows_in_reach(sender: type[Any], ids: Sequence[UUID], **_: Any) -> None:
    """Note the rows that came into reach, if texts of their kind are compared."""
    _note(sender, ids)


@receiver(file_saved)
def note_saved_text(sender: type[Any], file: Any, **_: Any) -> None:
    """Note a saved file; a new file without text has nothing to compare."""
    _note(sender, [file.id] if file.version > 1 or file.content.strip() else [], behind=_behind([file]))


def _behind(rows: Iterable[Any]) -> datetime.timedelta:
    """Return how far behind edited items the rows are compared."""
    return datetime.timedelta() if all(row.version > 1 for row in rows) else BEHIND_EDITS


def _note(model: type[Any], ids: Sequence[UUID], *, behind: datetime.timedelta = BEHIND_EDITS) -> None:
    if ids and (kind := KINDS.get(model)):
        note_items(kind, ids, timezone.now() - behind)


def note_items(kind: str, ids: Iterable[UUID], noted: datetime.datetime) -> None:
    """Note the items as of this time; one that was noted later keeps its place."""
    run_statement(Statement(NOTE_SQL, {"kind": kind, "items": sorted(ids), "noted": noted}))


def note_all(kind: str, ids: Sequence[UUID]) -> None:
    """Note the items behind all that is saved meanwhile."""
    for first in range(0, len(ids), ITEMS_PER_STATEMENT):
        note_items(kind, ids[first : first + ITEMS_PER_STATEMENT], timezone.now() - BEHIND_OTHERS)


def take_items(most: int) -> list[tuple[str, UUID, datetime.datetime]]:
    """Delete the latest items and the oldest one, and return them with the time as of which they were noted.

    The latest one is followed by the oldest one, then by the others.
    """
    taken = sorted(fetch_rows(TAKE_SQL, [most]), key=lambda row: (row[2], row[1]), reverse=True)
    latest, others = taken[:1], taken[1:]
    return [(kind, item, noted) for kind, item, noted in [*latest, *others[-1:], *others[:-1]]]
