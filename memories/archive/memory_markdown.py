"""What an archive says of a memory: the columns that its versions keep, whichever there are.

Reading memories from the bullets of a MEMORY.md, with all that the comments above them say.

MEMORY.md: one memory per bullet `- [kind] text`, its further lines indented below it.
"""

import datetime
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from config.http.cpu_budget import check_cpu
from config.http.fields import Moment
from memories.archive.digests import mark_of_facts
from memories.archive.memory_bullets import Bullet, bullet_written, bullets_read
from memories.imports.base import ImportRefused
from memories.models import Memory, MemoryVersion
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.search.languages import DEFAULT, detected_language
from memories.services import MemoryFacts
from teams.versioned_text.versioned_file import Version

SHOWN = {"kind", "text", "superseded_by"}
"""What is written in ways of its own."""


@cache
def columns() -> Mapping[str, "models.Field[Any, Any]"]:
    """The columns of a memory that are exported, by name: its external id, and what each version of it keeps."""
    kept = {field.name for field in MemoryVersion._meta.fields} - {field.name for field in Version._meta.fields}  # noqa: SLF001
    kept |= {"external_id", "text"}
    return {field.name: field for field in Memory._meta.fields if field.name in kept}  # noqa: SLF001


def memory_written(memory: Memory) -> str:
    """The lines of a MEMORY.md for the memory."""
    said = {"id": str(memory.id), "mark": mark_of_memory(memory), **_said(memory)}
    if readable(memory.kind, memory.text) != memory.text:
        said["text"] = memory.text  # it has white space that no bullet can hold
    return bullet_written(memory.kind, memory.text, said)


def mark_of_memory(memory: Memory) -> str:
    """The mark of all that is exported of the memory."""
    return mark_of_facts({**_said(memory), "kind": memory.kind, "text": memory.text})


def mark_of_values(values: Mapping[str, Any], superseded_by: UUID | None) -> str:
    """The mark that a memory with these values has."""
    return mark_of_memory(Memory(**values, superseded_by_id=superseded_by))


def _said(memory: Memory) -> dict[str, Any]:
    """What the bullet does not say, as JSON, where it is not what it is by default."""
    said = {
        name: _json(getattr(memory, name))
        for name, column in columns().items()
        if name not in SHOWN and getattr(memory, name) != default_of(column, memory.text)
    }
    return said | ({"superseded_by": str(memory.superseded_by_id)} if memory.superseded_by_id else {})


def default_of(column: "models.Field[Any, Any]", text: str) -> Any:
    """What the column holds where nothing is said of it: a language is the one that the text tells."""
    return (detected_language(text) or DEFAULT) if column.name == "language" else column.get_default()


def _json(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    return value


def readable(kind: str, text: str) -> str:
    """The text as it is read back from its bullet."""
    return bullets_read(bullet_written(kind, text, {})).bullets[0].text


def memory_said(memory: Memory) -> str:
    """The memory as people read it: its kind and text, and what else is unusual about it."""
    beside = "".join(f"\n{name}: {value}" for name, value in _said(memory).items() if name != "external_id")
    return f"[{memory.kind}] {memory.text}{beside}"


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


@dataclass(frozen=True, slots=True)
class MemoryLines:
    """The memories of a MEMORY.md, and what was passed over: `repeated` bullets, and the numbers of other lines.

    `ids` are those that an export wrote above the bullets, by the external ids.
    """

    memories: tuple[MemoryFacts, ...] = ()
    repeated: int = 0
    blank: tuple[int, ...] = ()
    headings: tuple[int, ...] = ()
    other: tuple[int, ...] = ()
    ids: Mapping[str, UUID] = field(default_factory=dict)


def memory_lines(text: str, name: str) -> MemoryLines:
    """The memories in the text. `name` is what messages call the file. Raises ImportRefused."""
    reading = bullets_read(text)
    kept = [memory_read(bullet, f"{name}, line {bullet.line}") for bullet in reading.bullets]
    once = {external_id_of(memory): memory for memory in kept}
    return MemoryLines(
        memories=tuple(_facts(memory, external_id) for external_id, memory in once.items()),
        repeated=len(kept) - len(once),
        blank=tuple(reading.blank),
        headings=tuple(reading.headings),
        other=tuple(reading.other),
        ids={external_id: memory.id for external_id, memory in once.items() if memory.id},
    )


def external_id_of(memory: KeptMemory) -> str:
    """By what a memory is known again when it comes in once more: its id elsewhere, or what it says."""
    if memory.values.get("external_id"):
        return str(memory.values["external_id"])
    if memory.id:
        return f"memory:{memory.id}"
    # The same statement gets the same id wherever it stands in the file, so importing again adds only what is new.
    digest = hashlib.sha256(f"{memory.values['kind']}\n{memory.values['text']}".encode()).hexdigest()[:32]
    return f"workspace:{digest}"


def _facts(memory: KeptMemory, external_id: str) -> MemoryFacts:
    known = {field.name for field in fields(MemoryFacts)}
    values = {name: value for name, value in memory.values.items() if name in known}
    return MemoryFacts(**{**values, "external_id": external_id})
