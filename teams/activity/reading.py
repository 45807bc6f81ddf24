"""This module finds the entries of the activity log that a principal may read, and describes them."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from teams.models import Activity, Team
from teams.principal import Action, Principal


def readable_activities(principal: Principal) -> QuerySet[Activity]:
    """Return the entries that the principal may read: all for admins, else those of the teams that it manages."""
    if principal.is_admin:
        return Activity.objects.all()
    managed = Team.objects.permitting(Action.MANAGE, principal).values_list("id", flat=True)
    return Activity.objects.filter(team_ids__overlap=list(managed))


def detail_phrases(detail: Mapping[str, Any]) -> Iterator[str]:
    """Return each value of an entry's detail as “name: old → new”."""
    before = detail.get("before") or {}
    for name, value in detail.items():
        if name != "before":
            old = f"{_shown(before[name])} → " if before.get(name) is not None else ""
            yield f"{name.replace('_', ' ')}: {old}{_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)
