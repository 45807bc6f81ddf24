"""The lines of a rule's form: each says what is to be done, and with what."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from assembly.engine.rules import Actions, Boost, By, Selector
from assembly.profiles.catalogue import known_sources
from assembly.rule_fields import legible
from assembly.rules.reading import MAX_SELECTORS, MAX_VALUE_CHARACTERS, MAX_WEIGHT
from assembly.sources import SOURCES

INCLUDE, BOOST, EXCLUDE = "always_include", "boost", "exclude"
WHAT = [(INCLUDE, _("Always include")), (BOOST, _("Count more or less")), (EXCLUDE, _("Leave out"))]
BY: list[tuple[By, Any]] = [
    ("path", _("Files at the path")),
    ("kg_entity", _("What is about the person or thing")),
    ("memory_kind", _("Memories of the kind")),
    ("tag", _("What is tagged")),
]
OF = "source:"
"""Before the name of a source that is taken as a whole."""


def by_choices() -> list[tuple[Any, Any]]:
    """By what things can be named; a source names itself."""
    sources = sorted((f"{OF}{name}", SOURCES[name].label) for name in known_sources())
    return [("", _("Choose")), *BY, (_("Everything of"), sorted(sources, key=lambda choice: choice[1]))]


class LineForm(forms.Form):
    """One thing that the rule does. A line in which nothing is named does nothing."""

    what = forms.ChoiceField(label=_("What to do"), choices=WHAT, initial=INCLUDE, required=False)
    by = forms.ChoiceField(label=_("With what"), choices=by_choices, required=False)
    value = forms.CharField(
        label=_("Which"),
        max_length=MAX_VALUE_CHARACTERS,
        required=False,
        validators=[legible],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    weight = forms.FloatField(
        label=_("Times"),
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
            self.add_error("by", _("Choose what this names."))
        elif by.startswith(OF) and what == INCLUDE:
            self.add_error("by", _("Everything of a source cannot always be in. Let it count more instead."))
        elif by and not by.startswith(OF) and not values.get("value") and "value" not in self.errors:
            self.add_error("value", _("Say which."))
        if what == BOOST and values.get("weight") is None and "weight" not in self.errors:
            self.add_error("weight", _("Say how often it counts: 2 is double, 0.5 is half."))
        return values

    def _forgive(self, what: str, by: str) -> None:
        """What the line does not need is not shown, so it cannot be wrong either."""
        if what != BOOST:
            self.errors.pop("weight", None)
        if by.startswith(OF):
            self.errors.pop("value", None)

    @property
    def is_used(self) -> bool:
        """Whether it names something, once it is valid."""
        return bool(self.cleaned_data.get("by"))

    @property
    def action(self) -> str:
        return self.cleaned_data["what"] or INCLUDE

    def selector(self) -> Selector:
        """What it names."""
        by: Any = self.cleaned_data["by"]
        if by.startswith(OF):
            return Selector("source", by.removeprefix(OF))
        return Selector(by, self.cleaned_data["value"])


class Lines(forms.BaseFormSet):  # type: ignore[type-arg]  # not subscriptable at run time
    """All that the rule does."""

    def clean(self) -> None:
        """Raises ValidationError for none, or too many of a kind."""
        used = [form.action for form in self.forms if form.is_valid() and form.is_used]
        if not used and not any(self.errors):
            raise ValidationError(_("A rule must do something. Fill in at least one line."))
        if any(used.count(action) > MAX_SELECTORS for action, _label in WHAT):
            raise ValidationError(_("At most %(most)s lines of a kind.") % {"most": MAX_SELECTORS})

    def actions(self) -> Actions:
        """What the lines say, once they are valid."""
        used = [form for form in self.forms if form.is_used]
        return Actions(
            always_include=tuple(form.selector() for form in used if form.action == INCLUDE),
            boost=tuple(Boost(form.selector(), form.cleaned_data["weight"]) for form in used if form.action == BOOST),
            exclude=tuple(form.selector() for form in used if form.action == EXCLUDE),
        )


MOST = MAX_SELECTORS * len(WHAT)
PREFIX = "then"
_Lines = forms.formset_factory(LineForm, formset=Lines, extra=1, max_num=MOST, absolute_max=MOST)


def lines_posted(data: QueryDict) -> Lines:
    """As a browser sent them."""
    return cast("Lines", _Lines(data, prefix=PREFIX))


def lines_shown(initial: list[dict[str, Any]]) -> Lines:
    """Filled in like this, with one more that is empty; not judged yet."""
    return cast("Lines", _Lines(initial=initial, prefix=PREFIX))


def lines_filled(then: Actions) -> list[dict[str, Any]]:
    """The lines of what a rule does."""
    return list(_filled(then))


def _filled(then: Actions) -> Iterator[dict[str, Any]]:
    for selector in then.always_include:
        yield {"what": INCLUDE, **_named(selector)}
    for boost in then.boost:
        yield {"what": BOOST, **_named(boost.selector), "weight": f"{boost.weight!r}".removesuffix(".0")}
    for selector in then.exclude:
        yield {"what": EXCLUDE, **_named(selector)}


def _named(selector: Selector) -> dict[str, str]:
    if selector.by == "source":
        return {"by": f"{OF}{selector.value}", "value": ""}
    return {"by": selector.by, "value": selector.value}
