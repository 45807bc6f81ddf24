"""Forms of agents: a new agent, its settings, and a search in its daily logs."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.context_profiles import profile_choices
from teams.forms import NamedForm, validate_storable
from teams.models import Team
from teams.principal import Principal
from teams.sensitivity import LEVEL_CHOICES
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

PROFILE = _("Context profile")
PROFILE_HELP = _("How its contexts are assembled, unless a request names another profile.")
IN_NO_TEAM = _("An agent without a team is only visible to admins of the organisation.")


class AgentForm(NamedForm):
    """The form of a new agent."""

    teams = forms.ModelMultipleChoiceField(
        Team.objects.none(),
        label=_("Teams"),
        help_text=_("The agent reads their goals, background and guidelines; their members can see the agent."),
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    instructions = forms.CharField(
        label=_("Instructions"),
        help_text=_("How the agent works. You can change this at any time."),
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=MAX_FILE_CHARACTERS,
        validators=[validate_storable],
        required=False,
        strip=False,
    )
    timezone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("Determines when a new day of its daily log begins."), initial="UTC"
    )
    profile = forms.ChoiceField(label=PROFILE, help_text=PROFILE_HELP, choices=profile_choices, required=False)

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["teams"].queryset = Team.objects.manageable_by(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["timezone"].choices = _timezones()  # type: ignore[attr-defined]

    def clean_instructions(self) -> str:
        text: str = self.cleaned_data["instructions"]
        return text.replace("\r\n", "\n")


class AgentSettingsForm(forms.Form):
    """The form of an agent's name, time zone and teams; `version` is the one that the page showed.

    A person can add the agent to, and remove it from, the teams of which they are an admin.
    """

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Name"), max_length=120)
    timezone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("Determines when a new day of its daily log begins.")
    )
    profile = forms.ChoiceField(label=PROFILE, help_text=PROFILE_HELP, choices=profile_choices, required=False)
    clearance = forms.TypedChoiceField(
        label=_("Clearance"),
        help_text=_("Texts above this sensitivity are not included in its contexts, whoever asks."),
        choices=LEVEL_CHOICES,
        coerce=int,
        required=False,
        empty_value=None,
    )
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
    """The form that searches all daily logs of an agent."""

    q = forms.CharField(
        label=_("Search all logs"),
        max_length=200,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


def _timezones() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(available_timezones())]
