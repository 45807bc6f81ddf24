"""Marks: by what an import knows which side changed a text since it was exported."""

import hashlib
from enum import StrEnum

from memories.services.json_values import compact

MARK_CHARACTERS = 16


class State(StrEnum):
    """How something in an archive stands to what is here."""

    NEW = "new"
    CHANGED = "changed"  # in the archive alone
    NEWER = "newer"  # here alone, since the export
    BOTH = "both"
    SAME = "same"
    REFUSED = "refused"


def mark_of(text: str) -> str:
    """A short digest of the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARACTERS]


def mark_of_facts(facts: object) -> str:
    """A short digest of a value that JSON can hold."""
    return mark_of(compact(facts))


def state_of(*, exported: str, incoming: str, here: str | None) -> State:
    """How the mark of what comes in stands to the mark of what is here (None: nothing).

    `exported` is the mark of what was exported; "" where nobody knows, and then what comes in counts as changed there.
    """
    if here is None:
        return State.NEW
    if incoming == here:
        return State.SAME
    if exported in {"", here}:
        return State.CHANGED
    return State.NEWER if exported == incoming else State.BOTH
