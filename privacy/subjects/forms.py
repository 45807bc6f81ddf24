"""Forms of subjects: what is known of a person, and the search in their list."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from config.invisible_characters import is_blank
from memories.forms.fields import Text
from privacy.models import IdentifierKind, SubjectKind
from privacy.models.subject import (
    MAX_IDENTIFIER_CHARACTERS,
    MAX_IDENTIFIERS,
    MAX_SUBJECT_NAME_CHARACTERS,
    MAX_SUBJECT_NOTE_CHARACTERS,
)
from privacy.subjects.services import Identifier, SubjectFacts
from privacy.subjects.spellings import fault_of
from teams.forms import validate_storable

LINES_PER_FIELD = {
    IdentifierKind.NAME: _("Other names"),
    IdentifierKind.EMAIL: _("E-mail addresses"),
    IdentifierKind.PHONE: _("Phone numbers"),
    IdentifierKind.IBAN: _("IBANs"),
    IdentifierKind.NATIONAL_ID: _("National identity numbers"),
    IdentifierKind.CUSTOMER_NUMBER: _("Customer numbers"),
    IdentifierKind.USERNAME: _("User names"),
    IdentifierKind.OTHER: _("Other words that identify the person"),
}
"""The fields of identifiers, by their kind; each takes one identifier per line."""


class SubjectForm(forms.Form):
    """What is known of a subject. `version` is the one that the page showed, 0 for a new subject."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, widget=forms.HiddenInput)
    name = forms.CharField(
        label=_("Name"),
        help_text=_("First and last name, as in “Ada Okafor”. Texts are searched for it."),
        max_length=MAX_SUBJECT_NAME_CHARACTERS,
        validators=[validate_storable],
    )
    kind = forms.ChoiceField(label=_("The person is a"), choices=SubjectKind.choices)
    note = Text(label=_("Note"), required=False, rows=2, max_length=MAX_SUBJECT_NOTE_CHARACTERS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = MAX_IDENTIFIERS * (MAX_IDENTIFIER_CHARACTERS + 2)
        for kind, label in LINES_PER_FIELD.items():
            self.fields[_field_of(kind)] = Text(
                label=label, help_text=_("One per line."), required=False, rows=2, max_length=longest
            )
        self.order_fields(["version", "name", "kind", *(_field_of(kind) for kind in LINES_PER_FIELD), "note"])

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if "name" in values and is_blank(values["name"]):
            self.add_error("name", _("Enter a name with visible characters."))
        elif "name" in values and (fault := fault_of("name", values["name"])):
            self.add_error("name", fault)
        total = 0
        for kind in LINES_PER_FIELD:
            lines = lines_of(values.get(_field_of(kind), ""))
            total += len(lines)
            for line in lines:
                fault = fault_of(kind.value, line)
                if len(line) > MAX_IDENTIFIER_CHARACTERS:
                    fault = f"At most {MAX_IDENTIFIER_CHARACTERS} characters a line."
                if fault:
                    self.add_error(_field_of(kind), f"“{line[:60]}”: {fault}")
        if total >= MAX_IDENTIFIERS:
            self.add_error(None, _("At most %(n)s identifiers. Remove some.") % {"n": MAX_IDENTIFIERS - 1})
        return values

    @property
    def facts(self) -> SubjectFacts:
        """The facts of a valid form."""
        values = self.cleaned_data
        identifiers = [
            Identifier(kind.value, line) for kind in LINES_PER_FIELD for line in lines_of(values[_field_of(kind)])
        ]
        return SubjectFacts(values["name"], values["kind"], values["note"], identifiers)

    @classmethod
    def initial_of(cls, facts: SubjectFacts) -> dict[str, Any]:
        """Return the initial values of the form for a subject; the field of names has those beside its own name."""
        lines: dict[str, list[str]] = {}
        for one in facts.identifiers:
            if (one.kind, one.value) != (IdentifierKind.NAME, facts.name):
                lines.setdefault(_field_of(IdentifierKind(one.kind)), []).append(one.value)
        texts = {name: "\n".join(values) for name, values in lines.items()}
        return {"name": facts.name, "kind": facts.kind, "note": facts.note, **texts}


def _field_of(kind: IdentifierKind) -> str:
    """Return the name of the field for identifiers of this kind; `name` is that of the subject's own name."""
    return "names" if kind == IdentifierKind.NAME else kind.value


def lines_of(text: str) -> list[str]:
    """Return the lines that are not blank, without white space around them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


class SubjectSearchForm(forms.Form):
    """The search for subjects. It is posted, so that no name is in an address."""

    q = forms.CharField(
        label=_("Name, e-mail, number"),
        max_length=MAX_IDENTIFIER_CHARACTERS,
        validators=[validate_storable],
        required=False,
    )
