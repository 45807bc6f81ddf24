"""These forms create, edit, retire and merge memories, and filter lists of memories."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from memories.lifecycle.listed_texts import is_readable
from memories.models import Memory
from memories.models.memory import MAX_REASON_CHARACTERS, MAX_TEXT_CHARACTERS
from memories.search.languages import LANGUAGES
from memories.services import MemoryFacts, MergeRequest, Owner, memories_of
from memories.services.memory import words_in_any_language
from teams.forms import match_line_endings, validate_storable
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS

valid_kind = RegexValidator(
    r"\A[a-z0-9_-]{1,40}\Z", _("Use 1 to 40 lower-case letters, digits, - and _, for example decision.")
)


class MemoryForm(StoredForm):
    """A form for a new memory: text, kind, time, language, salience and credibility."""

    text = Text(
        label=_("Memory"),
        help_text=_("One statement that is clear by itself, in a sentence or two."),
        rows=4,
        max_length=MAX_TEXT_CHARACTERS,
    )
    kind = Line(
        label=_("Kind"),
        help_text=_("One word: decision, context, preference, learning, idea, fact, or your own."),
        max_length=40,
        initial="fact",
        validators=[valid_kind],
    )
    occurred_at = forms.DateTimeField(
        label=_("Date and time of the event"),
        help_text=_("In your time zone. Default: the time of creation."),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "any"}, format="%Y-%m-%dT%H:%M:%S"),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        help_text=_("Used to match word forms in searches. Correct it if it was detected wrongly."),
        choices=[("", _("Detect from text")), *((name, name.capitalize()) for name in LANGUAGES)],
        required=False,
    )
    salience = forms.FloatField(
        label=_("Importance (0 to 1)"),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    credibility = forms.FloatField(
        label=_("Confidence (0 to 1)"),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def facts(self) -> MemoryFacts:
        """Return the content of the memory from a valid form."""
        named = ("text", "kind", "occurred_at", "salience", "credibility", "language")
        return MemoryFacts(**{name: self.cleaned_data[name] for name in named})


class MemoryEditForm(MemoryForm):
    """A form that edits a memory, with a note on what changed."""

    note = Line(
        label=_("Change summary"),
        help_text=_("A few words for the version history."),
        max_length=MAX_NOTE_CHARACTERS,
        required=False,
    )

    def clean_text(self) -> str:
        """Return the text, or the stored one if only outer white space and line ends differ, which browsers change."""
        text, stored = self.cleaned_data["text"], self.stored.text
        return stored if text == match_line_endings(stored, "").strip() else match_line_endings(text, stored)

    def clean_language(self) -> str:
        """Return the language if it was changed, else "": then the language of a new text is detected."""
        chosen: str = self.cleaned_data["language"]
        return "" if chosen == self.stored.language else chosen

    def clean_occurred_at(self) -> Any:
        """Return the time, or the stored one if only fractions of a second differ, which the field cannot show."""
        moment, stored = self.cleaned_data["occurred_at"], self.stored.occurred_at
        same = moment and stored and moment == stored.replace(microsecond=0)
        return stored if same else moment


class RetireForm(VersionForm):
    """A form for the reason why a memory is retired."""

    reason = Line(
        label=_("Reason"),
        help_text=_("One sentence. Shown as the reason in audits."),
        max_length=MAX_REASON_CHARACTERS,
    )


ORDERS = {"": ("created", "id"), "salience": ("salience", "id"), "credibility": ("credibility", "id")}
MAX_SAMPLED_ROWS = 2_000
"""The number of newest memories whose kinds are offered as choices; more rows hardly add kinds."""


def kinds_of(owner: Owner) -> list[str]:
    """Return the kinds of the owner's newest memories, sorted."""
    newest = (
        memories_of(owner).order_by(Coalesce("occurred_at", "created").desc()).values_list("kind")[:MAX_SAMPLED_ROWS]
    )
    return sorted({kind for (kind,) in newest})


@dataclass(frozen=True, slots=True)
class SortColumn:
    """The head of a column: its label, the value of `order` that sorts by it, and whether the list is sorted by it."""

    label: str
    order: str
    is_current: bool
    can_sort: bool


class MemoryListForm(forms.Form):
    """A form that searches a list of memories by meaning or words, and filters and orders the list."""

    q = forms.CharField(
        label=lazy("Search"),
        max_length=1000,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    by = forms.ChoiceField(
        label=lazy("Search by"), choices=[("", lazy("Semantic")), ("words", lazy("Keyword"))], required=False
    )
    kind = forms.ChoiceField(label=lazy("Kind"), required=False)
    which = forms.ChoiceField(
        label=lazy("Status"),
        choices=[
            ("", lazy("All")),
            ("standing", lazy("Active")),
            ("pinned", lazy("Pinned")),
            ("retired", lazy("Archived")),
        ],
        required=False,
    )
    order = forms.ChoiceField(
        label=lazy("Sort by"),
        choices=[("", lazy("Newest")), ("salience", lazy("Importance")), ("credibility", lazy("Confidence"))],
        required=False,
    )

    def __init__(self, *args: Any, owner: Owner, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        kinds = [("", gettext("All")), *((kind, kind) for kind in kinds_of(owner))]
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        self.full_clean()
        if self.meaning:  # then results are sorted by similarity
            self.fields["order"].choices = [("", gettext("Similarity"))]  # type: ignore[attr-defined]

    def value(self, name: str) -> str:
        """Return the value of a field; "" where it is empty or invalid."""
        return str(self.cleaned_data.get(name) or "")

    @property
    def meaning(self) -> str:
        """The text to search for by meaning; "" for none."""
        return "" if self.value("by") else self.value("q")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns by which the list is ordered."""
        return ORDERS[self.value("order")]

    def sorted_columns(self) -> list["SortColumn"]:
        """Return the heads of the columns that sort the list; while it is sorted by similarity, none of them does."""
        columns = (("salience", gettext("Importance")), ("credibility", gettext("Confidence")), ("", gettext("Time")))
        current = None if self.meaning else self.value("order")
        return [SortColumn(label, order, order == current, not self.meaning) for order, label in columns]

    def rows(self) -> QuerySet[Memory]:
        """Return the owner's memories that match the filters and the search by words, but not the search by meaning."""
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
        """Return a description of the list, as in “Pinned memories of kind “decision”, most important first”."""
        kind = self.value("kind")
        shown = {
            "": gettext("All memories of kind “%(kind)s”") if kind else gettext("All"),
            "standing": gettext("Active memories of kind “%(kind)s”") if kind else gettext("Active memories"),
            "pinned": gettext("Pinned memories of kind “%(kind)s”") if kind else gettext("Pinned memories"),
            "retired": gettext("Archived memories of kind “%(kind)s”") if kind else gettext("Archived memories"),
        }[self.value("which")] % {"kind": kind}
        if self.meaning:
            return gettext("%(shown)s, results for “%(q)s”") % {"shown": shown, "q": self.meaning}
        if self.value("q"):
            shown = gettext("%(shown)s with the words “%(q)s”") % {"shown": shown, "q": self.value("q")}
        first = {
            "": gettext("newest first"),
            "salience": gettext("most important first"),
            "credibility": gettext("most confident first"),
        }
        return f"{shown}, {first[self.value('order')]}"


def _filter_by_state(rows: QuerySet[Memory], which: str) -> QuerySet[Memory]:
    if which == "pinned":
        return rows.filter(pinned=True)
    if which == "retired":
        return rows.exclude(retired_because="")
    return rows.filter(superseded_by=None, retired_because="")


class MergeForm(forms.Form):
    """A form that merges memories: which one remains, and its text. `seen` holds the versions that the person saw.

    `unreadable` are those whose text cannot be read now: a notice is shown in its place.
    """

    keep = forms.ChoiceField(label=lazy("Memory to keep"), widget=forms.RadioSelect)
    text = Text(
        label=lazy("Merged text"),
        help_text=lazy("Default: its current text. You can combine the texts here."),
        rows=3,
        max_length=MAX_TEXT_CHARACTERS,
        required=False,
    )
    seen = forms.CharField(widget=forms.HiddenInput, max_length=4_000)

    def __init__(self, *args: Any, memories: Sequence[Memory], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.memories = memories
        self.unreadable = [memory for memory in memories if not is_readable(memory.text)]
        self.fields["keep"].choices = [  # type: ignore[attr-defined]
            (str(memory.id), Truncator(memory.text).chars(400)) for memory in memories
        ]
        self.initial = {"keep": str(memories[0].id) if memories else "", "seen": format_seen_versions(memories)}

    def clean_seen(self) -> dict[UUID, int]:
        """Return the version of each memory that the person saw, by id."""
        try:
            pairs = [one.split("@") for one in self.cleaned_data["seen"].split()]
            return {UUID(id_): int(version) for id_, version in pairs}
        except ValueError:
            raise ValidationError(gettext("Select the memories again: the request was incomplete.")) from None

    def merging(self) -> MergeRequest:
        """Return the merge that a valid form requests."""
        text = self.cleaned_data["text"]
        return MergeRequest(UUID(self.cleaned_data["keep"]), self.cleaned_data["seen"], text if text.strip() else None)


def format_seen_versions(memories: Sequence[Memory]) -> str:
    """Return the versions of the memories as text for a hidden field: `id@version`, separated by blanks."""
    return " ".join(f"{memory.id}@{memory.version}" for memory in memories)
