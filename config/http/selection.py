"""The rows that a person selected in a list, for an action on all of them."""

from collections.abc import Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from config.http.errors import Invalid

FIELD = "pick"
Action = TypeVar("Action")
MAX_SELECTED = 100
"""A page of a list has no more rows."""


def parse_ids(values: Sequence[str]) -> list[UUID]:
    """Return the valid UUIDs among the values, without duplicates, in order."""
    found = []
    for value in values:
        try:
            found.append(UUID(value))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def chosen_action(data: QueryDict, actions: Mapping[str, Action]) -> Action:
    """Return the action that the pressed button names. Raises Invalid for an unknown one."""
    try:
        return actions[data.get("action", "")]
    except KeyError:
        raise Invalid("action", _("Choose what to do with the selected rows.")) from None


def redirect_to_list(request: HttpRequest, name: str, *args: str) -> HttpResponseRedirect:
    """Redirect to the list, with the filters that the form of its selection has in its own address."""
    filters = request.GET.urlencode()
    address = reverse(name, args=args)
    return redirect(f"{address}?{filters}" if filters else address)


def selected_ids(data: QueryDict) -> list[UUID]:
    """Return the ids of the selected rows. Raises Invalid for none, and for more than 100."""
    ids = parse_ids(data.getlist(FIELD)[: MAX_SELECTED + 1])
    if not ids:
        raise Invalid(FIELD, _("Select at least one row."))
    if len(ids) > MAX_SELECTED:
        raise Invalid(FIELD, _("Select at most %(most)s rows at a time.") % {"most": MAX_SELECTED})
    return ids
