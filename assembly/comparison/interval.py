"""What lies between two contexts: when each was made, for whom, and what was asked for otherwise."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from assembly.models import Assembly
from assembly.sources.base import Situation
from assembly.sources.daily_logs import days_told

Days = tuple[datetime.date, datetime.date]


@dataclass(frozen=True, slots=True)
class Meantime:
    """From the making of the earlier context to that of the later one, which is today's where it is None."""

    early: Assembly
    late: Assembly | None
    is_backward: bool = False
    """Whether who compares them looks at the later one first."""

    @property
    def then(self) -> datetime.datetime:
        return self.early.created

    @property
    def until(self) -> datetime.datetime | None:
        return self.late.created if self.late else None

    @property
    def is_added_to(self) -> bool:
        """Whether an event was added to one of them after it was put together."""
        return bool(self.early.parent or (self.late and self.late.parent))

    def differ(self, *names: str) -> bool:
        """Whether one of these wishes is not the same in both requests."""
        if self.late is None:
            return False
        was, now = _wishes(self.early), _wishes(self.late)
        return any(was.get(name) != now.get(name) for name in names)

    def days(self, now: datetime.datetime, later: datetime.datetime) -> tuple[Days, Days]:
        """The first and the last day of the logs that each tells of; one query, or two for two agents."""
        agents = Agent.objects.in_bulk({one.agent_id for one in (self.early, self.late) if one})
        mine = agents.get(self.early.agent_id, Agent())
        other = agents.get(self.late.agent_id, Agent()) if self.late else mine
        return _days(mine, now), _days(other, later)


def today_of(assembly: Assembly) -> Meantime:
    """From the making of a context to now."""
    return Meantime(assembly, None)


def between(before: Assembly, after: Assembly) -> Meantime:
    """Of two contexts, whichever is older."""
    if before.created <= after.created:
        return Meantime(before, after)
    return Meantime(after, before, is_backward=True)


def _days(agent: Agent, now: datetime.datetime) -> Days:
    return days_told(Situation(agent, None, now))


def _wishes(assembly: Assembly) -> Mapping[str, Any]:
    return assembly.request
