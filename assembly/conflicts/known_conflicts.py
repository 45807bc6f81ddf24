"""Known conflicts of an item are closed where its texts, as they are now, are no conflict.

A conflict is gone when a side has another text, or when a later comparison no longer finds it: by other cues, another
language model, or other settings. Only a conflict on which nobody has ever decided is closed for the second reason. It
is kept, and opens again when it is found again.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from uuid import UUID

import numpy as np
from django.db import transaction

from assembly.conflicts.compared_texts import ComparedText, text_at
from assembly.models import Conflict, ConflictResolution, ConflictSide, ConflictStatus, GoneReason
from assembly.monitoring.alerts.conflict_alerts import conflict_alerts_close
from assembly.monitoring.alerts.watch import alerts_lock

TextPair = frozenset[tuple[UUID, bytes]]
"""Two texts in no order, each by the id of its item and its SHA-256."""


def pair_of(one: ComparedText | ConflictSide, other: ComparedText | ConflictSide) -> TextPair:
    """Return the pair of both texts."""
    return frozenset(((one.item, one.sha256), (other.item, other.sha256)))


def undecided_conflicts(id_: UUID) -> dict[TextPair, Conflict]:
    """Return the item's open conflicts and duplicates on which nobody has ever decided, by their texts."""
    rows = Conflict.objects.about([id_]).filter(status=ConflictStatus.OPEN, decisions=None)
    return {pair_of(*conflict.sides): conflict for conflict in rows}


def disputed_texts(
    text: ComparedText, conflicts: Mapping[TextPair, Conflict], near: Collection[ComparedText]
) -> list[ComparedText]:
    """Return the other sides of the text's conflicts that are not among the near ones, with their cosines now.

    Since a conflict was found, so many texts may have become nearer that the search finds its other side no more. Sides
    whose item has another text now, is archived, or has no vector are left out.
    """
    known = {pair_of(text, other) for other in near}
    found: list[ComparedText] = []
    for pair, conflict in conflicts.items():
        if text.vector is None or (text.item, text.sha256) not in pair or pair in known:
            continue
        other = next(side for side in conflict.sides if side.item != text.item)
        found += side_texts(text, other)
    return found


def side_texts(text: ComparedText, side: ConflictSide) -> list[ComparedText]:
    """Return the side's text with its cosine to this text: one, or none if it is another now or has no vector."""
    current = text_at(side.ref)
    if current is None or current.sha256 != side.sha256 or current.vector is None or text.vector is None:
        return []
    return [replace(current, vector=None, similarity=_cosine(text.vector, current.vector))]


def _cosine(one: str, other: str) -> float:
    """Return the cosine, 0 to 1, of two vectors as PostgreSQL writes them."""
    left, right = np.array(json.loads(one)), np.array(json.loads(other))
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return min(1.0, max(0.0, float(left @ right) / norms)) if norms else 0.0


@transaction.atomic
def close_outdated(id_: UUID, current: Mapping[bytes, str]) -> list[Conflict]:
    """Close the item's conflicts with texts that it no longer has, and return them.

    `current` has the refs of all texts that it has, by their SHA-256. Conflicts with these are named by these refs.
    """
    closed: list[Conflict] = []
    # After an edit on its page, a conflict stays decided, with who edited and when, so that it can be undone.
    rows = Conflict.objects.about([id_]).exclude(status=ConflictStatus.GONE)
    rows = rows.exclude(resolution=ConflictResolution.EDITED).order_by("id")
    if not rows.exists():
        return []
    alerts_lock()
    for conflict in rows.select_for_update(no_key=True):
        is_left = conflict.left_item == id_
        side = conflict.sides[0 if is_left else 1]
        ref = current.get(side.sha256)
        if ref is None and side.kind == "memory" and not current:
            continue  # an archived memory still has its text, and may be restored
        if ref is None:
            _close(conflict, GoneReason.TEXT_CHANGED)
            closed.append(conflict)
        elif ref != side.ref:
            setattr(conflict, "left_ref" if is_left else "right_ref", ref)
            conflict.save(update_fields=["left_ref", "right_ref"])
    return closed


@transaction.atomic
def close_unfound(conflicts: Iterable[Conflict]) -> list[Conflict]:
    """Close the conflicts, which a comparison did not find again, and return those that were closed.

    Those on which somebody has decided meanwhile stay.
    """
    ids = [conflict.id for conflict in conflicts]
    if not ids:
        return []
    alerts_lock()
    closed: list[Conflict] = []
    rows = Conflict.objects.filter(id__in=ids, status=ConflictStatus.OPEN).order_by("id")
    for conflict in rows.select_for_update(no_key=True):
        if not conflict.decisions.exists():
            _close(conflict, GoneReason.NOT_FOUND)
            closed.append(conflict)
    return closed


def _close(conflict: Conflict, because: GoneReason) -> None:
    conflict.close(because)
    conflict.save(update_fields=["status", "gone_because", "closed"])
    conflict_alerts_close(conflict)
