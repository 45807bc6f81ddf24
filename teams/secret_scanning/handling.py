"""What happens to a text in which a key or password is found, before it is stored: each team chooses.

Texts of agents are handled as the strictest of their teams has chosen, and texts of the organisation are refused.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, Protocol

from django.db import models
from django.utils.translation import gettext_lazy as _

from config.http.errors import Invalid
from config.invisible_characters import clean_text
from config.text_changes import current_text_changes
from teams.secret_scanning.passwords import names_secret
from teams.secret_scanning.scanner import FoundSecret, find_secrets

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


@dataclass(frozen=True, slots=True)
class RefusingOwner:
    """Who owns texts of the organisation, and those whose agent and team were deleted."""

    secret_handling: str = SecretHandling.REFUSE


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


def require_no_secret(text: str, owner: TextOwner, field: str) -> str:
    """Return an id or another text that is not changed when it is stored.

    Raises Invalid for `field` if it has a secret, unless the owner keeps them: without its secret, it would be another
    id.
    """
    found = find_secrets(text)
    if found and owner.secret_handling != SecretHandling.KEEP:
        raise Invalid(field, _refusal(text, found), "secret")
    return text


NAMING_MEMBERS = ("name", "key", "id", "field", "variable", "header", "label")
"""Members of an object that may name the value of another one, as in `{"name": "api_key", "value": "…"}`."""
NAMED_MEMBERS = frozenset({"value", "val", "content", "data", "default", "text"})
DESCRIBING_MEMBERS = frozenset(
    {"id", "name", "type", "kind", "user", "username", "owner", "description", "note", "hint", "status", "label", "url"}
    | {"title", "format", "pattern", "$ref"}  # of a JSON schema
    | {"file", "path", "host", "algorithm", "created", "created_at", "updated", "updated_at", "expires", "expires_at"}
)
"""Members of an object that describe a secret, and are none themselves: `{"api_key": {"owner": "…", "prod": "…"}}`."""


def storable_value(value: Any, owner: TextOwner, field: str) -> Any:
    """Return a JSON value with each of its texts, and each name in it, as it is stored; other values are unchanged.

    A text is judged together with the name of its member, and with a name of secrets around it: in
    `{"password": ["…"]}`, `{"api_key": {"prod": "…"}}` and `{"name": "api_key", "value": "…"}` it is a secret.
    Raises Invalid, as for a text.
    """
    return _JSONTexts(owner, field).stored(value)


@dataclass(frozen=True, slots=True)
class _JSONTexts:
    """The texts of a JSON value, by whose owner and for which field they are stored."""

    owner: TextOwner
    field: str

    def stored(self, value: Any, names: tuple[str, ...] = ()) -> Any:
        """Return the value as it is stored; `names` are its own and that of secrets around it."""
        if isinstance(value, str):
            return self._text(value, names)
        if isinstance(value, list):
            return [self.stored(item, names) for item in value]
        if isinstance(value, dict):
            return self._members(value, tuple(name for name in names if names_secret(name)))
        return value

    def _text(self, text: str, names: tuple[str, ...]) -> str:
        for name in names or ("",):
            prefix = f"{name}: " if name else ""
            text = storable_text(prefix + text, self.owner, self.field).removeprefix(prefix)
        return text

    def _members(self, members: Mapping[str, Any], around: tuple[str, ...]) -> dict[str, Any]:
        named = tuple(
            said for name in NAMING_MEMBERS if isinstance(said := members.get(name), str) and names_secret(said)
        )
        stored: dict[str, Any] = {}
        for given, value in members.items():
            name = self._name(given, stored)
            if given.lower() in DESCRIBING_MEMBERS:
                names: tuple[str, ...] = (name,)
            else:
                names = (name, *around, *(named if given.lower() in NAMED_MEMBERS else ()))
            stored[name] = self.stored(value, names)
        return stored

    def _name(self, given: str, taken: Collection[str]) -> str:
        """Return the name of a member as it is stored: another one if secrets in several names were replaced alike."""
        name = storable_text(given, self.owner, self.field)
        others = (f"{name} {number}" for number in count(2))
        return next(one for one in chain([name], others) if one not in taken)


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
