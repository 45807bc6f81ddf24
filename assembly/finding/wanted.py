"""Which contexts are wanted, as values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Only = Literal["", "cut", "left_out"]
"""cut: something was cut to fit, or there is a warning. left_out: something was left out."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What a context may hold: any version of it, or one alone."""

    named: str
    """Its ref without the version: agent_file:<uuid>."""

    version: str = ""
    """What follows the @ in its ref; empty for any version."""

    @property
    def ref(self) -> str:
        return f"{self.named}@{self.version}" if self.version else self.named


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What contexts must meet, all of it. `since` is the first moment, `until` the first one after the last."""

    agent: UUID | None = None
    team: UUID | None = None
    requested_by: str = ""
    since: datetime | None = None
    until: datetime | None = None
    profile: str = ""
    warning: str = ""
    reason: str = ""
    contains: Thing | None = None
    omits: Thing | None = None
    only: Only = ""
    words: str = ""
