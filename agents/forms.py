"""The forms of agents: new ones, their settings; a search over the logs of one."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from teams.forms import NamedForm, validate_storable
from teams.models import Team
from teams.principal import Principal
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

IN_NO_TEAM = _("An agent in no team is seen by admins of the organisation alone.")


class AgentForm(NamedForm):
    """A new agent."""

    teams = forms.ModelMultipleChoiceField(
        Team.objects.none(),
        label=_("Teams"),
        help_text=_("The agent reads their goals, context and rules; their members see the agent."),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    instructions = forms.CharField(
        label=_("Instructions"),
        help_text=_("How it works. You can write and change this at any time."),
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=MAX_FILE_CHARACTERS,
        validators=[validate_storable],
        required=False,
        strip=False,
    )
    timezone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("Decides when a new day begins in its daily log."), initial="UTC"
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["teams"].queryset = Team.objects.manageable_by(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["timezone"].choices = _timezones()  # type: ignore[attr-defined]

    def clean_instructions(self) -> str:
        text: str = self.cleaned_data["instructions"]
        return text.replace("\r\n", "\n")


class AgentSettingsForm(forms.Form):
    """An agent's name, time zone and teams, as they were at a version. A person puts the agent into, and takes it out
    of, the teams of which they are an admin."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Name"), max_length=120)
    timezone = forms.ChoiceField(label=_("Time zone"), help_text=_("Decides when a new day begins in its daily log."))
    teams = forms.ModelMultipleChoiceField(
        Team.objects.none(),
        label=_("Teams"),
        help_text=IN_NO_TEAM,
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["teams"].queryset = Team.objects.manageable_by(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["timezone"].choices = _timezones()  # type: ignore[attr-defined]


class LogSearch(forms.Form):
    """A search over all daily logs of an agent."""

    q = forms.CharField(
        label=_("Search all its logs"),
        max_length=200,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


def _timezones() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(available_timezones())]
