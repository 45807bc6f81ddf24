"""The form of a pattern."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Line, Lines, Text
from memories.forms.kept import LATEST, KeptForm

INTENTS = (
    ("question", _("asks something")),
    ("action", _("wants something done")),
    ("fix", _("wants something repaired")),
    ("explain", _("wants an explanation")),
    ("other", _("anything else")),
)


class PatternForm(KeptForm):
    """What to do, and when to think of it."""

    name = Line(label=_("Name"), max_length=200)
    guidance = Text(label=_("What to do"), help_text=_("As you would tell a colleague."))
    keywords = Lines(
        label=_("Words that bring it to mind"), help_text=_("One on each line."), longest=80, required=False
    )
    intents = forms.MultipleChoiceField(
        label=_("When somebody"), choices=INTENTS, widget=forms.CheckboxSelectMultiple, required=False
    )
    entity_types = Lines(
        label=_("Types of entities that bring it to mind"), help_text=_("One on each line."), longest=60, required=False
    )
    applications = forms.IntegerField(label=_("How often it was tried"), min_value=0, max_value=LATEST, initial=0)
    successes = forms.IntegerField(label=_("How often it worked"), min_value=0, max_value=LATEST, initial=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = {value for value, _label in INTENTS}
        kept = [(value, value) for value in self.initial.get("intents", []) if value not in known]
        self.fields["intents"].choices = [*INTENTS, *kept]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if {"successes", "applications"} <= values.keys() and values["successes"] > values["applications"]:
            self.add_error("successes", _("It cannot have worked more often than it was tried."))
        return values
