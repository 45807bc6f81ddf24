"""The forms of people's accounts."""

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

valid_username = RegexValidator(
    r"\A[\w.@+-]+\Z", _("Use letters, digits and the characters . @ + - _ only, without spaces.")
)


class NewPersonForm(forms.Form):
    """A new account."""

    name = forms.CharField(label=_("Name"), help_text=_("As colleagues know the person."), max_length=120)
    username = forms.CharField(
        label=_("Username"),
        help_text=_("For signing in. It cannot be changed later."),
        max_length=60,
        validators=[valid_username],
    )
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Sees and may do everything, in all teams."),
        required=False,
    )


class PersonForm(forms.Form):
    """What admins may change about an account."""

    name = forms.CharField(label=_("Name"), max_length=120)
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Sees and may do everything, in all teams."),
        required=False,
    )
    is_active = forms.BooleanField(
        label=_("May sign in"),
        help_text=_("Who may not is signed out at once. What the person wrote stays, and so do the roles in teams."),
        required=False,
    )
