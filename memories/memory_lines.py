"""MEMORY.md: one memory per bullet `- [kind] text`, its further lines indented below it."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent

from memories.importing import ImportRefused
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.services import MemoryFacts

BULLET = re.compile(r"- \[([^\]]*)\](?:[ \t]+(.*))?")
KIND = re.compile(r"[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class MemoryLines:
    """The memories of a MEMORY.md, and what was passed over: `repeated` bullets, and the numbers of other lines."""

    memories: tuple[MemoryFacts, ...] = ()
    repeated: int = 0
    blank: tuple[int, ...] = ()
    headings: tuple[int, ...] = ()
    other: tuple[int, ...] = ()


@dataclass(slots=True)
class _Bullet:
    line: int
    kind: str
    first: str
    further: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reading:
    bullets: list[_Bullet] = field(default_factory=list)
    is_open: bool = False
    waiting: list[int] = field(default_factory=list)  # blank lines that belong to the bullet if it goes on after them
    blank: list[int] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def memory_lines(text: str, name: str) -> MemoryLines:
    """The memories in the text. `name` is what messages call the file. Raises ImportRefused."""
    reading = _Reading()
    for number, line in enumerate(text.split("\n"), 1):
        _read(reading, number, line.removesuffix("\r"))
    reading.blank += reading.waiting
    if text.endswith("\n") or not text:
        reading.blank.pop()  # what follows the last line end is no line
    facts = [_facts(bullet, name) for bullet in reading.bullets]
    once = {fact.external_id: fact for fact in facts}
    return MemoryLines(
        memories=tuple(once.values()),
        repeated=len(facts) - len(once),
        blank=tuple(reading.blank),
        headings=tuple(reading.headings),
        other=tuple(reading.other),
    )


def _read(reading: _Reading, number: int, line: str) -> None:
    if not line.strip():
        reading.waiting.append(number)
    elif reading.is_open and line[0] in " \t":
        reading.bullets[-1].further += [""] * len(reading.waiting) + [line]
        reading.waiting.clear()
    else:
        reading.blank += reading.waiting
        reading.waiting.clear()
        _read_outside(reading, number, line)


def _read_outside(reading: _Reading, number: int, line: str) -> None:
    match = BULLET.fullmatch(line)
    reading.is_open = match is not None
    if match:
        reading.bullets.append(_Bullet(number, match[1], match[2] or ""))
    elif line.startswith("#"):
        reading.headings.append(number)
    else:
        reading.other.append(number)


def _facts(bullet: _Bullet, name: str) -> MemoryFacts:
    where = f"{name}, line {bullet.line}"
    kind = bullet.kind.strip().lower()
    text = "\n".join(_text_lines(bullet)).strip()
    if not KIND.fullmatch(kind):
        raise ImportRefused(
            f"{where}: “{bullet.kind}” cannot be a kind; use 1 to 40 of the characters a-z, 0-9, _ and -."
        )
    if not text:
        raise ImportRefused(f"{where}: there is no text after [{bullet.kind}]; write one or remove the line.")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ImportRefused(
            f"{where}: this memory has {len(text):,} characters of at most {MAX_TEXT_CHARACTERS:,}; split it in two."
        )
    # The same statement gets the same id wherever it stands in the file, so importing again adds only what is new.
    digest = hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:32]
    return MemoryFacts(kind=kind, text=text, external_id=f"workspace:{digest}")


def _text_lines(bullet: _Bullet) -> Iterator[str]:
    yield bullet.first.rstrip()
    yield from dedent("\n".join(bullet.further)).split("\n") if bullet.further else ()
