"""This module formats memories as bullets of a MEMORY.md and parses them, with all columns of a memory's version.

A bullet is `- [kind] text`; a comment above it holds the values that are not defaults.
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
from config.http.serializers import Moment
from config.invisible_characters import is_blank
from memories.archive.digests import value_digest
from memories.archive.memory_bullets import Bullet, format_bullet, parse_bullets
from memories.imports.base import ImportRefused
from memories.models import Memory, MemoryVersion
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.search.languages import DEFAULT, detected_language
from memories.services import MemoryFacts
from teams.origin import Origin
from teams.sensitivity import LEVEL_WORDS
from teams.versioned_text.versioned_file import Version

BULLET_COLUMNS = {"kind", "text", "superseded_by"}
"""Columns that the comment does not hold under their own names: they are in the bullet, or treated specially."""


@cache
def exported_columns() -> Mapping[str, "models.Field[Any, Any]"]:
    """Return the exported columns of a memory by name: the external id, text, origin and all columns of a version."""
    common = {field.name for field in Version._meta.fields} | {"owner_id"}  # noqa: SLF001 - a memory is in its owner's file
    kept = {field.name for field in MemoryVersion._meta.fields} - common  # noqa: SLF001
    kept |= {"external_id", "text", "origin"}
    return {field.name: field for field in Memory._meta.fields if field.name in kept}  # noqa: SLF001


def format_memory(memory: Memory) -> str:
    """Return the lines of a MEMORY.md for the memory: its comment and its bullet."""
    said = {"id": str(memory.id), "mark": memory_digest(memory), **_comment_values(memory)}
    if round_tripped_text(memory.kind, memory.text) != memory.text:
        said["text"] = memory.text  # a bullet cannot hold its white space
    return format_bullet(memory.kind, memory.text, said)


def memory_digest(memory: Memory) -> str:
    """Return the digest of all exported values of the memory but its origin, which no import changes."""
    values = {name: value for name, value in _comment_values(memory).items() if name != "origin"}
    return value_digest({**values, "kind": memory.kind, "text": memory.text})


def memory_values_digest(values: Mapping[str, Any], superseded_by: UUID | None) -> str:
    """Return the digest that a memory with these column values and this successor would have."""
    return memory_digest(Memory(**values, superseded_by_id=superseded_by))


def _comment_values(memory: Memory) -> dict[str, Any]:
    """Return the values for the comment above a memory's bullet, as JSON: those that differ from the defaults."""
    said = {
        name: memory.level.export_word if name == "sensitivity" else _to_json(getattr(memory, name))
        for name, column in exported_columns().items()
        if name not in BULLET_COLUMNS and getattr(memory, name) != default_of(column, memory.text)
    }
    return said | ({"superseded_by": str(memory.superseded_by_id)} if memory.superseded_by_id else {})


def default_of(column: "models.Field[Any, Any]", text: str) -> Any:
    """Return the value of a column that the comment does not name; for the language, it is detected by the text."""
    return (detected_language(text) or DEFAULT) if column.name == "language" else column.get_default()


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    return value


def round_tripped_text(kind: str, text: str) -> str:
    """Return the text as it is parsed back from its bullet."""
    return parse_bullets(format_bullet(kind, text, {})).bullets[0].text


def memory_summary(memory: Memory) -> str:
    """Return the memory as text for people: its kind and text, and its values that are not defaults."""
    beside = "".join(f"\n{name}: {value}" for name, value in _comment_values(memory).items() if name != "external_id")
    return f"[{memory.kind}] {memory.text}{beside}"


KIND = re.compile(r"[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMemory:
    """A memory parsed from an archive. `where` names its line; `id` is None and `mark` "" without a comment.

    `mark` is the digest of the memory when it was exported. `values` are by the columns of Memory, except
    `superseded_by`, which is the successor's id.
    """

    where: str
    id: UUID | None
    mark: str
    values: Mapping[str, Any]
    superseded_by: UUID | None = None


def iterate_memories(text: str, name: str) -> Iterator[ArchivedMemory]:
    """Yield the memories of a MEMORY.md. `name` is the file's name in error messages. Raises ImportRefused."""
    for bullet in parse_bullets(text).bullets:
        check_cpu()
        yield parse_memory(bullet, f"{name}, line {bullet.line}")


def parse_memory(bullet: Bullet, where: str) -> ArchivedMemory:
    """Return the memory of a bullet. `where` is its position in error messages. Raises ImportRefused."""
    said = dict(bullet.said)
    id_, superseded_by = _id(said.pop("id", None), where), _id(said.pop("superseded_by", None), where)
    mark, exact = said.pop("mark", ""), said.pop("text", None)
    kind, text = _kind(bullet, where), bullet.text
    if isinstance(exact, str) and round_tripped_text(kind, exact) == text:
        text = exact
    values = {**_defaults(text), **_values(said, where), "kind": kind, "text": _checked_text(text, bullet, where)}
    return ArchivedMemory(
        where=where, id=id_, mark=mark if isinstance(mark, str) else "", values=values, superseded_by=superseded_by
    )


def _defaults(text: str) -> dict[str, Any]:
    return {name: default_of(column, text) for name, column in exported_columns().items() if name not in BULLET_COLUMNS}


def _kind(bullet: Bullet, where: str) -> str:
    kind = bullet.kind.strip().lower()
    if not KIND.fullmatch(kind):
        raise ImportRefused(
            f"{where}: “{bullet.kind}” cannot be a kind; use 1 to 40 of the characters a-z, 0-9, _ and -."
        )
    return kind


def _checked_text(text: str, bullet: Bullet, where: str) -> str:
    if is_blank(text):
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
    known = {name: column for name, column in exported_columns().items() if name not in BULLET_COLUMNS}
    values = {}
    for name, value in said.items():
        if name not in known:
            raise ImportRefused(f"{where}: the comment above it says “{name}”. Known are: {', '.join(known)}.")
        if name == "sensitivity":
            if not isinstance(value, str) or value not in LEVEL_WORDS:
                raise ImportRefused(f"{where}: the sensitivity is none of {', '.join(LEVEL_WORDS)}. Correct it.")
            values[name] = int(LEVEL_WORDS[value])
        else:
            values[name] = _value(known[name], value, f"{where}, {name}")
    return values


def _value(column: "models.Field[Any, Any]", value: Any, where: str) -> Any:
    """Return the value in the type of the column. Raises ImportRefused."""
    if not _has_column_type(column, value):
        raise ImportRefused(f"{where}: this value is of the wrong kind. Correct the comment above the bullet.")
    try:
        if isinstance(column, models.DateTimeField):
            return Moment().run_validation(value)
        return column.clean(float(value) if isinstance(column, models.FloatField) else value, None)
    except (ValidationError, serializers.ValidationError, OverflowError) as error:
        reasons = error.messages if isinstance(error, ValidationError) else ["Use a moment like 2026-03-01T10:00:00Z."]
        raise ImportRefused(f"{where}: {' '.join(reasons)}") from None


def _has_column_type(column: "models.Field[Any, Any]", value: Any) -> bool:
    """Return whether the JSON value has the type of the column; true and false are no numbers."""
    if isinstance(column, models.BooleanField):
        return isinstance(value, bool)
    if isinstance(column, models.FloatField):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The memories of a MEMORY.md, the number of `repeated` bullets, and the numbers of lines that are no bullets.

    `ids` are the memory ids in the comments of an export, by external id.
    """

    memories: tuple[MemoryFacts, ...] = ()
    repeated: int = 0
    blank: tuple[int, ...] = ()
    headings: tuple[int, ...] = ()
    other: tuple[int, ...] = ()
    ids: Mapping[str, UUID] = field(default_factory=dict)


def parse_memory_file(text: str, name: str) -> MemoryFile:
    """Return the memories in a MEMORY.md. `name` is the file's name in error messages. Raises ImportRefused."""
    reading = parse_bullets(text)
    kept = [parse_memory(bullet, f"{name}, line {bullet.line}") for bullet in reading.bullets]
    once = {external_id_of(memory): memory for memory in kept}
    return MemoryFile(
        memories=tuple(_facts(memory, external_id) for external_id, memory in once.items()),
        repeated=len(kept) - len(once),
        blank=tuple(reading.blank),
        headings=tuple(reading.headings),
        other=tuple(reading.other),
        ids={external_id: memory.id for external_id, memory in once.items() if memory.id},
    )


def external_id_of(memory: ArchivedMemory) -> str:
    """Return the id by which a later import recognises the memory: its external id, its id, or a hash of its text."""
    if memory.values.get("external_id"):
        return str(memory.values["external_id"])
    if memory.id:
        return f"memory:{memory.id}"
    # The hash does not depend on the position in the file, so a repeated import adds only new memories.
    digest = hashlib.sha256(f"{memory.values['kind']}\n{memory.values['text']}".encode()).hexdigest()[:32]
    return f"workspace:{digest}"


def _facts(memory: ArchivedMemory, external_id: str) -> MemoryFacts:
    known = {field.name for field in fields(MemoryFacts)}
    values = {name: value for name, value in memory.values.items() if name in known}
    return MemoryFacts(**{**values, "external_id": external_id, "origin": Origin(memory.values["origin"])})
