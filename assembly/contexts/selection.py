"""Actions on contexts that were selected in their list: compare two, flag, remove flags, export."""

from collections.abc import Callable, Mapping, Sequence

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from assembly.contexts.exports import list_response
from assembly.models import Assembly
from assembly.records.retention_policies import assemblies_flag, assemblies_unflag
from config.http.errors import Invalid
from config.http.selection import FIELD, chosen_action, redirect_to_list, selected_ids
from teams.access import principal_of


@require_POST
def selection(request: HttpRequest) -> HttpResponseBase:
    """Do the action that the pressed button names with the selected contexts that the user may read."""
    try:
        act, ids = chosen_action(request.POST, ACTIONS), selected_ids(request.POST)
    except Invalid as refused:
        messages.error(request, refused.detail)
        return redirect_to_list(request, "context_list")
    visible = Assembly.objects.visible_to(principal_of(request)).listed()
    return act(request, list(visible.filter(id__in=ids).order_by("-created", "-id")))


def _compare(_request: HttpRequest, found: Sequence[Assembly]) -> HttpResponseBase:
    picked = urlencode([(FIELD, str(context.id)) for context in found])
    return redirect(f"{reverse('context_compare')}?{picked}")


def _flag(request: HttpRequest, found: Sequence[Assembly]) -> HttpResponseBase:
    done = assemblies_flag(assemblies=found, principal=principal_of(request))
    said = ngettext("%(n)s context is flagged.", "%(n)s contexts are flagged.", done) % {"n": done}
    return _told(request, said, len(found) - done)


def _unflag(request: HttpRequest, found: Sequence[Assembly]) -> HttpResponseBase:
    done = assemblies_unflag(assemblies=found, principal=principal_of(request))
    said = ngettext("%(n)s context has no flag now.", "%(n)s contexts have no flag now.", done) % {"n": done}
    return _told(request, said, len(found) - done)


def _told(request: HttpRequest, said: str, refused: int) -> HttpResponseBase:
    """Say what was done, and for how many it was refused; then show the list again."""
    if refused:
        messages.error(request, _("Your role does not allow this for %(n)s of the selected contexts.") % {"n": refused})
    if not said.startswith("0 "):
        messages.success(request, said)
    return redirect_to_list(request, "context_list")


def _export(request: HttpRequest, found: Sequence[Assembly]) -> HttpResponseBase:
    return list_response(found, "csv", principal_of(request))


ACTIONS: Mapping[str, Callable[[HttpRequest, Sequence[Assembly]], HttpResponseBase]] = {
    "compare": _compare,
    "flag": _flag,
    "unflag": _unflag,
    "export": _export,
}
