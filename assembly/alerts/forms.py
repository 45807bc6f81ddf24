"""The form above the list of alerts."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from teams.models import Team
from teams.principal import Principal


class AlertFilterForm(forms.Form):
    """Which alerts are listed; the choices are what the person may see."""

    state = forms.ChoiceField(
        label=_("Show"),
        required=False,
        choices=[
            ("", _("What waits for somebody")),
            ("open", _("All that is still so")),
            ("closed", _("What is so no more")),
            ("settled", _("What somebody settled")),
            ("all", _("All")),
        ],
    )
    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), required=False, empty_label=_("All agents")
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="slug", label=_("Team"), required=False, empty_label=_("All teams")
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = Team.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, Any]:
        """What a valid form says, for `alerts_selected`."""
        agent, team = self.cleaned_data["agent"], self.cleaned_data["team"]
        return {
            "state": self.cleaned_data["state"] or "waiting",
            "agent_id": agent and agent.id,
            "team_id": team and team.id,
        }
