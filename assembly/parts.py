"""What is to be read for one assembly, part after part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from django.db import OperationalError
from msgspec import Struct

from assembly.engine.profile import Section
from config.http.statements import Rows, Statement

LEAST_FOR_REQUIRED = 0.1
"""Seconds, for a source of what is never cut: a busy machine is no reason to be silent about who the agent is."""


class Part(Struct, frozen=True, eq=False):
    """Something to be read, and the sources that get nothing without it."""

    sources: tuple[str, ...]
    read: Callable[[], None]
    least: float = 0.0
    """Seconds that it may take in any case."""


class Sendable(Struct, frozen=True, eq=False):
    """What one statement reads, which may be sent together with others.

    What `made` makes of the rows is immutable, and follows from them, the statement and the profile alone. `take` gets
    it, and when the statement was sent.
    """

    sources: tuple[str, ...]
    statement: Statement
    made: Callable[[Rows], Any]
    take: Callable[[Any, int], None]
    least: float = 0.0

    def read(self, rows: Rows, asked: int) -> None:
        """Take what these rows come to."""
        self.take(self.made(rows), asked)


def sendable_first(parts: Iterable[Part | Sendable]) -> Iterator[Sendable]:
    """Those that come first and may be sent together."""
    for part in parts:
        if not isinstance(part, Sendable):
            return
        yield part


def too_late() -> NoReturn:
    raise TimeoutError


def of_first(error: Exception) -> Exception:
    """What is told of an error while reading what comes first: of a late one, that the database did not answer."""
    return OperationalError("no time was left for the rules") if isinstance(error, TimeoutError) else error


def least_for(sections: Sequence[Section]) -> float:
    """Seconds that a source may take in any case."""
    return LEAST_FOR_REQUIRED if any(section.required for section in sections) else 0.0
