"""A template tag shows the publication guard of a text."""

from typing import Any

from django import template

from assembly.recall_tests.publication import find_guarded_text, has_guard
from config.http.errors import DossierError
from teams.access import principal_of
from teams.principal import Action

register = template.Library()


@register.inclusion_tag("assembly/recall_tests/_guard.html", takes_context=True)
def publication_guard(context: dict[str, Any], about: str) -> dict[str, Any]:
    """Return the values of the form that sets the publication guard of a text; empty for a text that can have none."""
    request = context["request"]
    try:
        find_guarded_text(principal_of(request), about, Action.EDIT)
    except DossierError:
        may_set = False
    else:
        may_set = True
    return {"request": request, "about": about, "guarded": has_guard(about), "may_set": may_set}
