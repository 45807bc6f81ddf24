"""MEMORY.md: one memory per bullet `- [kind] text`, its further lines indented below it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from uuid import UUID

from memories.bundle.memory_reading import KeptMemory, memory_read
from memories.memory_bullets import bullets_read
from memories.services import MemoryFacts


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
