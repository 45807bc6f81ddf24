"""A ref names an item of a context: its kind, its id, its version, and for a passage its place in the document.

Refs are stored, sealed and sent as text: `memory:<uuid>@3`, `chunk:<uuid>@3#7`, `daily_log:<uuid>@draft`, `turn:2`.
The functions below work on that text, for loops over every candidate in which a `Ref` for each would take longer.
"""

import re
from functools import lru_cache

from msgspec import Struct

# A version is a number, or a word for one that is not saved yet. An address such as ada@example.org ends in none.
_VERSION = re.compile(r"@(?:[0-9]+|[a-z]+)\Z")
_VERSION_AND_PART = re.compile(r"([0-9]+|[a-z]+)(?:#([0-9]+))?")


class Ref(Struct, frozen=True):
    """The parts of a ref. Every text can be parsed as one: `str(Ref.parse(text)) == text`."""

    kind: str
    """The kind of the item; empty if the ref is an id alone."""
    id: str
    version: str = ""
    """The version of the item; empty for any version."""
    part: str = ""
    """The number of a passage within its version of the document; empty for other items."""

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """Return the ref that the text describes."""
        kind, colon, rest = text.partition(":")
        if not (kind and colon):
            kind, rest = "", text
        id_, at, end = rest.rpartition("@")
        found = _VERSION_AND_PART.fullmatch(end) if at else None
        return cls(kind, id_, found[1], found[2] or "") if found else cls(kind, rest)

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        part = f"#{self.part}" if self.part else ""
        return f"{self.item}{version}{part}"

    @property
    def item(self) -> str:
        """The kind and id without version and part: `chunk:<uuid>` for `chunk:<uuid>@3#7`."""
        return f"{self.kind}:{self.id}" if self.kind else self.id

    @property
    def number(self) -> int | None:
        """The version as a number; None if it is not a number."""
        return int(self.version) if self.version.isdigit() else None


def without_version(ref: str) -> str:
    """Return the ref without its version; a passage's ref is returned unchanged, as it belongs to one version only."""
    return _VERSION.sub("", ref)


def exclusion_names(ref: str) -> set[str]:
    """Return the names by which a request excludes the item: the ref, the ref without its version, the id alone."""
    item = ref.partition("@")[0]
    return {ref, item, item.rpartition(":")[2]}


@lru_cache(maxsize=4096)
def document_of(ref: str) -> str:
    """Return the ref of a passage's text: document:<id>@3 for chunk:<id>@3#7, team_file:<id>@3 for team_file:<id>@3#7;
    any other ref itself.
    """
    if "#" not in ref or not (passage := Ref.parse(ref)).part:
        return ref
    return str(Ref("document" if passage.kind == "chunk" else passage.kind, passage.id, passage.version))
