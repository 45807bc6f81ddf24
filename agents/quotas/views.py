"""The pages of limits and uses: a list of all that a person may set, and one for each."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.quotas.access import Subject, managed_subjects, may_set, own_subjects, require_limit_setter
from agents.quotas.forms import LimitsForm
from agents.quotas.limits import Limits
from agents.quotas.models import LIMIT_NAMES, DailyUse
from agents.quotas.services import Quota, limits_set, quotas_of
from agents.quotas.use_chart import bars_of
from config.http.errors import Invalid
from teams.principal import Principal
from teams.views.asking import asking

PER_PAGE = 50
LABELS = {
    "requests_under_way": gettext_lazy("Requests at once"),
    "requests_per_minute": gettext_lazy("Requests per minute"),
    "text_bytes_per_day": gettext_lazy("Texts per day"),
    "record_bytes_per_day": gettext_lazy("Records of contexts per day"),
}


def limits_list(request: HttpRequest) -> HttpResponse:
    """Everybody whose limits the person may set, and the person."""
    principal = asking(request)
    own = own_subjects(principal)
    managed = [subject for subject in managed_subjects(principal) if subject not in own]
    page = Paginator(managed, PER_PAGE).get_page(request.GET.get("page"))
    context = {"own": quotas_of(own), "page": page, "managed": quotas_of(list(page.object_list))}
    return render(request, "agents/limits_list.html", context)


def limits_page(request: HttpRequest, find: Callable[..., Subject], **where: Any) -> HttpResponse:
    """Limits and uses of one key, person, agent or team; sets the limits."""
    principal = asking(request)
    quota = quotas_of([find(principal, **where)])[0]
    form = _form(request, principal, quota)
    if request.method == "POST":
        require_limit_setter(principal, quota.subject)
        if form and form.is_valid() and _is_set(form, principal, quota):
            messages.success(request, _("Saved. The limits hold within a few seconds."))
            return redirect(request.path)
    context = {
        "quota": quota,
        "form": form,
        "limits": _shown(quota.effective, quota.today),
        "near": [LABELS[name] for name in quota.near],
        "bars": bars_of(quota.days),
        "most": max(day.requests + day.refused for day in quota.days),
    }
    return render(request, "agents/limits_page.html", context, status=422 if form and form.errors else 200)


def _form(request: HttpRequest, principal: Principal, quota: Quota) -> LimitsForm | None:
    """None for whoever may see the limits and not set them."""
    if not may_set(principal, quota.subject):
        return None
    own = quota.set_by_organisation if principal.is_admin else quota.set_by_team
    form = LimitsForm.showing(request.POST or None, own)
    for name, field in form.fields.items():
        field.help_text = _help(name, quota, by_organisation=principal.is_admin)
    return form


def _help(name: str, quota: Quota, *, by_organisation: bool) -> str:
    if by_organisation:
        return _("Empty: the default of the installation. 0: no limit.")
    allowed = getattr(quota.allowed, name)
    if not allowed:
        return _("Empty: no limit. The organisation sets none.")
    return _("Empty: what the organisation allows, %(allowed)s.") % {"allowed": _amount(name, allowed)}


def _is_set(form: LimitsForm, principal: Principal, quota: Quota) -> bool:
    try:
        limits_set(subject=quota.subject, limits=form.limits(), principal=principal)
    except Invalid as error:
        for name in error.extra["errors"]:
            form.add_error(name, _("Use a number from 1 to what the organisation allows, or leave it empty."))
        return False
    return True


def _shown(limits: Limits, today: DailyUse) -> list[dict[str, Any]]:
    """Each limit in words, with what is used of it today where it is one of the day."""
    used = {"text_bytes_per_day": today.text_bytes, "record_bytes_per_day": today.record_bytes}
    return [
        {
            "label": LABELS[name],
            "limit": _amount(name, getattr(limits, name)) if getattr(limits, name) else _("no limit"),
            "used": _amount(name, used[name]) if name in used else "",
        }
        for name in LIMIT_NAMES
    ]


def _amount(name: str, value: int) -> str:
    return f"{value / 1_000_000:,.1f} MB" if "bytes" in name else f"{value:,}"
