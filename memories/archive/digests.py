"""Digests of exported texts tell an import on which side a text was changed since the export."""

import hashlib
from enum import StrEnum

from memories.services.json_values import compact_json

DIGEST_CHARACTERS = 16


class ImportState(StrEnum):
    """How an item in an archive differs from the stored one: NEWER and BOTH mean that the stored one was changed."""

    NEW = "new"
    CHANGED = "changed"  # changed in the archive only
    NEWER = "newer"  # changed in Dossier only, since the export
    BOTH = "both"
    SAME = "same"
    REFUSED = "refused"


def text_digest(text: str) -> str:
    """Return a short digest of the text: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]


def value_digest(facts: object) -> str:
    """Return a short digest of a JSON value."""
    return text_digest(compact_json(facts))


def state_of(*, exported: str, incoming: str, here: str | None) -> ImportState:
    """Return the state of an item by its digests: when `exported`, in the archive (`incoming`) and stored (`here`).

    `here` is None where nothing is stored. `exported` is "" where it is unknown; then the archive counts as changed.
    """
    if here is None:
        return ImportState.NEW
    if incoming == here:
        return ImportState.SAME
    if exported in {"", here}:
        return ImportState.CHANGED
    return ImportState.NEWER if exported == incoming else ImportState.BOTH
