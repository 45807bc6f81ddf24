"""The forms of erasures and legal holds."""

from django import forms
from django.utils.translation import gettext_lazy as _

from privacy.models.erasure import MAX_ERASURE_REASON_CHARACTERS


class ErasureForm(forms.Form):
    """Why a subject is erased, the number of linked texts that the admin has seen, and the confirmation."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_ERASURE_REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("It stays in the report. Write it without the name of the person."),
    )
    confirmed = forms.IntegerField(
        label=_("Number of linked texts"),
        min_value=0,
        help_text=_("Type it from above, to confirm that you have read it."),
    )


class HoldForm(forms.Form):
    """Why nothing of a subject may be erased."""

    reason = forms.CharField(
        label=_("Reason"), max_length=MAX_ERASURE_REASON_CHARACTERS, widget=forms.Textarea(attrs={"rows": 2})
    )
