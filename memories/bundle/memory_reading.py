"""Reading memories from the bullets of a MEMORY.md, with all that the comments above them say."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from config.http.cpu_budget import check_cpu
from config.http.fields import Moment
from memories.bundle.memory_values import SHOWN, columns, default_of, readable
from memories.importing import ImportRefused
from memories.memory_bullets import Bullet, bullets_read
from memories.models.memory import MAX_TEXT_CHARACTERS

KIND = re.compile(r"[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMemory:
    """A memory of an archive. `where` is its line; `id` and `mark` are None and "" where a person wrote the bullet.

    `values` are by the columns of Memory, without the one that superseded it, which `superseded_by` names.
    """

    where: str
    id: UUID | None
    mark: str
    values: Mapping[str, Any]
    superseded_by: UUID | None = None


def memories_in(text: str, name: str) -> Iterator[KeptMemory]:
    """The memories in a MEMORY.md. `name` is what messages call it. Raises ImportRefused."""
    for bullet in bullets_read(text).bullets:
        check_cpu()
        yield memory_read(bullet, f"{name}, line {bullet.line}")


def memory_read(bullet: Bullet, where: str) -> KeptMemory:
    """The memory of a bullet. `where` is what messages call it. Raises ImportRefused."""
    said = dict(bullet.said)
    id_, superseded_by = _id(said.pop("id", None), where), _id(said.pop("superseded_by", None), where)
    mark, exact = said.pop("mark", ""), said.pop("text", None)
    kind, text = _kind(bullet, where), bullet.text
    if isinstance(exact, str) and readable(kind, exact) == text:
        text = exact
    values = {**_defaults(text), **_values(said, where), "kind": kind, "text": _checked(text, bullet, where)}
    return KeptMemory(
        where=where, id=id_, mark=mark if isinstance(mark, str) else "", values=values, superseded_by=superseded_by
    )


def _defaults(text: str) -> dict[str, Any]:
    return {name: default_of(column, text) for name, column in columns().items() if name not in SHOWN}


def _kind(bullet: Bullet, where: str) -> str:
    kind = bullet.kind.strip().lower()
    if not KIND.fullmatch(kind):
        raise ImportRefused(
            f"{where}: “{bullet.kind}” cannot be a kind; use 1 to 40 of the characters a-z, 0-9, _ and -."
        )
    return kind


def _checked(text: str, bullet: Bullet, where: str) -> str:
    if not text.strip():
        raise ImportRefused(f"{where}: there is no text after [{bullet.kind}]; write one or remove the line.")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ImportRefused(
            f"{where}: this memory has {len(text):,} characters of at most {MAX_TEXT_CHARACTERS:,}; split it in two."
        )
    if "\0" in text:
        raise ImportRefused(f"{where}: there is a NUL character in the text; remove it and import again.")
    return text


def _id(said: Any, where: str) -> UUID | None:
    try:
        return None if said is None else UUID(str(said))
    except ValueError:
        raise ImportRefused(f"{where}: the comment above it names no id; remove the comment, or correct it.") from None


def _values(said: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = {name: column for name, column in columns().items() if name not in SHOWN}
    values = {}
    for name, value in said.items():
        if name not in known:
            raise ImportRefused(f"{where}: the comment above it says “{name}”. Known are: {', '.join(known)}.")
        values[name] = _value(known[name], value, f"{where}, {name}")
    return values


def _value(column: "models.Field[Any, Any]", value: Any, where: str) -> Any:
    """The value as the column keeps it. Raises ImportRefused."""
    if not _is_of_kind(column, value):
        raise ImportRefused(f"{where}: this value is of the wrong kind. Correct the comment above the bullet.")
    try:
        if isinstance(column, models.DateTimeField):
            return Moment().run_validation(value)
        return column.clean(float(value) if isinstance(column, models.FloatField) else value, None)
    except (ValidationError, serializers.ValidationError, OverflowError) as error:
        reasons = error.messages if isinstance(error, ValidationError) else ["Use a moment like 2026-03-01T10:00:00Z."]
        raise ImportRefused(f"{where}: {' '.join(reasons)}") from None


def _is_of_kind(column: "models.Field[Any, Any]", value: Any) -> bool:
    """Whether JSON gave what the column holds: JSON's true is no number."""
    if isinstance(column, models.BooleanField):
        return isinstance(value, bool)
    if isinstance(column, models.FloatField):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)
