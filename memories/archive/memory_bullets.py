"""This module parses and formats the lines of a MEMORY.md: bullets `- [kind] text`, whose further lines are indented.

A comment of JSON on the line above a bullet holds its other values: `<!-- {"id":"0195…","salience":0.9} -->`.
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
    """A bullet of a MEMORY.md, with its line number and the values of the comment above it (`said`)."""

    line: int
    kind: str
    first: str
    said: Mapping[str, Any] = field(default_factory=dict)
    further: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the bullet, without its indentation."""
        return "\n".join(self._lines()).strip()

    def _lines(self) -> Iterator[str]:
        yield self.first.rstrip()
        yield from dedent("\n".join(self.further)).split("\n") if self.further else ()


@dataclass(slots=True)
class BulletParser:
    """The result of parsing a MEMORY.md: its bullets, and the numbers of the lines that are no bullets or comments."""

    bullets: list[Bullet] = field(default_factory=list)
    said: Mapping[str, Any] = field(default_factory=dict)  # values of the comment above the next bullet
    is_open: bool = False
    waiting: list[int] = field(default_factory=list)  # blank lines, part of the bullet if it continues after them
    blank: list[int] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def parse_bullets(text: str) -> BulletParser:
    """Return the bullets and other lines of a MEMORY.md."""
    reading = BulletParser()
    for number, line in enumerate(text.split("\n"), 1):
        check_cpu()
        _parse_line(reading, number, line.removesuffix("\r"))
    reading.blank += reading.waiting
    if text.endswith("\n") or not text:
        reading.blank.pop()  # the text after the last line end is no line
    return reading


def format_bullet(kind: str, text: str, said: Mapping[str, Any]) -> str:
    """Return the comment and the bullet of a memory; parsing them gives the same text but for outer white space."""
    first, *further = text.split("\n")
    lines = [f"- [{kind}] {first}", *(f"  {line}" if line else "" for line in further)]
    return f"{_format_comment(said)}\n" + "\n".join(lines) + "\n"


def _format_comment(said: Mapping[str, Any]) -> str:
    # The comment must not contain “-->”, and must stay on one line.
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
    """Return the JSON object of a comment line `<!-- {…} -->`; None for any other line."""
    match = COMMENT.fullmatch(line)
    try:
        said = json.loads(match[1], parse_constant=_refuse_constant) if match else None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
