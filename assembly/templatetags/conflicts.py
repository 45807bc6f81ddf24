"""Template tags say of memories, files, contexts and other items that they are disputed."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django import template

from assembly.conflicts.disputed import disputed_items, notices_of
from assembly.models import Conflict
from teams.access import principal_of

register = template.Library()
MAX_FLAGGED = 10
"""The most conflicts that the page of a context shows."""


@register.inclusion_tag("assembly/conflicts/_disputed.html", takes_context=True)
def disputed_notice(context: dict[str, Any], item: Any) -> dict[str, Any]:
    """Return the values for the notices on an item's page: its open conflicts, and those decided against it."""
    disputed, lost = notices_of(principal_of(context["request"]), item.pk)
    return {"conflicts": disputed, "lost": lost}


@register.inclusion_tag("assembly/conflicts/_flagged.html", takes_context=True)
def flagged_notice(context: dict[str, Any], ids: Collection[str]) -> dict[str, Any]:
    """Return the conflicts with these ids that the person may see, as they are now; one query, if there are any."""
    rows = Conflict.objects.visible_to(principal_of(context["request"])).filter(id__in=ids) if ids else ()
    return {"conflicts": list(rows[:MAX_FLAGGED])}


@register.simple_tag(takes_context=True)
def disputed_rows(context: dict[str, Any], rows: Iterable[Any]) -> dict[UUID, list[Conflict]]:
    """Return the open conflicts of the rows of a list, by row; one query."""
    return disputed_items(principal_of(context["request"]), [row.pk for row in rows])


@register.filter
def conflict_of(disputed: Mapping[UUID, list[Conflict]], item: Any) -> Conflict | None:
    """Return the newest of the item's open conflicts, if there is one."""
    return next(iter(disputed.get(item.pk, [])), None)
