"""All keys of the organisation, for its admins: agents' and admins', who made them, what they reach; new admin keys."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from agents.key_forms import AdminKeyForm, KeyFilterForm
from agents.key_grants import teams_reached
from agents.keys import api_key_create, api_key_revoke
from agents.models import ApiKey
from teams.access import require_admin
from teams.views.asking import asking

PER_PAGE = 50


@never_cache  # it may show a key
def key_list(request: HttpRequest) -> HttpResponse:
    """Every key, newest first; makes admins' keys, each shown once."""
    principal = asking(request)
    require_admin(principal)
    form = AdminKeyForm(request.POST or None)
    made, secret = None, ""
    if request.method == "POST" and form.is_valid():
        made, secret = api_key_create(agent=None, **form.facts(), principal=principal)
        form = AdminKeyForm()
    filters, now = KeyFilterForm(request.GET or None), timezone.now()
    keys = filters.narrowed(ApiKey.objects.select_related("agent"), now).order_by("-created", "-id")
    page = Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
    found, labels = list(page.object_list), dict(ApiKey.Scope.choices)
    reached = teams_reached(found)
    rows = [
        {
            "key": key,
            "teams": reached[key.id],
            "scopes": [labels[scope] for scope in key.scopes],
            "is_usable": key.is_usable(now),
        }
        for key in found
    ]
    context = {"page": page, "rows": rows, "filters": filters, "form": form, "made": made, "secret": secret}
    return render(request, "agents/key_list.html", context, status=422 if form.errors else 200)


def key_revoke(request: HttpRequest, key_id: UUID) -> HttpResponse:
    """Asks whether a key, of whomever, shall be of no use any more, and revokes it."""
    principal = asking(request)
    require_admin(principal)
    key = get_object_or_404(ApiKey.objects.select_related("agent"), pk=key_id)
    if request.method == "POST":
        api_key_revoke(key=key, principal=principal)
        messages.success(request, _("The key %(name)s is of no use any more.") % {"name": key})
        return redirect("key_list")
    return render(request, "agents/key_revoke.html", {"agent": None, "key": key})
