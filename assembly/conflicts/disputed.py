"""Conflicts of items that other pages show: a memory or a file says that it is disputed, or that a passage was decided
against.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from assembly.models import Conflict, ConflictKind, ConflictResolution, ConflictStatus
from assembly.models.conflict import ConflictQuerySet
from teams.principal import Principal

MAX_SHOWN = 5


def disputed_items(principal: Principal, items: Collection[UUID]) -> dict[UUID, list[Conflict]]:
    """Return the open conflicts of these items that the principal may see, newest first, by item; one query."""
    wanted, found = set(items), dict[UUID, list[Conflict]]()
    for conflict in _contradictions(principal, wanted).waiting() if wanted else ():
        for item in wanted & {conflict.left_item, conflict.right_item}:
            if len(shown := found.setdefault(item, [])) < MAX_SHOWN:
                shown.append(conflict)
    return found


def notices_of(principal: Principal, item: UUID) -> tuple[list[Conflict], list[Conflict]]:
    """Return the item's open conflicts that the principal may see, and those decided against it, newest first; one
    query.

    Of a memory that does not hold, its own state says so: it is superseded or archived.
    """
    rows = _contradictions(principal, [item])
    lost = Q(left_item=item, resolution=ConflictResolution.RIGHT) & ~Q(left_ref__startswith="memory:")
    lost |= Q(right_item=item, resolution=ConflictResolution.LEFT) & ~Q(right_ref__startswith="memory:")
    waiting = Q(id__in=Conflict.objects.about([item]).waiting().values("id"))
    found = list(rows.filter(waiting | (lost & Q(status=ConflictStatus.RESOLVED)))[: 2 * MAX_SHOWN])
    is_open = [conflict for conflict in found if conflict.is_open]
    return is_open[:MAX_SHOWN], [conflict for conflict in found if not conflict.is_open][:MAX_SHOWN]


def _contradictions(principal: Principal, items: Collection[UUID]) -> ConflictQuerySet:
    """Return the conflicts of the items that the principal may see, newest first, without duplicates."""
    rows = Conflict.objects.visible_to(principal).about(items).exclude(kind=ConflictKind.DUPLICATE)
    return rows.order_by("-found", "-id")
