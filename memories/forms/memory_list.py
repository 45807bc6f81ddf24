"""Which memories of an owner a list shows; all of it stands in the address."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memories.models import Memory
from memories.services import Owner, memories_of
from memories.services.language import words_in_any_language
from memories.spaces import SLOTS
from teams.forms import storable

ORDERS = {"": ("created", "id"), "salience": ("salience", "id")}
LOOKED_AT = 2_000
"""The kinds of so many of the newest are offered: whoever has more has had them all by then."""


def kinds_of(owner: Owner) -> list[str]:
    """The kinds that the owner's memories have, by name."""
    newest = memories_of(owner).order_by(Coalesce("occurred_at", "created").desc()).values_list("kind")[:LOOKED_AT]
    return sorted({kind for (kind,) in newest})


class MemoryListForm(forms.Form):
    """A search by meaning or by words, and what narrows the list."""

    q = forms.CharField(
        label=lazy("Search"),
        max_length=1000,
        required=False,
        validators=[storable],
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
        kinds = [("", _("All")), *((kind, kind) for kind in kinds_of(owner))]
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
            rows = _of_which(rows, which)
        if self.value("by") and self.value("q"):
            rows = rows.filter(search=words_in_any_language(self.value("q"), memories_of(self.owner)))
        return rows

    def sentence(self) -> str:
        """What the list shows, in words: “Pinned decisions, the most important first”."""
        kind = self.value("kind")
        shown = {
            "": _("All of kind “%(kind)s”") if kind else _("All"),
            "standing": _("Those of kind “%(kind)s” that hold") if kind else _("Those that hold"),
            "pinned": _("The pinned of kind “%(kind)s”") if kind else _("The pinned"),
            "retired": _("The retired of kind “%(kind)s”") if kind else _("The retired"),
        }[self.value("which")] % {"kind": kind}
        if self.meaning:
            return _("%(shown)s, those nearest to “%(q)s” first") % {"shown": shown, "q": self.meaning}
        if self.value("q"):
            shown = _("%(shown)s, with the words “%(q)s”") % {"shown": shown, "q": self.value("q")}
        first = _("the most important first") if self.value("order") else _("the newest first")
        return f"{shown}, {first}"


def _of_which(rows: QuerySet[Memory], which: str) -> QuerySet[Memory]:
    if which == "pinned":
        return rows.filter(pinned=True)
    if which == "retired":
        return rows.exclude(retired_because="")
    return rows.filter(superseded_by=None, retired_because="")
