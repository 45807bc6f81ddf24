"""The form of a new profile."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assembly.profiles.documents import MAX_NAME_CHARACTERS
from teams.forms import validate_storable
from teams.models import valid_slug
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS


class ProfileForm(forms.Form):
    """The form of a new profile: its name and text. The service validates the text."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_("Lower-case letters, digits and hyphens. Requests use this name; it cannot be changed."),
        max_length=MAX_NAME_CHARACTERS,
        validators=[valid_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    content = forms.CharField(
        label=_("Text"),
        max_length=MAX_FILE_CHARACTERS,
        validators=[validate_storable],
        strip=False,
    )

    def clean_content(self) -> str:
        text: str = self.cleaned_data["content"]
        return text.replace("\r\n", "\n")
