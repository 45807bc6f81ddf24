"""The pages of limits and usage: a list of subjects, and a subject with its chart and the form of its limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _

from agents.quotas.access import Subject, managed_subjects, may_set, own_subjects, require_limit_setter
from agents.quotas.limits import Limits
from agents.quotas.models import LIMIT_NAMES, DailyUse
from agents.quotas.services import Quota, limits_set, quotas_of
from config.http.errors import Invalid
from teams.access import principal_of
from teams.principal import Principal

MEGABYTE = 1_000_000
MAX_LIMIT = 10**9
BYTES = ("text_bytes_per_day", "record_bytes_per_day")


class LimitsForm(forms.Form):
    """The form of the four limits; an empty field means that a limit is not set."""

    requests_under_way = forms.IntegerField(
        label=_("Concurrent requests"), required=False, min_value=0, max_value=MAX_LIMIT
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"), required=False, min_value=0, max_value=MAX_LIMIT
    )
    text_bytes_per_day = forms.IntegerField(
        label=_("Text per day in megabytes"), required=False, min_value=0, max_value=MAX_LIMIT
    )
    record_bytes_per_day = forms.IntegerField(
        label=_("Records of contexts per day in megabytes"), required=False, min_value=0, max_value=MAX_LIMIT
    )

    @classmethod
    def showing(cls, data: Any, limits: Mapping[str, int | None]) -> "LimitsForm":
        """Return a form with the current limits."""
        return cls(data, initial={name: in_megabytes(name, limit) for name, limit in limits.items()})

    def limits(self) -> dict[str, int | None]:
        """Return the entered limits, in bytes."""
        entered: dict[str, int | None] = self.cleaned_data
        return {name: value * MEGABYTE if value and name in BYTES else value for name, value in entered.items()}


def in_megabytes(name: str, limit: int | None) -> int | None:
    """Return a limit in megabytes; a limit below one megabyte becomes one, because 0 means no limit."""
    return max(1, round(limit / MEGABYTE)) if limit and name in BYTES else limit


WIDTH, HEIGHT = 1000.0, 200.0
GAP = 0.18
"""The share of a day's width that is free next to its bar."""


@dataclass(frozen=True, slots=True)
class UseBar:
    """A day in the chart: admitted requests at the bottom, rejected ones above them."""

    use: DailyUse
    x: float
    width: float
    y: float
    height: float
    refused_y: float
    refused_height: float


def use_bars(days: Sequence[DailyUse]) -> list[UseBar]:
    """Return a bar for each day; the highest has full height. Returns none without any usage."""
    most = max(day.requests + day.refused for day in days)
    if not most:
        return []
    room = WIDTH / len(days)
    return [_use_bar(day, place * room, room * (1 - GAP), HEIGHT / most) for place, day in enumerate(days)]


def _use_bar(use: DailyUse, x: float, width: float, scale: float) -> UseBar:
    let_in, refused = round(use.requests * scale, 2), round(use.refused * scale, 2)
    y = HEIGHT - let_in
    return UseBar(use, round(x, 2), round(width, 2), y, let_in, y - refused, refused)


PER_PAGE = 50
LABELS = {
    "requests_under_way": gettext_lazy("Concurrent requests"),
    "requests_per_minute": gettext_lazy("Requests per minute"),
    "text_bytes_per_day": gettext_lazy("Text per day"),
    "record_bytes_per_day": gettext_lazy("Records of contexts per day"),
}


def limits_list(request: HttpRequest) -> HttpResponse:
    """Show all subjects whose limits the person may set, and the person."""
    principal = principal_of(request)
    own = own_subjects(principal)
    managed = [subject for subject in managed_subjects(principal) if subject not in own]
    page = Paginator(managed, PER_PAGE).get_page(request.GET.get("page"))
    context = {"own": quotas_of(own), "page": page, "managed": quotas_of(list(page.object_list))}
    return render(request, "agents/quotas/limits_list.html", context)


def limits_page(request: HttpRequest, find: Callable[..., Subject], **where: Any) -> HttpResponse:
    """Show and set the limits of a key, person, agent or team, with its usage."""
    principal = principal_of(request)
    quota = quotas_of([find(principal, **where)])[0]
    form = _form(request, principal, quota)
    if request.method == "POST":
        require_limit_setter(principal, quota.subject)
        if form and form.is_valid() and _save_limits(form, principal, quota):
            messages.success(request, gettext("Saved. The limits apply within a few seconds."))
            return redirect(request.path)
    context = {
        "quota": quota,
        "form": form,
        "limits": _limit_rows(quota.effective, quota.today),
        "near": [LABELS[name] for name in quota.near],
        "bars": use_bars(quota.days),
        "most": max(day.requests + day.refused for day in quota.days),
    }
    return render(request, "agents/quotas/limits.html", context, status=422 if form and form.errors else 200)


def _form(request: HttpRequest, principal: Principal, quota: Quota) -> LimitsForm | None:
    """Return the form of the limits; None for a person who may see but not set them."""
    if not may_set(principal, quota.subject):
        return None
    own = quota.set_by_organisation if principal.is_admin else quota.set_by_team
    form = LimitsForm.showing(request.POST or None, own)
    for name, field in form.fields.items():
        field.help_text = _help_text(name, quota, by_organisation=principal.is_admin)
    return form


def _help_text(name: str, quota: Quota, *, by_organisation: bool) -> str:
    if by_organisation:
        return gettext("Empty: the default of the installation. 0: no limit.")
    allowed = getattr(quota.allowed, name)
    if not allowed:
        return gettext("Empty: no limit (default of the organisation).")
    return gettext("Empty: limit of the organisation, %(allowed)s.") % {"allowed": _amount(name, allowed)}


def _save_limits(form: LimitsForm, principal: Principal, quota: Quota) -> bool:
    try:
        limits_set(subject=quota.subject, limits=form.limits(), principal=principal)
    except Invalid as error:
        for name in error.extra["errors"]:
            form.add_error(name, gettext("Enter a number from 1 to the limit of the organisation, or leave it empty."))
        return False
    return True


def _limit_rows(limits: Limits, today: DailyUse) -> list[dict[str, Any]]:
    """Return each limit in words, with today's usage if it is a limit of the day."""
    used = {"text_bytes_per_day": today.text_bytes, "record_bytes_per_day": today.record_bytes}
    return [
        {
            "label": LABELS[name],
            "limit": _amount(name, getattr(limits, name)) if getattr(limits, name) else gettext("no limit"),
            "used": _amount(name, used[name]) if name in used else "",
        }
        for name in LIMIT_NAMES
    ]


def _amount(name: str, value: int) -> str:
    return f"{value / 1_000_000:,.1f} MB" if "bytes" in name else f"{value:,}"
