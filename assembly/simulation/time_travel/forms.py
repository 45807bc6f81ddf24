"""The form that asks for a moment, and for what would have been asked there."""

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
    """A day and a time where the agent works; without a time, noon."""

    field_order = ("day", "time", "team", "topic", "profile", "max_tokens", "beside")

    day = forms.DateField(
        label=_("Day"), input_formats=["%Y-%m-%d"], widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
    )
    time = forms.TimeField(
        label=_("Time"), required=False, widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"})
    )
    beside = forms.BooleanField(label=_("Show what is different now"), required=False)

    def __init__(self, *args: Any, agent: Agent, teams: Sequence[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.zone = ZoneInfo(agent.timezone)
        self.teams = {team.slug: team for team in teams}
        choices = [*((team.slug, team.name) for team in teams), ("", _("No team: the agent alone"))]
        self.fields["team"] = forms.ChoiceField(label=_("In the team"), required=False, choices=choices)
        self.fields["time"].help_text = _("In %(zone)s. Empty: noon.") % {"zone": agent.timezone}
        self.fields["topic"].widget = forms.TextInput()
        noon = last_noon(agent)
        begun = {"day": noon.date(), "time": noon.time(), "team": next(iter(self.teams), "")}
        self.initial = {**begun, **self.initial}
        self.order_fields(self.field_order)

    @property
    def moment(self) -> datetime.datetime:
        """What a valid form asks for: the end of the second that is named, so that what a page dates to it is in."""
        begin = datetime.datetime.combine(self.cleaned_data["day"], self.cleaned_data["time"] or NOON, tzinfo=self.zone)
        return max(begin, min(begin + SECOND, timezone.now()))

    @property
    def team(self) -> Team | None:
        """The chosen one; None: the agent alone."""
        return self.teams.get(self.cleaned_data["team"])

    @property
    def asked(self) -> AssemblyRequest:
        """The wishes beside the moment."""
        return AssemblyRequest(**{name: self.cleaned_data[name] for name in ("topic", "profile", "max_tokens")})
