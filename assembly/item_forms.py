"""Which items of a context are listed."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assembly.recorded import Recorded
from teams.forms import storable

MAX_WORDS_CHARACTERS = 200


class ItemFilterForm(forms.Form):
    """By what became of them, by section, by reason and by words; the choices are what the context has."""

    which = forms.ChoiceField(
        label=_("Show"),
        required=False,
        choices=[("", _("All that was considered")), ("in", _("What is in")), ("out", _("What was left out"))],
    )
    section = forms.ChoiceField(label=_("Section"), required=False)
    code = forms.ChoiceField(label=_("Outcome"), required=False)
    q = forms.CharField(
        label=_("Words in it"), required=False, max_length=MAX_WORDS_CHARACTERS, validators=[storable], strip=True
    )

    def __init__(self, *args: Any, told: Recorded, codes: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sections = [(section.key, section.label) for section in told.sections if section.considered]
        self.fields["section"].choices = [("", _("All sections")), *sections]  # type: ignore[attr-defined]
        self.fields["code"].choices = [("", _("All outcomes")), *codes.items()]  # type: ignore[attr-defined]
