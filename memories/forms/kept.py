"""What the forms of all things that an agent keeps have in common."""

from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.utils.translation import gettext as _

from agents.models import Agent
from config.http.errors import DossierError
from memories.models.kept import Kept

LATEST = 2**31 - 1


class VersionForm(forms.Form):
    """The version that a change was made from."""

    version = forms.IntegerField(min_value=0, max_value=LATEST, widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class Difference:
    """What a field holds now that somebody else saved, as text."""

    label: str
    text: str


class StoredForm(VersionForm):
    """What a thing says. Its fields have the names of the model's; `version` is 0 for a new thing."""

    def __init__(self, *args: Any, stored: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = stored
        self.initial = {"version": 0, **self.initial} if stored is None else self.said_by(stored)

    def said_by(self, thing: Any) -> dict[str, Any]:
        """The values of the thing by field."""
        return {name: getattr(thing, name) for name in self.fields if hasattr(thing, name)}

    def refused(self, error: DossierError) -> None:
        """Note beside the fields what the service did not accept."""
        errors = error.extra.get("errors") or {"": [{"message": error.detail}]}
        for name, faults in errors.items():
            field = name.partition(".")[0]
            for fault in faults:
                self.add_error(field if field in self.fields else None, fault["message"])

    def based_on(self, current: Any) -> Self:
        """The same form with what was typed, now made from the current version."""
        data = self.data.copy()  # type: ignore[attr-defined]
        data["version"] = str(current.version)
        return self.filled_with(data, current)

    def filled_with(self, data: Any, stored: Any) -> Self:
        """A form like this one with other data."""
        return type(self)(data, stored=stored)

    def differences(self) -> list[Difference]:
        """The fields in which the stored thing says something else than what was typed."""
        assert self.stored is not None  # noqa: S101 - only a stored thing can have changed
        said = self.said_by(self.stored)
        return [
            Difference(str(bound.label), text)
            for bound in self.visible_fields()
            if bound.name in said
            and (text := _plain(bound.field.prepare_value(said[bound.name]))) != _plain(bound.value())
        ]


class KeptForm(StoredForm):
    """What a thing of an agent says."""

    def __init__(self, *args: Any, agent: Agent, stored: Kept | None = None, **kwargs: Any) -> None:
        super().__init__(*args, stored=stored, **kwargs)
        self.agent = agent

    @property
    def facts(self) -> dict[str, Any]:
        """What a valid form says of the thing, by the names of the model's fields."""
        return {name: value for name, value in self.cleaned_data.items() if name != "version"}

    def filled_with(self, data: Any, stored: Any) -> Self:
        return type(self)(data, agent=self.agent, stored=stored)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    text = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return text.replace("\r\n", "\n").strip()
