"""The filters of the page of trends: an agent, a team, a file and a number of days."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.sources.kinds import FILES
from teams.models import Team
from teams.principal import Principal

SPANS = (7, 30, 90)
SPAN = 30
REF_CHARACTERS = 160
FILE_REF = re.compile(rf"(?:{'|'.join(sorted(FILES))}):[0-9a-f-]{{36}}")


class TrendFilterForm(forms.Form):
    """A form with the filters of the page of trends; its choices are what the person may see."""

    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), required=False, empty_label=_("All agents")
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="slug", label=_("Team"), required=False, empty_label=_("All teams")
    )
    days = forms.TypedChoiceField(
        label=_("Period"),
        required=False,
        coerce=int,
        choices=[(span, _("%(days)s days") % {"days": span}) for span in SPANS],
    )
    file = forms.CharField(label=_("File"), required=False, max_length=REF_CHARACTERS, widget=forms.Select)

    def __init__(self, data: Mapping[str, Any], *, principal: Principal) -> None:
        super().__init__({"days": SPAN, **data})
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = Team.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]

    def offer_files(self, names: Sequence[tuple[str, str]]) -> None:
        """Set the choices of files: their refs and names."""
        chosen = self.cleaned_data.get("file", "")
        unknown = [(chosen, _("The selected file"))] if chosen and chosen not in dict(names) else []
        self.fields["file"].widget.choices = [("", _("All files")), *names, *unknown]

    def clean_file(self) -> str:
        ref: str = self.cleaned_data["file"]
        if ref and not FILE_REF.fullmatch(ref):
            raise forms.ValidationError(_("Choose one of the files."))
        return ref

    @property
    def scope(self) -> dict[str, UUID]:
        """The ids of the chosen agent and team, as arguments of the functions that read trends."""
        owners = {"agent_id": self.cleaned_data["agent"], "team_id": self.cleaned_data["team"]}
        return {name: owner.id for name, owner in owners.items() if owner}

    @property
    def asked(self) -> dict[str, str]:
        """The slugs of the chosen agent and team, as query parameters of linked lists."""
        owners = {"agent": self.cleaned_data["agent"], "team": self.cleaned_data["team"]}
        return {name: owner.slug for name, owner in owners.items() if owner}
