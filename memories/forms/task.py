"""The forms of a task stack."""

from django import forms
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Text


class GoalForm(forms.Form):
    """A new goal on a stack."""

    goal = Text(label=_("What is to be done"), rows=3)


class ResultForm(forms.Form):
    """What came out of the goal `frame`, which the person saw as the current one."""

    frame = forms.UUIDField(widget=forms.HiddenInput)
    result = Text(label=_("What came out"), help_text=_("In short: what the goal above needs to know."), required=False)
