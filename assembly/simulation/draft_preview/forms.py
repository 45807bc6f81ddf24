"""The form that asks in which context a draft is to be looked at."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.contexts.preview import ContextRequestForm
from teams.models import Team

EVERY_AGENT = "*"
"""No slug: all agents of the team at once."""


class DraftPreviewForm(ContextRequestForm):
    """How the context is wished, and for which agent of a team's file, or in which team of an agent's own text.

    The first of the choices is the one that is taken where none is made; it may stand for no team.
    """

    field_order = ("agent", "team", "topic", "max_tokens", "profile")

    def __init__(
        self, *args: Any, agents: Sequence[Agent] | None = None, teams: Sequence[Team] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if agents is not None:
            one = [(agent.slug, agent.name) for agent in agents]
            every = (EVERY_AGENT, _("All agents of this team"))
            self.fields["agent"] = forms.ChoiceField(label=_("Agent"), choices=[*one, every])
        if teams is not None:
            choices = [(team.slug, team.name) for team in teams]
            self.fields["team"] = forms.ChoiceField(
                label=_("In the team"), required=False, choices=[*choices, ("", _("No team: the agent alone"))]
            )
        self.fields["topic"].widget = forms.TextInput()
        self.order_fields(self.field_order)
