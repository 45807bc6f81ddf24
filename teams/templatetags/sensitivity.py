"""These template tags show the sensitivity of a text, with links to the page that changes it and to who read it."""

from collections.abc import Mapping
from typing import Any

from django import template

from teams.level_changes import may_lower
from teams.sensitivity import DEFAULT_LEVEL, Sensitive

register = template.Library()


@register.inclusion_tag("memories/sensitivity/_level.html", takes_context=True)
def sensitivity_of(context: Mapping[str, Any], row: Any) -> dict[str, Any]:
    """Return the values of list entries with the level of a stored text, and for admins with a link to who read it; of
    a text without levels, nothing is shown.
    """
    if not isinstance(row, Sensitive):
        return {"row": None}
    kind = row.ref.partition(":")[0]  # type: ignore[attr-defined]
    watched = sees_readings_of(context, row)
    return {"row": row, "kind": kind, "is_watched": watched, "request": context.get("request")}


@register.simple_tag(takes_context=True)
def sees_readings_of(context: Mapping[str, Any], row: Sensitive) -> bool:
    """Return whether readings of the row are recorded, and the person who looks at the page may read who read it."""
    user = context["request"].user if "request" in context else None
    return row.sensitivity > DEFAULT_LEVEL and user is not None and may_lower(user.principal, row)
