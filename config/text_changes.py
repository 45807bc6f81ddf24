"""This module notes what the server changed in the texts of a request before it stored them, and what its checks found
in them, and says so.
"""

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import ngettext

from config.observability.request_context import CURRENT_REQUEST


@dataclass(slots=True)
class TextChanges:
    """The numbers of invisible characters that were removed from, and of secrets that were replaced in, the texts of
    one request; `remarks` are sentences of checks that let the texts pass.
    """

    removed_characters: int = 0
    replaced_secrets: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """One sentence about each kind of change, and the remarks; none if nothing was changed."""
        notes = []
        if count := self.removed_characters:
            sentence = ngettext(
                "%(count)s invisible character was removed.", "%(count)s invisible characters were removed.", count
            )
            notes.append(sentence % {"count": f"{count:,}"})
        if count := self.replaced_secrets:
            sentence = ngettext(
                "%(count)s key or password was replaced by a note of its kind.",
                "%(count)s keys and passwords were replaced by notes of their kinds.",
                count,
            )
            notes.append(sentence % {"count": f"{count:,}"})
        return [*notes, *self.remarks]


def text_changes(request: Any) -> TextChanges:
    """Return the counts of the request."""
    counts: TextChanges = request.__dict__.setdefault("_text_changes", TextChanges())
    return counts


def current_text_changes() -> TextChanges:
    """Return the counts of the current request; outside a request, counts that nobody reads."""
    request = CURRENT_REQUEST.get()
    return text_changes(request) if request else TextChanges()
