"""Recognition finds keys and passwords in a text."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, starmap

from teams.secret_scanning.key_formats import KEY_FORMATS
from teams.secret_scanning.passwords import find_passwords


@dataclass(frozen=True, slots=True, order=True)
class FoundSecret:
    """A key or password in a text, from the character `start` to before `end`; `kind` names it in messages."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[FoundSecret]:
    """Return the keys and passwords of the text, in order and without overlaps.

    A key in a format of its own wins over a value that is only named a key.
    """
    found: list[FoundSecret] = []
    taken = bytearray(len(text))
    for secret in chain(_keys(text), starmap(_named, find_passwords(text))):
        if not any(taken[secret.start : secret.end]):
            taken[secret.start : secret.end] = b"\1" * (secret.end - secret.start)
            found.append(secret)
    return sorted(found)


def _keys(text: str) -> Iterator[FoundSecret]:
    """Yield the keys in the formats of providers."""
    for kind, pattern in KEY_FORMATS:
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if not _follows_letter(text, match.start()):
                yield FoundSecret(*match.span(group), kind)


def _named(kind: str, start: int, end: int) -> FoundSecret:
    return FoundSecret(start, end, kind)


def _follows_letter(text: str, start: int) -> bool:
    """Return whether the place is within a longer word or number."""
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_")
