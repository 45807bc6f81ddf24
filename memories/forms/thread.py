"""The form of a thread."""

from django import forms
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Line, Text
from memories.forms.kept import KeptForm
from memories.models import ThreadStatus


class ThreadForm(KeptForm):
    """What is going on, and how it stands."""

    title = Line(label=_("What is going on"), max_length=200)
    summary = Text(label=_("How it stands"), required=False)
    status = forms.ChoiceField(label=_("Status"), choices=ThreadStatus.choices, initial=ThreadStatus.ACTIVE)
