"""Forms of conflicts: the filter of their list, and a decision."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.conflicts.counts import conflicts_to_decide
from assembly.conflicts.services import CHOICES, EDITS, EditedSide
from assembly.models import Conflict, ConflictKind
from assembly.models.conflict import MAX_REASON_CHARACTERS, ConflictQuerySet
from memories.forms.fields import Text
from memories.models.memory import MAX_TEXT_CHARACTERS
from teams.models import Team
from teams.principal import Principal


class ConflictFilterForm(forms.Form):
    """The filter of the list of conflicts; its choices are what the person may see.

    Without a status, the list has what the person may decide. Without a kind, it has no duplicates: contexts include
    the better one of them, and nobody needs to decide.
    """

    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[
            ("", _("For you to decide")),
            ("open", _("Open")),
            ("resolved", _("Resolved")),
            ("gone", _("Outdated")),
            ("all", _("All")),
        ],
    )
    kind = forms.ChoiceField(
        label=_("Difference"), required=False, choices=[("", _("All contradictions")), *ConflictKind.choices]
    )
    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), required=False, empty_label=_("All agents")
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="slug", label=_("Team"), required=False, empty_label=_("All teams")
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.principal = principal
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = Team.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]

    def rows(self) -> ConflictQuerySet:
        """Return the conflicts that the filter selects; none if it is invalid."""
        if not self.is_valid():
            return Conflict.objects.none()
        status, kind = self.cleaned_data["status"], self.cleaned_data["kind"]
        agent, team = self.cleaned_data["agent"], self.cleaned_data["team"]
        if status:
            rows = Conflict.objects.visible_to(self.principal)
        elif kind == ConflictKind.DUPLICATE:
            rows = Conflict.objects.resolvable_by(self.principal)
        else:
            rows = conflicts_to_decide(self.principal)
        rows = rows if kind else rows.exclude(kind=ConflictKind.DUPLICATE)
        return rows.selected(status=status or "open", kind=kind, agent_id=agent and agent.id, team_id=team and team.id)


class ReasonForm(forms.Form):
    """The reason of a decision."""

    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON_CHARACTERS,
        help_text=_("It is stored with your decision, whichever button you press."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class DecisionForm(ReasonForm):
    """A decision: which side holds, both, or the new text of a memory; and why."""

    choice = forms.ChoiceField(choices=[(choice, choice) for choice in (*CHOICES, *EDITS)])
    left_text = Text(label=_("New text"), required=False, rows=4, max_length=MAX_TEXT_CHARACTERS)
    right_text = Text(label=_("New text"), required=False, rows=4, max_length=MAX_TEXT_CHARACTERS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # They stand in the sides, outside of the form's element.
        for side in EDITS.values():
            self.fields[f"{side}_text"].widget.attrs["form"] = "decide"

    @property
    def edited_side(self) -> EditedSide | None:
        """The side whose memory a valid form rewrites; None for another decision."""
        return EDITS.get(self.cleaned_data["choice"])

    @property
    def typed(self) -> list[forms.BoundField]:
        """These fields have what a person wrote for this decision: the new text, and why."""
        side = EDITS.get(self["choice"].value() or "")
        names = [f"{side}_text", "reason"] if side else ["reason"]
        return [self[name] for name in names if self[name].value()]
