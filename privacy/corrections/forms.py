"""The form of a correction: what is wrong, what is right, and why."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from config.http.errors import Invalid
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.services import valid_correction
from privacy.models import IdentifierKind
from privacy.models.correction import MAX_CORRECTION_REASON_CHARACTERS
from privacy.models.subject import MAX_IDENTIFIER_CHARACTERS
from teams.forms import validate_storable


class CorrectionForm(forms.Form):
    """A wrong value, the right one, and a reason, which only the correction itself needs."""

    kind = forms.ChoiceField(
        label=_("What is wrong"),
        choices=[
            (value, _("Another word or an address") if value == IdentifierKind.OTHER else label)
            for value, label in IdentifierKind.choices
        ],
        help_text=_("It is found in every usual spelling."),
    )
    wrong = forms.CharField(
        label=_("Wrong value"), max_length=MAX_IDENTIFIER_CHARACTERS, validators=[validate_storable]
    )
    right = forms.CharField(
        label=_("Right value"), max_length=MAX_IDENTIFIER_CHARACTERS, validators=[validate_storable]
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_CORRECTION_REASON_CHARACTERS,
        help_text=_("It is in the history of each corrected text."),
        validators=[validate_storable],
    )

    value: ValueCorrection
    """The correction of a valid form."""

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if {"kind", "wrong", "right"} <= values.keys():
            try:
                self.value = valid_correction(kind=values["kind"], wrong=values["wrong"], right=values["right"])
            except Invalid as refused:
                for name in refused.extra["errors"]:
                    self.add_error(name, refused.detail)
        return values
