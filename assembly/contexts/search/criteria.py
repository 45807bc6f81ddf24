"""Which contexts are wanted, as values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from assembly.engine.refs import Ref

OutcomeFilter = Literal["", "cut", "left_out"]
"""cut: something was cut to fit, or there is a warning. left_out: something was left out."""


@dataclass(frozen=True, slots=True)
class ReferenceQuery:
    """What a context may hold: any version of it, or one alone."""

    named: str
    """Its ref without the version: agent_file:<uuid>."""

    ref: str
    """With the version, or again without, for any version."""

    @property
    def version(self) -> str:
        """Empty for any."""
        return "" if self.ref == self.named else Ref.parse(self.ref).version


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """What contexts must meet, all of it. `since` is the first moment, `until` the first one after the last."""

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
    only: OutcomeFilter = ""
    words: str = ""
