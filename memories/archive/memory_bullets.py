"""The lines of a MEMORY.md: bullets `- [kind] text` with their further lines indented, and what stands around them.

A comment of JSON on the line above a bullet says what the bullet cannot: `<!-- {"id":"0195…","salience":0.9} -->`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from config.http.cpu_budget import check_cpu

BULLET = re.compile(r"- \[([^\]]*)\](?:[ \t]+(.*))?")
COMMENT = re.compile(r"<!-- (\{.*\}) -->")


@dataclass(slots=True)
class Bullet:
    """A bullet with the number of its line, and what the comment above it says."""

    line: int
    kind: str
    first: str
    said: Mapping[str, Any] = field(default_factory=dict)
    further: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its lines without what they are indented by."""
        return "\n".join(self._lines()).strip()

    def _lines(self) -> Iterator[str]:
        yield self.first.rstrip()
        yield from dedent("\n".join(self.further)).split("\n") if self.further else ()


@dataclass(slots=True)
class BulletParser:
    """The bullets of a text, and the numbers of all other lines that are no comments."""

    bullets: list[Bullet] = field(default_factory=list)
    said: Mapping[str, Any] = field(default_factory=dict)  # by the comment that the next bullet belongs to
    is_open: bool = False
    waiting: list[int] = field(default_factory=list)  # blank lines that belong to the bullet if it goes on after them
    blank: list[int] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def parse_bullets(text: str) -> BulletParser:
    """What the text consists of."""
    reading = BulletParser()
    for number, line in enumerate(text.split("\n"), 1):
        check_cpu()
        _parse_line(reading, number, line.removesuffix("\r"))
    reading.blank += reading.waiting
    if text.endswith("\n") or not text:
        reading.blank.pop()  # what follows the last line end is no line
    return reading


def format_bullet(kind: str, text: str, said: Mapping[str, Any]) -> str:
    """The comment and the bullet, which read back as they are but for white space that no bullet can hold."""
    first, *further = text.split("\n")
    lines = [f"- [{kind}] {first}", *(f"  {line}" if line else "" for line in further)]
    return f"{_format_comment(said)}\n" + "\n".join(lines) + "\n"


def _format_comment(said: Mapping[str, Any]) -> str:
    # A comment must not hold what would end it, and stays one line whatever lines its texts have.
    plain = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"<!-- {plain.replace('>', chr(92) + 'u003e')} -->"


def _parse_line(reading: BulletParser, number: int, line: str) -> None:
    if not line.strip():
        reading.waiting.append(number)
    elif reading.is_open and line[0] in " \t":
        reading.bullets[-1].further += [""] * len(reading.waiting) + [line]
        reading.waiting.clear()
    else:
        reading.blank += reading.waiting
        reading.waiting.clear()
        _parse_line_outside(reading, number, line)


def _parse_line_outside(reading: BulletParser, number: int, line: str) -> None:
    match, said = BULLET.fullmatch(line), _parse_comment(line)
    reading.is_open = match is not None
    if match:
        reading.bullets.append(Bullet(number, match[1], match[2] or "", reading.said))
        reading.said = {}
    elif said is not None:
        reading.said = said
    elif line.startswith("#"):
        reading.headings.append(number)
    else:
        reading.other.append(number)


def _parse_comment(line: str) -> Mapping[str, Any] | None:
    """What a comment says; None for a line that is none of ours."""
    match = COMMENT.fullmatch(line)
    try:
        said = json.loads(match[1], parse_constant=_refuse_constant) if match else None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
