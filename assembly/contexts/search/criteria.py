"""This module holds the search criteria for contexts, as values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from assembly.engine.refs import Ref

ANY_FILE = "any"
"""The value of `ContextQuery.file_loss` for any file."""
OutcomeFilter = Literal["", "truncated", "excluded"]
"""A filter by outcome. truncated: an item was truncated, shortened or excluded for lack of budget, or there is a
warning. excluded: an item was excluded."""


@dataclass(frozen=True, slots=True)
class ReferenceQuery:
    """An item by which contexts are searched, in any version or in one."""

    named: str
    """Ref of the item without its version: agent_file:<uuid>."""

    ref: str
    """Ref of the item with its version, or equal to `named` for any version."""

    @property
    def version(self) -> str:
        """The version searched for; empty for any version."""
        return "" if self.ref == self.named else Ref.parse(self.ref).version


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """Search criteria that a context must all meet.

    Contexts from `since` (inclusive) to `until` (exclusive) match; an empty or absent criterion matches all.
    """

    agent: UUID | None = None
    team: UUID | None = None
    requested_by: str = ""
    purpose: str = ""
    since: datetime | None = None
    until: datetime | None = None
    profile: str = ""
    warning: str = ""
    reason: str = ""
    contains: ReferenceQuery | None = None
    omits: ReferenceQuery | None = None
    file_loss: str = ""
    """Ref of a file, without its version, that was truncated or excluded for lack of budget; `any` for any file."""
    outcome: OutcomeFilter = ""
    words: str = ""
