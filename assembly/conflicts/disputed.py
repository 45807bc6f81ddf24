"""Conflicts of items that other pages show: a memory or a file says that it is disputed."""

from collections.abc import Collection
from uuid import UUID

from assembly.models import Conflict, ConflictKind
from teams.principal import Principal

MAX_SHOWN = 5


def disputed_items(principal: Principal, items: Collection[UUID]) -> dict[UUID, list[Conflict]]:
    """Return the open conflicts of these items that the principal may see, newest first, by item; one query.

    Duplicates are not disputed.
    """
    if not items:
        return {}
    wanted, found = set(items), dict[UUID, list[Conflict]]()
    rows = Conflict.objects.visible_to(principal).about(wanted).waiting().exclude(kind=ConflictKind.DUPLICATE)
    for conflict in rows.order_by("-found", "-id"):
        for item in wanted & {conflict.left_item, conflict.right_item}:
            if len(shown := found.setdefault(item, [])) < MAX_SHOWN:
                shown.append(conflict)
    return found
