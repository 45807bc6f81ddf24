"""The form of a new rule."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.rules.access import teams_for_rules
from assembly.rules.services import MAX_NAME_CHARACTERS
from teams.files import MAX_FILE_CHARACTERS
from teams.forms import storable
from teams.models import valid_slug
from teams.principal import Principal

EVERYBODY = "everywhere"


def owner_choices(principal: Principal) -> list[tuple[Any, Any]]:
    """For whom the person may write rules: everybody, teams, agents; as team:care and agent:ada."""
    teams = [(f"team:{team.slug}", team.name) for team in teams_for_rules(principal)]
    agents = [(f"agent:{agent.slug}", agent.name) for agent in Agent.objects.editable_by(principal).order_by("name")]
    groups = [(_("A team"), teams), (_("An agent"), agents)]
    everybody: list[tuple[Any, Any]] = [(EVERYBODY, _("Every agent of the organisation"))] if principal.is_admin else []
    return [*everybody, *((label, choices) for label, choices in groups if choices)]


class RuleForm(forms.Form):
    """A name, whom it is for, and the text; whether the text is a rule is for the service to say."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Lower-case letters, digits and hyphens. Contexts name the rule by it, so it stays."),
        max_length=MAX_NAME_CHARACTERS,
        validators=[valid_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    owner = forms.ChoiceField(label=_("For"), help_text=_("Where two rules disagree, the narrower one wins."))
    content = forms.CharField(label=_("Text"), max_length=MAX_FILE_CHARACTERS, validators=[storable], strip=False)

    def __init__(self, *args: Any, choices: list[tuple[Any, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["owner"].choices = choices  # type: ignore[attr-defined]

    def clean_content(self) -> str:
        text: str = self.cleaned_data["content"]
        return text.replace("\r\n", "\n")

    def owner_named(self) -> dict[str, str]:
        """The slugs of the chosen agent and team; "" for none."""
        kind, _colon, slug = self.cleaned_data["owner"].partition(":")
        return {"agent": slug if kind == "agent" else "", "team": slug if kind == "team" else ""}
