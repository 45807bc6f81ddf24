"""What an archive says of a memory: the columns that its versions keep, whichever there are."""

import datetime
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import UUID

from django.db import models

from memories.bundle.marks import mark_of_facts
from memories.languages import DEFAULT, detected_language
from memories.memory_bullets import bullet_written, bullets_read
from memories.models import Memory, MemoryVersion
from teams.files import Version

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
