"""What happens to a text in which a key or password is found, before it is stored: each team chooses.

Texts of agents are handled as the strictest of their teams has chosen, and texts of the organisation are refused.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from django.db import models
from django.utils.translation import gettext_lazy as _

from config.http.errors import Invalid
from config.invisible_characters import clean_text
from config.text_changes import current_text_changes
from teams.secret_scanning.recognition import FoundSecret, find_secrets

SHOWN_CHARACTERS = 40
"""The number of characters before a secret that an error repeats, so that its author finds the place."""


class SecretHandling(models.TextChoices):
    """The choices of a team, the strictest first."""

    REFUSE = "refuse", _("Refuse the text")
    MASK = "mask", _("Replace them and store the rest")
    KEEP = "keep", _("Store the text as it is")


class TextOwner(Protocol):
    """An agent, a team or another owner of texts, who knows how secrets in them are handled."""

    @property
    def secret_handling(self) -> str: ...


def strictest(choices: Iterable[str]) -> str:
    """Return the strictest of the choices, and the strictest that there is without any."""
    chosen = set(choices)
    return next((choice for choice in SecretHandling.values if choice in chosen), SecretHandling.REFUSE)


def storable_text(text: str, owner: TextOwner, field: str = "text") -> str:
    """Return the text as it is stored: without invisible characters, and without secrets unless the owner keeps them.

    The owner is asked only if there is a secret. Raises Invalid for `field` if the owner's texts with secrets are
    refused; the error names the kind and the place, not the secret.
    """
    text = clean_text(text)
    found = find_secrets(text)
    handling = owner.secret_handling if found else SecretHandling.KEEP
    if handling == SecretHandling.REFUSE:
        raise Invalid(field, _refusal(text, found), "secret")
    if handling == SecretHandling.MASK:
        current_text_changes().replaced_secrets += len(found)
        return _replaced(text, found)
    return text


def storable_value(value: Any, owner: TextOwner, field: str) -> Any:
    """Return a JSON value with each of its texts as it is stored; other values are returned as they are.

    A text under a name such as `password` is judged together with that name. Raises Invalid, as for a text.
    """
    if isinstance(value, str):
        return storable_text(value, owner, field)
    if isinstance(value, list):
        return [storable_value(item, owner, field) for item in value]
    if isinstance(value, dict):
        return {name: _storable_member(name, item, owner, field) for name, item in value.items()}
    return value


def _storable_member(name: str, value: Any, owner: TextOwner, field: str) -> Any:
    if not isinstance(value, str):
        return storable_value(value, owner, field)
    prefix = f"{name}: "
    return storable_text(prefix + value, owner, field).removeprefix(prefix)


def _replaced(text: str, found: list[FoundSecret]) -> str:
    parts, place = [], 0
    for secret in found:
        parts += [text[place : secret.start], f"[{secret.kind} removed]"]
        place = secret.end
    return "".join([*parts, text[place:]])


def _refusal(text: str, found: list[FoundSecret]) -> str:
    first = found[0]
    before = text[max(0, first.start - SHOWN_CHARACTERS) : first.start].lstrip()
    where = f"after “{before.strip()}”" if before.strip() else "at the beginning"
    line = text.count("\n", 0, first.start) + 1
    more = f" There are {len(found) - 1} more." if len(found) > 1 else ""
    return (
        f"Line {line} has what looks like a secret ({first.kind}), {where}.{more} Nothing was saved. Remove it, and "
        "write where it is kept instead. An admin of the team can change in its settings how secrets are handled."
    )
