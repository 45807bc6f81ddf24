"""The page of the activity log, with its filters, and the log as CSV."""

import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.http.cursors import next_page_url, page_of
from config.http.filter_chips import filter_chips
from config.http.late_reads import may_be_late
from teams.access import principal_of
from teams.activity.log_files import log_file
from teams.activity.models import ActivityAction
from teams.activity.reading import detail_phrases, readable_activities
from teams.forms import validate_storable
from teams.models import Activity

CSV_COLUMNS = ("created_at", "actor", "actor_name", "action", "target", "detail", "address", "reason")
DAYS = {"7": 7, "30": 30, "90": 90}


class ActivityFilterForm(forms.Form):
    """The filters of the activity log."""

    q = forms.CharField(
        label=_("Person, target or address"), required=False, max_length=120, validators=[validate_storable], strip=True
    )
    action = forms.ChoiceField(
        label=_("Action"), required=False, choices=[("", _("All actions")), *ActivityAction.choices]
    )
    days = forms.ChoiceField(
        label=_("Time"),
        required=False,
        choices=[("", _("Any time")), *((key, _("The last %(n)s days") % {"n": key}) for key in DAYS)],
    )

    def apply(self, found: QuerySet[Activity]) -> QuerySet[Activity]:
        """Return the entries that match the valid filters."""
        asked = self.cleaned_data
        if words := asked["q"]:
            named = found.filter(actor_name__icontains=words) | found.filter(target__icontains=words)
            found = named | found.filter(address=words)
        if asked["action"]:
            found = found.filter(action=asked["action"])
        if asked["days"]:
            found = found.filter(created__gte=timezone.now() - datetime.timedelta(days=DAYS[asked["days"]]))
        return found


@may_be_late
def activity_log(request: HttpRequest) -> HttpResponse:
    """Show the administrative acts that the person may read of, newest first."""
    form, found = _filtered(request)
    shown, cursor = page_of(found, request.GET)
    facts: dict[str, Any] = {
        "form": form,
        "chips": filter_chips(request, form),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": [(activity, list(detail_phrases(activity.detail))) for activity in shown],
        "next": next_page_url(request.path, request.GET.dict(), cursor),
        "days": settings.ACTIVITIES_DAYS,
    }
    return render(request, "teams/activity/log.html", facts, status=200 if form.is_valid() else 422)


def activity_csv(request: HttpRequest) -> HttpResponse:
    """Return the newest acts that match the filters as CSV; that somebody did is an act, too."""
    _form, found = _filtered(request)
    return log_file(request, found, "activity.csv", CSV_COLUMNS, _csv_row)


def _csv_row(one: Activity) -> tuple[Any, ...]:
    phrases = "; ".join(detail_phrases(one.detail))
    return (one.created, one.actor, one.actor_name, one.action, one.target, phrases, one.address, one.reason)


def _filtered(request: HttpRequest) -> tuple[ActivityFilterForm, QuerySet[Activity]]:
    form, found = ActivityFilterForm(request.GET), readable_activities(principal_of(request))
    return form, form.apply(found) if form.is_valid() else found.none()
