"""The form of a rule has plain fields for people who do not know YAML: description, conditions and actions."""

from collections.abc import Mapping
from typing import Any, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.engine.query_signals import Intent
from assembly.engine.rules import Condition, TimeWindow
from assembly.profiles.catalogue import all_profiles
from assembly.profiles.yaml_reader import INVISIBLE_CHARACTERS
from assembly.rules.parser import MAX_DESCRIPTION_CHARACTERS, MAX_WORD_CHARACTERS, MAX_WORDS
from teams.models import Team
from teams.principal import Principal

Choices = list[tuple[str, Any]]

INTENTS: Mapping[Intent, Any] = {
    "question": _("Question"),
    "action": _("Request"),
    "fix": _("Fix"),
    "explain": _("Explanation"),
    "other": _("No topic"),
}
WEEKDAYS: Choices = [
    ("mon", _("Monday")),
    ("tue", _("Tuesday")),
    ("wed", _("Wednesday")),
    ("thu", _("Thursday")),
    ("fri", _("Friday")),
    ("sat", _("Saturday")),
    ("sun", _("Sunday")),
]
SCOPE_FIELDS = ("agents", "teams", "profiles", "intents")
TIME_FIELDS = ("first", "last", "weekdays", "opens", "closes")


def field_choices(principal: Principal) -> dict[str, Choices]:
    """Return the choices of each field: the agents and teams that the person sees, and all usable profiles."""
    agents, teams = (model.objects.visible_to(principal).order_by("name") for model in (Agent, Team))
    return {
        "agents": [(agent.slug, agent.name) for agent in agents],
        "teams": [(team.slug, team.name) for team in teams],
        "profiles": [(entry.name, entry.name) for entry in all_profiles() if entry.described],
    }


def require_legible(text: str) -> None:
    """Raise ValidationError for invisible characters, which no rule may contain."""
    if not text.isprintable():
        raise ValidationError(_("It contains an invisible character. Type it again."), code="unseen")


def _one_line(text: str) -> None:
    if INVISIBLE_CHARACTERS.search(text):
        raise ValidationError(_("Use one line without line breaks and invisible characters."))


class NamesField(forms.MultipleChoiceField):
    """A field for names from a list, or names that the rule contains already: their agent or team may be deleted, or
    hidden from the person.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.CheckboxSelectMultiple, **kwargs)

    def valid_value(self, value: Any) -> bool:
        return 0 < len(value) <= MAX_WORD_CHARACTERS and str(value).isprintable()

    def offer(self, names: Choices, chosen: list[str]) -> None:
        """Offer the names as choices, and those that are chosen already."""
        known = dict(names)
        self.choices = [*names, *((name, name) for name in dict.fromkeys(chosen) if name not in known)]


def _day(label: Any) -> forms.DateField:
    return forms.DateField(label=label, required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))


def _time(label: Any) -> forms.TimeField:
    widget = forms.TimeInput({"type": "time"}, format="%H:%M")
    return forms.TimeField(label=label, required=False, widget=widget, input_formats=["%H:%M"])


def _boxes(label: Any, choices: Choices, **kwargs: Any) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label, choices=choices, required=False, widget=forms.CheckboxSelectMultiple, **kwargs
    )


class ConditionForm(forms.Form):
    """The form of a rule's description and conditions, all of which must be met."""

    description = forms.CharField(
        label=_("Description"),
        help_text=_("One sentence, shown in the list of rules."),
        max_length=MAX_DESCRIPTION_CHARACTERS,
        required=False,
        validators=[_one_line],
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    words = forms.CharField(
        label=_("Words in the topic"),
        help_text=_("One word or phrase per line. Any of them is sufficient, as a whole word. Empty: any topic."),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    agents = NamesField(label=_("Agents"))
    teams = NamesField(label=_("Teams"))
    profiles = NamesField(label=_("Context profiles"))
    intents = _boxes(_("Intent"), [(intent, INTENTS[intent]) for intent in get_args(Intent)])
    first = _day(_("From"))
    last = _day(_("Until"))
    weekdays = _boxes(_("Days of the week"), WEEKDAYS)
    opens = _time(_("From time"))
    closes = _time(_("Until time"))

    def __init__(self, *args: Any, names: dict[str, Choices], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, choices in names.items():
            chosen = self[name].value() or []
            self.fields[name].offer(choices, [str(value) for value in chosen])  # type: ignore[attr-defined]

    def clean_words(self) -> list[str]:
        words = [line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip()]
        if len(words) > MAX_WORDS:
            raise ValidationError(_("At most %(most)s lines.") % {"most": MAX_WORDS})
        for word in words:
            require_legible(word)
            if len(word) > MAX_WORD_CHARACTERS:
                raise ValidationError(_("At most %(most)s characters on a line.") % {"most": MAX_WORD_CHARACTERS})
        return words

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("first") and values.get("last") and values["first"] > values["last"]:
            self.add_error("last", _("The end is before the start. Change one of them."))
        if self.errors.keys() & {"opens", "closes"}:
            return values
        opens, closes = values.get("opens"), values.get("closes")
        if (opens is None) != (closes is None):
            missing = "closes" if closes is None else "opens"
            self.add_error(missing, _("Enter both times, or none."))
        elif opens is not None and opens == closes:
            self.add_error("closes", _("Enter two different times."))
        return values

    @property
    def narrows(self) -> bool:
        """Whether an agent, team or profile is chosen, or has an error."""
        return self._says(SCOPE_FIELDS)

    @property
    def has_time(self) -> bool:
        """Whether a time is given, or has an error."""
        return self._says(TIME_FIELDS)

    def _says(self, names: tuple[str, ...]) -> bool:
        return any(self[name].value() or self[name].errors for name in names)

    def condition(self) -> Condition:
        """Return the condition in the valid form."""
        values = self.cleaned_data
        window = TimeWindow(
            first=values["first"],
            last=values["last"],
            weekdays=tuple(values["weekdays"]),
            opens=values["opens"],
            closes=values["closes"],
        )
        return Condition(
            task_contains=tuple(values["words"]),
            agent=tuple(values["agents"]),
            team=tuple(values["teams"]),
            profile=tuple(values["profiles"]),
            intent=tuple(values["intents"]),
            between=None if window == TimeWindow() else window,
        )


def condition_initial(description: str, when: Condition) -> dict[str, Any]:
    """Return the initial form values of a rule. Nested conditions have no field."""
    window = when.between or TimeWindow()
    return {
        "description": description,
        "words": "\n".join(when.task_contains),
        "agents": list(when.agent),
        "teams": list(when.team),
        "profiles": list(when.profile),
        "intents": list(when.intent),
        "first": window.first,
        "last": window.last,
        "weekdays": list(window.weekdays),
        "opens": window.opens,
        "closes": window.closes,
    }
