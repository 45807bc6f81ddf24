"""Forms of rules: the owner of a new rule, its description, and its actions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.engine.rules import Actions, Boost, Rule, Selector, SelectorKind
from assembly.profiles.catalogue import known_sources
from assembly.profiles.documents import MAX_NAME_CHARACTERS
from assembly.rules.form_fields import Choices, ConditionForm, condition_initial, require_legible
from assembly.rules.parser import MAX_SELECTORS, MAX_VALUE_CHARACTERS, MAX_WEIGHT
from assembly.rules.services import teams_for_rules
from assembly.rules.writer import rule_yaml
from assembly.sources import SOURCES
from teams.models import valid_slug
from teams.principal import Principal

INCLUDE, BOOST, EXCLUDE = "always_include", "boost", "exclude"
ACTION_CHOICES = [(INCLUDE, _("Always include")), (BOOST, _("Boost")), (EXCLUDE, _("Exclude"))]
SELECTOR_CHOICES: list[tuple[SelectorKind, Any]] = [
    ("path", _("Files at path")),
    ("kg_entity", _("Items about entity")),
    ("memory_kind", _("Memories of kind")),
    ("tag", _("Items with tag")),
]
SOURCE_PREFIX = "source:"
"""The prefix of the name of a source as a selector."""


def selector_choices() -> list[tuple[Any, Any]]:
    """Return the choices of a selector; a source is a selector by its name."""
    sources = sorted((f"{SOURCE_PREFIX}{name}", SOURCES[name].label) for name in known_sources())
    return [
        ("", _("Choose")),
        *SELECTOR_CHOICES,
        (_("All items of source"), sorted(sources, key=lambda choice: choice[1])),
    ]


class RuleActionForm(forms.Form):
    """The form of one action of the rule. An action without a selector has no effect."""

    what = forms.ChoiceField(label=_("Action"), choices=ACTION_CHOICES, initial=INCLUDE, required=False)
    by = forms.ChoiceField(label=_("Target"), choices=selector_choices, required=False)
    value = forms.CharField(
        label=_("Value"),
        max_length=MAX_VALUE_CHARACTERS,
        required=False,
        validators=[require_legible],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    weight = forms.FloatField(
        label=_("Weight"),
        min_value=0,
        max_value=MAX_WEIGHT,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        what, by = values.get("what") or INCLUDE, values.get("by") or ""
        self._forgive(what, by)
        if not by and not values.get("value"):
            return values
        if not by and "by" not in self.errors:
            self.add_error("by", _("Choose a value."))
        elif by.startswith(SOURCE_PREFIX) and what == INCLUDE:
            self.add_error("by", _("A source cannot always be included. Boost it instead."))
        elif by and not by.startswith(SOURCE_PREFIX) and not values.get("value") and "value" not in self.errors:
            self.add_error("value", _("Enter a value."))
        if what == BOOST and values.get("weight") is None and "weight" not in self.errors:
            self.add_error("weight", _("Enter a weight: 2 doubles the score, 0.5 halves it."))
        return values

    def _forgive(self, what: str, by: str) -> None:
        """Remove the errors of fields that are not shown for this action."""
        if what != BOOST:
            self.errors.pop("weight", None)
        if by.startswith(SOURCE_PREFIX):
            self.errors.pop("value", None)

    @property
    def is_used(self) -> bool:
        """Whether the valid action has a selector."""
        return bool(self.cleaned_data.get("by"))

    @property
    def action(self) -> str:
        return self.cleaned_data["what"] or INCLUDE

    def selector(self) -> Selector:
        """Return the selector of the action."""
        by: Any = self.cleaned_data["by"]
        if by.startswith(SOURCE_PREFIX):
            return Selector("source", by.removeprefix(SOURCE_PREFIX))
        return Selector(by, self.cleaned_data["value"])


class RuleActionFormSet(forms.BaseFormSet):  # type: ignore[type-arg]  # not subscriptable at run time
    """The forms of all actions of the rule."""

    def clean(self) -> None:
        """Raise ValidationError for no actions, or too many of a kind."""
        used = [form.action for form in self.forms if form.is_valid() and form.is_used]
        if not used and not any(self.errors):
            raise ValidationError(_("Add at least one action."))
        if any(used.count(action) > MAX_SELECTORS for action, _label in ACTION_CHOICES):
            raise ValidationError(_("At most %(most)s actions of a kind.") % {"most": MAX_SELECTORS})

    def actions(self) -> Actions:
        """Return the actions in the valid forms."""
        used = [form for form in self.forms if form.is_used]
        return Actions(
            always_include=tuple(form.selector() for form in used if form.action == INCLUDE),
            boost=tuple(Boost(form.selector(), form.cleaned_data["weight"]) for form in used if form.action == BOOST),
            exclude=tuple(form.selector() for form in used if form.action == EXCLUDE),
        )


MAX_LINES = MAX_SELECTORS * len(ACTION_CHOICES)
PREFIX = "then"
_RuleActionFormSet = forms.formset_factory(
    RuleActionForm, formset=RuleActionFormSet, extra=1, max_num=MAX_LINES, absolute_max=MAX_LINES
)


def lines_from_post(data: QueryDict) -> RuleActionFormSet:
    """Return the forms of actions with the values that a browser sent."""
    return cast("RuleActionFormSet", _RuleActionFormSet(data, prefix=PREFIX))


def unbound_lines(initial: list[dict[str, Any]]) -> RuleActionFormSet:
    """Return unvalidated forms with these initial values, and an additional empty one."""
    return cast("RuleActionFormSet", _RuleActionFormSet(initial=initial, prefix=PREFIX))


def lines_initial(then: Actions) -> list[dict[str, Any]]:
    """Return the initial form values of a rule's actions."""
    return list(_line_initials(then))


def _line_initials(then: Actions) -> Iterator[dict[str, Any]]:
    for selector in then.always_include:
        yield {"what": INCLUDE, **_selector_initial(selector)}
    for boost in then.boost:
        yield {"what": BOOST, **_selector_initial(boost.selector), "weight": f"{boost.weight!r}".removesuffix(".0")}
    for selector in then.exclude:
        yield {"what": EXCLUDE, **_selector_initial(selector)}


def _selector_initial(selector: Selector) -> dict[str, str]:
    if selector.by == "source":
        return {"by": f"{SOURCE_PREFIX}{selector.value}", "value": ""}
    return {"by": selector.by, "value": selector.value}


EVERYBODY = "everywhere"


def owner_choices(principal: Principal) -> list[tuple[Any, Any]]:
    """Return for whom the person may write rules: all agents, teams, agents; as team:care and agent:ada."""
    teams = [(f"team:{team.slug}", team.name) for team in teams_for_rules(principal)]
    agents = [(f"agent:{agent.slug}", agent.name) for agent in Agent.objects.editable_by(principal).order_by("name")]
    groups = [(_("A team"), teams), (_("An agent"), agents)]
    everybody: list[tuple[Any, Any]] = [(EVERYBODY, _("All agents of the organisation"))] if principal.is_admin else []
    return [*everybody, *((label, choices) for label, choices in groups if choices)]


class RuleForm(forms.Form):
    """The form of a new rule beside its text: its name, its owner, and whether it starts disabled."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_(
            "Lower-case letters, digits and hyphens. Contexts refer to the rule by this name; it cannot be changed."
        ),
        max_length=MAX_NAME_CHARACTERS,
        validators=[valid_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    owner = forms.ChoiceField(label=_("Scope"), help_text=_("If rules conflict, the one with the narrower scope wins."))
    off = forms.BooleanField(
        label=_("Create disabled"),
        help_text=_("It has no effect until you enable it."),
        required=False,
    )

    def __init__(self, *args: Any, choices: list[tuple[Any, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["owner"].choices = choices  # type: ignore[attr-defined]

    def unbound_copy(self) -> "RuleForm":
        """Return a copy of the form that is not validated yet."""
        return RuleForm(initial=_typed(self), choices=self.fields["owner"].choices)  # type: ignore[attr-defined]

    def owner_slugs(self) -> dict[str, str]:
        """Return the slugs of the chosen agent and team; "" for none."""
        kind, _colon, slug = self.cleaned_data["owner"].partition(":")
        return {"agent": slug if kind == "agent" else "", "team": slug if kind == "team" else ""}


@dataclass(frozen=True, slots=True)
class RuleFields:
    """The form fields of a rule. `names` are the choices of agents, teams and profiles."""

    when: ConditionForm
    lines: RuleActionFormSet
    names: Mapping[str, Choices]

    @classmethod
    def blank(cls, names: dict[str, Choices]) -> "RuleFields":
        """Return the fields of a new rule."""
        return cls(ConditionForm(names=names), unbound_lines([]), names)

    @classmethod
    def of(cls, description: str, rule: Rule, names: dict[str, Choices]) -> "RuleFields":
        """Return the fields with the values of the rule; nested conditions have no field."""
        when = ConditionForm(initial=condition_initial(description, rule.when), names=names)
        return cls(when, unbound_lines(lines_initial(rule.then)), names)

    @classmethod
    def posted(cls, data: QueryDict, names: dict[str, Choices]) -> "RuleFields":
        """Return the fields with the values that a browser sent."""
        return cls(ConditionForm(data, names=names), lines_from_post(data), names)

    def unbound_copy(self, *, without: int | None = None) -> "RuleFields":
        """Return a copy without the action of that number, or with an additional empty one; not validated yet."""
        lines = [_typed(form) for number, form in enumerate(self.lines.forms) if number != without]
        names = dict(self.names)
        return RuleFields(ConditionForm(initial=_typed(self.when), names=names), unbound_lines(lines), names)

    @property
    def is_empty(self) -> bool:
        """Whether all fields are empty."""
        return not self.when.has_changed() and not any(form.has_changed() for form in self.lines.forms)

    def is_valid(self) -> bool:
        """Return whether all fields are valid; invalid ones have errors."""
        return all([self.when.is_valid(), self.lines.is_valid()])

    def text(self) -> str:
        """Return the YAML of the valid fields."""
        return rule_yaml(self.when.cleaned_data["description"], self.when.condition(), self.lines.actions())


def _typed(form: forms.Form) -> dict[str, Any]:
    return {name: form[name].value() for name in form.fields}
