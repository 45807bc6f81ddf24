"""These forms create files of the organisation and change their titles."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from config.http.serializers import SEVERAL_LINES
from config.invisible_characters import is_blank
from teams.forms import validate_storable
from teams.organisation.models import MAX_TITLE_CHARACTERS
from teams.slugs import MAX_SLUG_CHARACTERS, derive_slug, valid_slug


def validate_title(title: str) -> None:
    """Raise ValidationError if the title cannot be stored, has no visible character, or several lines."""
    validate_storable(title)
    if is_blank(title):
        raise forms.ValidationError(_("Enter a title with visible characters."), code="blank")
    if SEVERAL_LINES.search(title):
        raise forms.ValidationError(_("Use one line."), code="several_lines")


class OrganisationFileForm(forms.Form):
    """This form creates a file with a title and a key, which is made from the title if it is empty."""

    title = forms.CharField(
        label=_("Title"),
        help_text=_("What it is about, e.g. “Brand voice”"),
        max_length=MAX_TITLE_CHARACTERS,
        validators=[validate_title],
    )
    key = forms.CharField(
        label=_("Key (used in URLs and the API)"),
        help_text=_(
            "Lower-case letters, digits and hyphens. Default: derived from the title. It cannot be changed and is not "
            "encrypted, so let it say nothing of what is confidential."
        ),
        max_length=MAX_SLUG_CHARACTERS,
        required=False,
        validators=[valid_slug],
    )

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if not values.get("key") and "key" not in self.errors and "title" in values:
            values["key"] = derive_slug(values["title"])
            if not values["key"]:
                self.add_error("key", _("No key can be derived from this title. Enter one."))
        return values


class OrganisationFileSettingsForm(forms.Form):
    """This form changes the title of a file. `version` is the version of the file that the page showed."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_CHARACTERS, validators=[validate_title])
