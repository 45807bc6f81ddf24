"""The form that selects the context in which a draft is previewed."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.contexts.preview import ContextRequestForm
from teams.models import Team

EVERY_AGENT = "*"
"""The choice of all agents at once, which is no slug."""


class DraftPreviewForm(ContextRequestForm):
    """The form with the agent of a text that several agents use, or the team of an agent's text, and the parameters of
    the context.

    The first choice is the default; it may stand for no team.
    """

    field_order = ("agent", "team", "topic", "max_tokens", "profile")

    def __init__(
        self,
        *args: Any,
        agents: Sequence[Agent] | None = None,
        every_agent: str = "",
        teams: Sequence[Team] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if agents is not None:
            one = [(agent.slug, agent.name) for agent in agents]
            self.fields["agent"] = forms.ChoiceField(label=_("Agent"), choices=[*one, (EVERY_AGENT, every_agent)])
        if teams is not None:
            choices = [(team.slug, team.name) for team in teams]
            self.fields["team"] = forms.ChoiceField(
                label=_("Team"), required=False, choices=[*choices, ("", _("No team"))]
            )
        self.fields["topic"].widget = forms.TextInput()
        self.order_fields(self.field_order)
