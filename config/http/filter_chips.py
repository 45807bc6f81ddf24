"""The filters of a list that are set, each with the address of the list without it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.http import urlencode


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter that is set: its words, such as “Agent: Luna”, and the address of the list without it."""

    words: str
    address: str


def filter_chips(request: HttpRequest, form: forms.Form, phrases: Mapping[str, str] | None = None) -> list[FilterChip]:
    """Return a chip for each valid filter in the request's address, in the order of the form.

    `phrases` are the words of filters, by name, where “label: value” would not do.
    """
    asked = {name: value for name, value in request.GET.dict().items() if value and name != "cursor"}
    chips = []
    for name, field in form.fields.items():
        if name in asked and name not in form.errors:
            others = urlencode({key: value for key, value in asked.items() if key != name})
            words = (phrases or {}).get(name) or f"{field.label}: {_shown(field, asked[name])}"
            chips.append(FilterChip(words, f"{request.path}?{others}" if others else request.path))
    return chips


def _shown(field: Any, value: str) -> str:
    """Return the label of the value's choice, or the value."""
    choices = {str(key): str(label) for key, label in getattr(field, "choices", ())}
    return choices.get(value, value)
