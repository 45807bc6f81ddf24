"""The forms of people's accounts."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from teams.models import Team

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
    """Changes of an account by admins. When the only admin of teams is switched off, `without_admin` asks of each."""

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
    without_admin = forms.TypedMultipleChoiceField(
        coerce=UUID,
        label=_("Teams that will have no admin"),
        help_text=_(
            "The person is the only admin of these teams. Make somebody else an admin of each first, or tick it: then "
            "only admins of the organisation can manage it, until they name an admin."
        ),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *given: Any, administered_alone: Sequence[Team] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        if self.is_bound and administered_alone and not self.data.get("is_active"):
            self.fields["without_admin"].choices = [(str(team.id), team.name) for team in administered_alone]  # type: ignore[attr-defined]
        else:
            del self.fields["without_admin"]
