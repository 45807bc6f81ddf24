"""The forms of one memory: what it says, and why it is retired."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Line, Text
from memories.forms.kept import StoredForm, VersionForm
from memories.languages import LANGUAGES
from memories.models.memory import MAX_REASON_CHARACTERS, MAX_TEXT_CHARACTERS
from memories.services import MemoryFacts
from teams.files import MAX_NOTE_CHARACTERS
from teams.forms import with_line_ends_of

valid_kind = RegexValidator(
    r"\A[a-z0-9_-]{1,40}\Z", _("Use 1 to 40 lower-case letters, digits, - and _, as in decision.")
)


class MemoryForm(StoredForm):
    """What a memory says."""

    text = Text(
        label=_("What is to be remembered"),
        help_text=_("One statement that makes sense by itself, in a sentence or two."),
        rows=4,
        max_length=MAX_TEXT_CHARACTERS,
    )
    kind = Line(
        label=_("Kind"),
        help_text=_("One word: decision, context, preference, learning, fact, or one of your own."),
        max_length=40,
        initial="fact",
        validators=[valid_kind],
    )
    occurred_at = forms.DateTimeField(
        label=_("When it happened"),
        help_text=_("In UTC. Left empty, the day on which it was written counts."),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "any"}, format="%Y-%m-%dT%H:%M:%S"),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        help_text=_(
            "A search for one form of a word finds the others, too. Correct it where it was taken for another."
        ),
        choices=[("", _("As its text tells")), *((name, name.capitalize()) for name in LANGUAGES)],
        required=False,
    )
    salience = forms.FloatField(
        label=_("Importance, from 0 to 1"),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    credibility = forms.FloatField(
        label=_("How far it can be trusted, from 0 to 1"),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def facts(self) -> MemoryFacts:
        """What the valid form says."""
        named = ("text", "kind", "occurred_at", "salience", "credibility", "language")
        return MemoryFacts(**{name: self.cleaned_data[name] for name in named})


class MemoryEditForm(MemoryForm):
    """What a memory says from now on."""

    note = Line(
        label=_("What did you change?"),
        help_text=_("A few words for those who read its versions."),
        max_length=MAX_NOTE_CHARACTERS,
        required=False,
    )

    def clean_text(self) -> str:
        """The stored text where nothing but white space around it and line ends differ: a browser changes these."""
        text, stored = self.cleaned_data["text"], self.stored.text
        return stored if text == with_line_ends_of(stored, "").strip() else with_line_ends_of(text, stored)

    def clean_language(self) -> str:
        """The language where it was changed; a new text may be in another one than the stored."""
        chosen: str = self.cleaned_data["language"]
        return "" if chosen == self.stored.language else chosen

    def clean_occurred_at(self) -> Any:
        """The stored moment where the field shows it: it has no room for fractions of a second."""
        moment, stored = self.cleaned_data["occurred_at"], self.stored.occurred_at
        same = moment and stored and moment == stored.replace(microsecond=0)
        return stored if same else moment


class RetireForm(VersionForm):
    """Why a memory holds no more."""

    reason = Line(
        label=_("Why is it retired?"),
        help_text=_("One sentence. Whoever asks why the agent was not told reads it."),
        max_length=MAX_REASON_CHARACTERS,
    )
