"""The form in which admins set limits. Bytes are given in megabytes."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

MEGABYTE = 1_000_000
MOST = 10**9
BYTES = ("text_bytes_per_day", "record_bytes_per_day")


class LimitsForm(forms.Form):
    """The four limits; what is left empty is not set."""

    requests_under_way = forms.IntegerField(label=_("Requests at once"), required=False, min_value=0, max_value=MOST)
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"), required=False, min_value=0, max_value=MOST
    )
    text_bytes_per_day = forms.IntegerField(
        label=_("Texts per day, in megabytes"), required=False, min_value=0, max_value=MOST
    )
    record_bytes_per_day = forms.IntegerField(
        label=_("Records of contexts per day, in megabytes"), required=False, min_value=0, max_value=MOST
    )

    @classmethod
    def showing(cls, data: Any, limits: Mapping[str, int | None]) -> "LimitsForm":
        """Return a form that shows the limits as they are."""
        return cls(data, initial={name: _shown(name, limit) for name, limit in limits.items()})

    def limits(self) -> dict[str, int | None]:
        """Return what was entered, in bytes."""
        entered: dict[str, int | None] = self.cleaned_data
        return {name: value * MEGABYTE if value and name in BYTES else value for name, value in entered.items()}


def _shown(name: str, limit: int | None) -> int | None:
    """A limit under one megabyte is shown as one: 0 would be none."""
    return max(1, round(limit / MEGABYTE)) if limit and name in BYTES else limit
