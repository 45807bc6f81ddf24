"""The box in which somebody says what is missing."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assembly.whynot.finding import MAX_CHARACTERS


class WhyNotForm(forms.Form):
    """Words, or what was picked: a ref, and its section where it stands in several."""

    q = forms.CharField(
        label=_("What do you miss?"),
        help_text=_(
            "A name or a few words of it: a file, a memory, a day, an event, a person. Its reference works, too."
        ),
        max_length=MAX_CHARACTERS,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    ref = forms.CharField(max_length=MAX_CHARACTERS, required=False, widget=forms.HiddenInput)
    section = forms.CharField(max_length=MAX_CHARACTERS, required=False, widget=forms.HiddenInput)

    @property
    def asks(self) -> bool:
        """Whether it says what is meant."""
        return self.is_valid() and any(self.cleaned_data[name].strip() for name in ("q", "ref"))
