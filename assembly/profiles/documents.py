"""A profile and a rule are both a YAML document under a name: the row with what its text says, and its creation."""

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
    """What a text says, with the words that say what it is for."""

    @property
    def description(self) -> str: ...


Row = TypeVar("Row", StoredProfile, StoredRule)
Parsed = TypeVar("Parsed", bound=Described)


@dataclass(frozen=True, slots=True)
class DocumentEntry(Generic[Row, Parsed]):
    """A document as it stands."""

    row: Row
    described: Parsed | None
    """None: the text can no longer be read, say because a source is gone; `fault` says where."""
    fault: UnreadableDocument | None = None

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def description(self) -> str:
        return self.described.description if self.described else ""


def parsed_or_fault(parse: Callable[[], Parsed]) -> tuple[Parsed | None, UnreadableDocument | None]:
    """Return what a text says, or why it cannot be read."""
    try:
        return parse(), None
    except UnreadableDocument as fault:
        return None, fault


def document_create(*, row: Row, principal: Principal, note: str) -> Row:
    """Store a document as its version 1. Raises Conflict where its name is taken."""
    try:
        with transaction.atomic():
            return file_create(file=row, author=principal.author, note=note)
    except IntegrityError:
        raise name_taken(row) from None


def refuse_name(name: str, reserved: set[str]) -> None:
    """Raise Invalid for a name that cannot stand in an address; `reserved` are the names of pages."""
    if len(name) > MAX_NAME_CHARACTERS or not valid_slug.regex.fullmatch(name):  # type: ignore[union-attr]
        raise Invalid("name", str(valid_slug.message))
    if name in reserved:
        raise Invalid("name", f"“{name}” is the address of a page. Choose another name.")


def name_taken(row: Row) -> Conflict:
    """Return the error that says that there is a document with this row's name, to be raised."""
    kind = row.about.partition(":")[0]
    return Conflict(f"There is a {kind} “{row.name}” already. Choose another name.")
