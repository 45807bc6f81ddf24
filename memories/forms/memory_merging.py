"""The form by which memories are merged: which one stays, and what it says then."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memories.forms.fields import Text
from memories.models import Memory
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.services import Merging


def ids_of(values: Sequence[str]) -> list[UUID]:
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
        self.initial = {"keep": str(memories[0].id) if memories else "", "seen": seen_of(memories)}

    def clean_seen(self) -> dict[UUID, int]:
        """The versions by id."""
        try:
            pairs = [one.split("@") for one in self.cleaned_data["seen"].split()]
            return {UUID(id_): int(version) for id_, version in pairs}
        except ValueError:
            raise ValidationError(_("Choose the memories anew: this page was changed on its way.")) from None

    def merging(self) -> Merging:
        """What the valid form wants to be done."""
        text = self.cleaned_data["text"]
        return Merging(UUID(self.cleaned_data["keep"]), self.cleaned_data["seen"], text if text.strip() else None)


def seen_of(memories: Sequence[Memory]) -> str:
    """The versions that a person sees, for the form to carry."""
    return " ".join(f"{memory.id}@{memory.version}" for memory in memories)
