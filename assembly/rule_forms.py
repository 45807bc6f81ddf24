"""The forms of rules: whose a new one is, and what any of them says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.engine.rules import Rule
from assembly.rule_fields import Choices, WhenForm, when_filled
from assembly.rule_lines import Lines, lines_filled, lines_posted, lines_shown
from assembly.rules.access import teams_for_rules
from assembly.rules.services import MAX_NAME_CHARACTERS
from assembly.rules.writing import text_of
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
    """What a new rule has beside its text: a name, whom it is for, and whether it begins switched off."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Lower-case letters, digits and hyphens. Contexts name the rule by it, so it stays."),
        max_length=MAX_NAME_CHARACTERS,
        validators=[valid_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    owner = forms.ChoiceField(label=_("For"), help_text=_("Where two rules disagree, the narrower one wins."))
    off = forms.BooleanField(
        label=_("Start it switched off"),
        help_text=_("It counts in no context until you switch it on."),
        required=False,
    )

    def __init__(self, *args: Any, choices: list[tuple[Any, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["owner"].choices = choices  # type: ignore[attr-defined]

    def as_typed(self) -> "RuleForm":
        """The same, not judged yet."""
        return RuleForm(initial=_typed(self), choices=self.fields["owner"].choices)  # type: ignore[attr-defined]

    def owner_named(self) -> dict[str, str]:
        """The slugs of the chosen agent and team; "" for none."""
        kind, _colon, slug = self.cleaned_data["owner"].partition(":")
        return {"agent": slug if kind == "agent" else "", "team": slug if kind == "team" else ""}


@dataclass(frozen=True, slots=True)
class RuleFields:
    """What a rule says, as fields. `names` are what agents, teams and profiles can be chosen from."""

    when: WhenForm
    lines: Lines
    names: Mapping[str, Choices]

    @classmethod
    def blank(cls, names: dict[str, Choices]) -> "RuleFields":
        """For a new rule."""
        return cls(WhenForm(names=names), lines_shown([]), names)

    @classmethod
    def of(cls, description: str, rule: Rule, names: dict[str, Choices]) -> "RuleFields":
        """Filled in with what the rule says; conditions within its condition have no field."""
        when = WhenForm(initial=when_filled(description, rule.when), names=names)
        return cls(when, lines_shown(lines_filled(rule.then)), names)

    @classmethod
    def posted(cls, data: QueryDict, names: dict[str, Choices]) -> "RuleFields":
        """As a browser sent them."""
        return cls(WhenForm(data, names=names), lines_posted(data), names)

    def as_typed(self) -> "RuleFields":
        """The same with one more line, not judged yet."""
        lines = [_typed(form) for form in self.lines.forms]
        names = dict(self.names)
        return RuleFields(WhenForm(initial=_typed(self.when), names=names), lines_shown(lines), names)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was filled in."""
        return not self.when.has_changed() and not any(form.has_changed() for form in self.lines.forms)

    def is_valid(self) -> bool:
        """Whether all fields can be used; those that cannot say why."""
        return all([self.when.is_valid(), self.lines.is_valid()])

    def text(self) -> str:
        """The YAML of what they say, once they are valid."""
        return text_of(self.when.cleaned_data["description"], self.when.condition(), self.lines.actions())


def _typed(form: forms.Form) -> dict[str, Any]:
    return {name: form[name].value() for name in form.fields}
