"""The form of the moment and of the parameters of the context."""

import datetime
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.contexts.preview import ContextRequestForm
from assembly.pipeline.request import AssemblyRequest
from assembly.simulation.time_travel.services import last_noon
from teams.models import Team

NOON = datetime.time(12)
SECOND = datetime.timedelta(microseconds=999_999)


class AsOfForm(ContextRequestForm):
    """A form with a date and a time in the agent's time zone; without a time, noon."""

    field_order = ("day", "time", "team", "topic", "profile", "max_tokens", "beside")

    day = forms.DateField(
        label=_("Day"), input_formats=["%Y-%m-%d"], widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
    )
    time = forms.TimeField(
        label=_("Time"), required=False, widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"})
    )
    beside = forms.BooleanField(label=_("Compare with now"), required=False)

    def __init__(self, *args: Any, agent: Agent, teams: Sequence[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.zone = ZoneInfo(agent.timezone)
        self.teams = {team.slug: team for team in teams}
        choices = [*((team.slug, team.name) for team in teams), ("", _("No team"))]
        self.fields["team"] = forms.ChoiceField(label=_("Team"), required=False, choices=choices)
        self.fields["time"].help_text = _("In %(zone)s. Empty: noon.") % {"zone": agent.timezone}
        self.fields["topic"].widget = forms.TextInput()
        noon = last_noon(agent)
        begun = {"day": noon.date(), "time": noon.time(), "team": next(iter(self.teams), "")}
        self.initial = {**begun, **self.initial}
        self.order_fields(self.field_order)

    @property
    def moment(self) -> datetime.datetime:
        """The moment in a valid form: the end of the given second, so that everything of that second is included."""
        begin = datetime.datetime.combine(self.cleaned_data["day"], self.cleaned_data["time"] or NOON, tzinfo=self.zone)
        return max(begin, min(begin + SECOND, timezone.now()))

    @property
    def team(self) -> Team | None:
        """The chosen team; None for no team."""
        return self.teams.get(self.cleaned_data["team"])

    @property
    def asked(self) -> AssemblyRequest:
        """The other parameters of the context."""
        return AssemblyRequest(**{name: self.cleaned_data[name] for name in ("topic", "profile", "max_tokens")})
