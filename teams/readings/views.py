"""The page of the log of readings, with its filters, and the log as CSV."""

import datetime
from typing import Any

from django import forms
from django.apps import apps
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.http.cursors import next_page_url, page_of
from config.http.filter_chips import filter_chips
from teams.access import principal_of
from teams.activity.log_files import log_file
from teams.forms import validate_storable
from teams.models import Reading, Team
from teams.principal import Action, Principal
from teams.readings.models import ReadingKind
from teams.readings.readable_lines import counts_phrase, readable_readings, reading_rows
from teams.sensitivity import Sensitivity

CSV_COLUMNS = (
    *("created_at", "actor", "actor_name", "kind", "level", "thing", "counts"),
    *("agent_id", "team_id", "address", "reason", "route"),
)
DAYS = {"1": 1, "7": 7, "30": 30, "90": 90}
LEVELS = (Sensitivity.CONFIDENTIAL, Sensitivity.RESTRICTED, Sensitivity.WITHHELD)


class ReadingFilterForm(forms.Form):
    """The filters of the log of readings."""

    q = forms.CharField(
        label=_("Person or address"), required=False, max_length=120, validators=[validate_storable], strip=True
    )
    kind = forms.ChoiceField(
        label=_("Kind of reading"), required=False, choices=[("", _("All readings")), *ReadingKind.choices]
    )
    level = forms.ChoiceField(
        label=_("Sensitivity"),
        required=False,
        choices=[("", _("Any")), *((level.word, level.label) for level in LEVELS)],
    )
    owner = forms.ChoiceField(label=_("Agent or team"), required=False)
    thing = forms.UUIDField(label=_("ID of what was read"), required=False)
    days = forms.ChoiceField(
        label=_("Time"),
        required=False,
        choices=[("", _("Any time")), *((key, _("The last %(n)s days") % {"n": key}) for key in DAYS)],
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["owner"].choices = owner_choices(principal)  # type: ignore[attr-defined]

    def apply(self, found: QuerySet[Reading]) -> QuerySet[Reading]:
        """Return the lines that match the valid filters."""
        asked = self.cleaned_data
        if words := asked["q"]:
            found = found.filter(actor_name__icontains=words) | found.filter(address=words)
        if asked["kind"]:
            found = found.filter(kind=asked["kind"])
        if asked["level"]:
            found = found.filter(level=Sensitivity[asked["level"].upper()])
        if asked["owner"]:
            kind, _colon, id_ = asked["owner"].partition(":")
            found = found.filter(agent_id=id_) if kind == "agent" else found.filter(team_ids__contains=[id_])
        if asked["thing"]:
            found = found.filter(things__contains=[asked["thing"]])
        if asked["days"]:
            found = found.filter(created__gte=timezone.now() - datetime.timedelta(days=DAYS[asked["days"]]))
        return found


def owner_choices(principal: Principal) -> list[tuple[str, Any]]:
    """Return the teams that the principal manages, with their agents, as choices of a filter."""
    teams = list(Team.objects.permitting(Action.MANAGE, principal).order_by("name").values_list("id", "name"))
    agents: Any = apps.get_model("agents", "Agent")  # by name, because agents are a room above this one
    of_teams = agents.objects.filter(team_links__team_id__in=[id_ for id_, _name in teams]).distinct().order_by("name")
    return [
        ("", _("All")),
        *((f"team:{id_}", name) for id_, name in teams),
        *((f"agent:{id_}", name) for id_, name in of_teams.values_list("id", "name")),
    ]


def reading_log(request: HttpRequest) -> HttpResponse:
    """Show who read what is confidential or restricted, as far as the person may know it, newest first."""
    form, found = _filtered(request)
    shown, cursor = page_of(found, request.GET)
    facts: dict[str, Any] = {
        "form": form,
        "chips": filter_chips(request, form),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": reading_rows(shown),
        "next": next_page_url(request.path, request.GET.dict(), cursor),
        "days": settings.READINGS_DAYS,
        "sees_all": principal_of(request).is_admin,
    }
    return render(request, "teams/readings/log.html", facts, status=200 if form.is_valid() else 422)


def reading_csv(request: HttpRequest) -> HttpResponse:
    """Return the newest lines that match the filters as CSV; that somebody did is in the activity log."""
    _form, found = _filtered(request)
    return log_file(request, found, "readings.csv", CSV_COLUMNS, _csv_row)


def _csv_row(one: Reading) -> tuple[Any, ...]:
    return (
        one.created,
        one.actor,
        one.actor_name,
        one.kind,
        Sensitivity(one.level).word,
        one.things[0] if len(one.things) == 1 else None,
        counts_phrase(one.counts),
        one.agent_id,
        one.team_id,
        one.address,
        one.reason,
        one.route,
    )


def _filtered(request: HttpRequest) -> tuple[ReadingFilterForm, QuerySet[Reading]]:
    principal = principal_of(request)
    form, found = ReadingFilterForm(request.GET, principal=principal), readable_readings(principal)
    return form, form.apply(found) if form.is_valid() else found.none()
