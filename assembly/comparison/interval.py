"""The interval between two contexts: when each was recorded, for whom, and how the requests differ."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from assembly.models import Assembly
from assembly.sources.base import GatherContext
from assembly.sources.files import log_days

DayRange = tuple[datetime.date, datetime.date]


@dataclass(frozen=True, slots=True)
class ComparisonInterval:
    """The time from the earlier context to the later one, which is None if it is computed today."""

    earlier: Assembly
    late: Assembly | None = None
    is_backward: bool = False
    """Whether the later context comes first in the comparison."""

    @classmethod
    def between(cls, before: Assembly, after: Assembly) -> "ComparisonInterval":
        """Return the interval of two contexts in any order."""
        if before.created <= after.created:
            return cls(before, after)
        return cls(after, before, is_backward=True)

    @property
    def then(self) -> datetime.datetime:
        return self.earlier.created

    @property
    def until(self) -> datetime.datetime | None:
        return self.late.created if self.late else None

    @property
    def has_added_event(self) -> bool:
        """Whether an event was added to one of them after it was assembled."""
        return bool(self.earlier.parent or (self.late and self.late.parent))

    def differ(self, *names: str) -> bool:
        """Return whether one of these request parameters differs."""
        if self.late is None:
            return False
        was, now = _recorded_request(self.earlier), _recorded_request(self.late)
        return any(was.get(name) != now.get(name) for name in names)

    def days(self, now: datetime.datetime, later: datetime.datetime) -> tuple[DayRange, DayRange]:
        """Return the first and the last day of the daily logs in each context; one query, or two for two agents."""
        agents = Agent.objects.in_bulk({one.agent_id for one in (self.earlier, self.late) if one})
        mine = agents.get(self.earlier.agent_id, Agent())
        other = agents.get(self.late.agent_id, Agent()) if self.late else mine
        return _days(mine, now), _days(other, later)


def _days(agent: Agent, now: datetime.datetime) -> DayRange:
    return log_days(GatherContext(agent, None, now))


def _recorded_request(assembly: Assembly) -> Mapping[str, Any]:
    return assembly.request
