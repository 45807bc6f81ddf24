"""Marks: by what an import knows which side changed a text since it was exported."""

import hashlib
from enum import StrEnum

from memories.services.json_values import compact_json

DIGEST_CHARACTERS = 16


class ImportState(StrEnum):
    """How something in an archive stands to what is here."""

    NEW = "new"
    CHANGED = "changed"  # in the archive alone
    NEWER = "newer"  # here alone, since the export
    BOTH = "both"
    SAME = "same"
    REFUSED = "refused"


def text_digest(text: str) -> str:
    """A short digest of the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]


def value_digest(facts: object) -> str:
    """A short digest of a value that JSON can hold."""
    return text_digest(compact_json(facts))


def state_of(*, exported: str, incoming: str, here: str | None) -> ImportState:
    """How the mark of what comes in stands to the mark of what is here (None: nothing).

    `exported` is the mark of what was exported; "" where nobody knows, and then what comes in counts as changed there.
    """
    if here is None:
        return ImportState.NEW
    if incoming == here:
        return ImportState.SAME
    if exported in {"", here}:
        return ImportState.CHANGED
    return ImportState.NEWER if exported == incoming else ImportState.BOTH
