"""Profiles and rules are YAML documents with a name. This module defines such a document and creates it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from django.db import IntegrityError, transaction

from assembly.models import StoredProfile, StoredRule
from assembly.profiles.yaml_reader import UnreadableDocument
from config.http.errors import Conflict, Invalid
from teams.models import valid_slug
from teams.principal import Principal
from teams.versioned_text.versioned_file import file_create

MAX_NAME_CHARACTERS = 60


class Described(Protocol):
    """The parsed text of a document, with its description."""

    @property
    def description(self) -> str: ...


Row = TypeVar("Row", StoredProfile, StoredRule)
Parsed = TypeVar("Parsed", bound=Described)


@dataclass(frozen=True, slots=True)
class DocumentEntry(Generic[Row, Parsed]):
    """A document as it is now."""

    row: Row
    described: Parsed | None
    """The parsed text; None if it cannot be parsed any more, for example because a source was removed: `fault` has the
    line.
    """
    fault: UnreadableDocument | None = None

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def description(self) -> str:
        return self.described.description if self.described else ""


def parsed_or_fault(parse: Callable[[], Parsed]) -> tuple[Parsed | None, UnreadableDocument | None]:
    """Return the parsed text, or why it cannot be parsed."""
    try:
        return parse(), None
    except UnreadableDocument as fault:
        return None, fault


def document_create(*, row: Row, principal: Principal, note: str) -> Row:
    """Store a document as its version 1. Raises Conflict if its name is taken."""
    try:
        with transaction.atomic():
            return file_create(file=row, author=principal.author, note=note)
    except IntegrityError:
        raise name_taken(row) from None


def refuse_name(name: str, reserved: set[str]) -> None:
    """Raise Invalid for a name that cannot be part of a URL; `reserved` are names of pages."""
    if len(name) > MAX_NAME_CHARACTERS or not valid_slug.regex.fullmatch(name):  # type: ignore[union-attr]
        raise Invalid("name", str(valid_slug.message))
    if name in reserved:
        raise Invalid("name", f"“{name}” is the address of a page. Choose another name.")


def name_taken(row: Row) -> Conflict:
    """Return the error for a name that is taken, to be raised."""
    kind = row.about.partition(":")[0]
    return Conflict(f"There is a {kind} “{row.name}” already. Choose another name.")
