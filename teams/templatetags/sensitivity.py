"""This template tag shows the sensitivity of a text, with a link to the page that changes it."""

from typing import Any

from django import template

from teams.sensitivity import Sensitive

register = template.Library()


@register.inclusion_tag("memories/sensitivity/_level.html")
def sensitivity_of(row: Any) -> dict[str, Any]:
    """Return the values of a list entry with the level of a stored text; of a text without levels, nothing is shown."""
    if not isinstance(row, Sensitive):
        return {"row": None}
    return {"row": row, "kind": row.ref.partition(":")[0]}  # type: ignore[attr-defined]
