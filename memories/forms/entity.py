"""The form of an entity."""

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Line, Lines, Properties
from memories.forms.kept import KeptForm

valid_type = RegexValidator(
    r"\A[A-Za-z0-9_.:-]{1,60}\Z", _("Use one word of letters, digits and _ . : - as in person or works_on.")
)


class EntityForm(KeptForm):
    """A name, what it stands for, and how it is called besides."""

    name = Line(label=_("Name"), max_length=200)
    type = Line(
        label=_("Type"),
        help_text=_("One word: person, project, place, service …"),
        max_length=60,
        validators=[valid_type],
    )
    aliases = Lines(
        label=_("Other names"),
        help_text=_("One on each line. A question may use any of them."),
        longest=200,
        required=False,
    )
    properties = Properties(
        label=_("Properties"), help_text=_("One on each line, as in “role: stage manager”."), required=False
    )
    salience = forms.FloatField(
        label=_("Importance"),
        help_text=_("From 0 to 1. Important entities are told first and drawn larger."),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
