"""The form that brings back an old version."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from teams.files import MAX_NOTE_CHARACTERS
from teams.forms import storable

MAX_OWN_CHARACTERS = MAX_NOTE_CHARACTERS - 60
"""Of what a person adds to the note: before it stands which version was restored."""


class RestoreForm(forms.Form):
    """The version that was the newest when the page was made, and what the person says about bringing back another."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    note = forms.CharField(
        label=gettext_lazy("Why?"),
        help_text=gettext_lazy("One line for the history."),
        required=False,
        max_length=MAX_OWN_CHARACTERS,
        validators=[storable],
    )

    def __init__(self, data: Any = None, *, number: int, **kwargs: Any) -> None:
        # Two of them may be on one page, so their fields need ids of their own.
        super().__init__(data, auto_id=f"id_{number}_%s", **kwargs)
        self.number = number

    @property
    def whole_note(self) -> str:
        """The note of the new version: which one was restored, and the person's own words."""
        restored = _("Restored version %(number)s") % {"number": self.number}
        own = " ".join(self.cleaned_data["note"].split())
        return f"{restored}: {own}" if own else restored
