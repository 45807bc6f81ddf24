"""The forms of one memory: what it says, and why it is retired.

Which memories of an owner a list shows; all of it stands in the address.

The form by which memories are merged: which one stays, and what it says then.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_lazy as lazy

from memories.embeddings.active_model import SLOTS
from memories.forms.agent_item import StoredForm, VersionForm
from memories.forms.fields import Line, Text
from memories.models import Memory
from memories.models.memory import MAX_REASON_CHARACTERS, MAX_TEXT_CHARACTERS
from memories.search.languages import LANGUAGES
from memories.services import MemoryFacts, MergeRequest, Owner, memories_of
from memories.services.memory import words_in_any_language
from teams.forms import match_line_endings, validate_storable
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS

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
        return stored if text == match_line_endings(stored, "").strip() else match_line_endings(text, stored)

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


ORDERS = {"": ("created", "id"), "salience": ("salience", "id")}
MAX_SAMPLED_ROWS = 2_000
"""The kinds of so many of the newest are offered: whoever has more has had them all by then."""


def kinds_of(owner: Owner) -> list[str]:
    """The kinds that the owner's memories have, by name."""
    newest = (
        memories_of(owner).order_by(Coalesce("occurred_at", "created").desc()).values_list("kind")[:MAX_SAMPLED_ROWS]
    )
    return sorted({kind for (kind,) in newest})


class MemoryListForm(forms.Form):
    """A search by meaning or by words, and what narrows the list."""

    q = forms.CharField(
        label=lazy("Search"),
        max_length=1000,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    by = forms.ChoiceField(
        label=lazy("Search by"), choices=[("", lazy("meaning")), ("words", lazy("its words"))], required=False
    )
    kind = forms.ChoiceField(label=lazy("Kind"), required=False)
    which = forms.ChoiceField(
        label=lazy("Which"),
        choices=[
            ("", lazy("All")),
            ("standing", lazy("Those that hold")),
            ("pinned", lazy("Only pinned")),
            ("retired", lazy("Only retired")),
        ],
        required=False,
    )
    order = forms.ChoiceField(
        label=lazy("First"),
        choices=[("", lazy("The newest")), ("salience", lazy("The most important"))],
        required=False,
    )

    def __init__(self, *args: Any, owner: Owner, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        kinds = [("", gettext("All")), *((kind, kind) for kind in kinds_of(owner))]
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        self.full_clean()

    def value(self, name: str) -> str:
        """What is asked for; "" where nothing is, or nothing that makes sense."""
        return str(self.cleaned_data.get(name) or "")

    @property
    def meaning(self) -> str:
        """What is searched for by meaning."""
        return "" if self.value("by") else self.value("q")

    @property
    def keys(self) -> tuple[str, ...]:
        """By which columns the list is ordered."""
        return ORDERS[self.value("order")]

    def rows(self) -> QuerySet[Memory]:
        """The owner's memories that are asked for, but for a search by meaning."""
        rows: QuerySet[Any] = (
            memories_of(self.owner).defer(*SLOTS, "search").annotate(at=Coalesce("occurred_at", "created"))
        )
        if kind := self.value("kind"):
            rows = rows.filter(kind=kind)
        if which := self.value("which"):
            rows = _filter_by_state(rows, which)
        if self.value("by") and self.value("q"):
            rows = rows.filter(search=words_in_any_language(self.value("q"), memories_of(self.owner)))
        return rows

    def sentence(self) -> str:
        """What the list shows, in words: “Pinned decisions, the most important first”."""
        kind = self.value("kind")
        shown = {
            "": gettext("All of kind “%(kind)s”") if kind else gettext("All"),
            "standing": gettext("Those of kind “%(kind)s” that hold") if kind else gettext("Those that hold"),
            "pinned": gettext("The pinned of kind “%(kind)s”") if kind else gettext("The pinned"),
            "retired": gettext("The retired of kind “%(kind)s”") if kind else gettext("The retired"),
        }[self.value("which")] % {"kind": kind}
        if self.meaning:
            return gettext("%(shown)s, those nearest to “%(q)s” first") % {"shown": shown, "q": self.meaning}
        if self.value("q"):
            shown = gettext("%(shown)s, with the words “%(q)s”") % {"shown": shown, "q": self.value("q")}
        first = gettext("the most important first") if self.value("order") else gettext("the newest first")
        return f"{shown}, {first}"


def _filter_by_state(rows: QuerySet[Memory], which: str) -> QuerySet[Memory]:
    if which == "pinned":
        return rows.filter(pinned=True)
    if which == "retired":
        return rows.exclude(retired_because="")
    return rows.filter(superseded_by=None, retired_because="")


def parse_ids(values: Sequence[str]) -> list[UUID]:
    """The ids among the values, each once, in their order."""
    found = []
    for value in values:
        try:
            found.append(UUID(value))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


class MergeForm(forms.Form):
    """Which of the memories stays. `seen` holds the version of each that the person saw."""

    keep = forms.ChoiceField(label=lazy("Which one stays?"), widget=forms.RadioSelect)
    text = Text(
        label=lazy("What it says then"),
        help_text=lazy("Left empty, it says what it says now. Write here what takes the best of all."),
        rows=3,
        max_length=MAX_TEXT_CHARACTERS,
        required=False,
    )
    seen = forms.CharField(widget=forms.HiddenInput, max_length=4_000)

    def __init__(self, *args: Any, memories: Sequence[Memory], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.memories = memories
        self.fields["keep"].choices = [  # type: ignore[attr-defined]
            (str(memory.id), Truncator(memory.text).chars(400)) for memory in memories
        ]
        self.initial = {"keep": str(memories[0].id) if memories else "", "seen": format_seen_versions(memories)}

    def clean_seen(self) -> dict[UUID, int]:
        """The versions by id."""
        try:
            pairs = [one.split("@") for one in self.cleaned_data["seen"].split()]
            return {UUID(id_): int(version) for id_, version in pairs}
        except ValueError:
            raise ValidationError(gettext("Choose the memories anew: this page was changed on its way.")) from None

    def merging(self) -> MergeRequest:
        """What the valid form wants to be done."""
        text = self.cleaned_data["text"]
        return MergeRequest(UUID(self.cleaned_data["keep"]), self.cleaned_data["seen"], text if text.strip() else None)


def format_seen_versions(memories: Sequence[Memory]) -> str:
    """The versions that a person sees, for the form to carry."""
    return " ".join(f"{memory.id}@{memory.version}" for memory in memories)
