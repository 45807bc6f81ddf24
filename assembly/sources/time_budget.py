"""`TimeBudget` tells how much of an assembly's time is left.

Source: "Time Budget Management" of the seed "Memory Layer": a fifth is kept for the finish.
"""

from dataclasses import dataclass, replace
from time import monotonic

from django.conf import settings

from config.observability.request_context import arrival_time

FINISH_SHARE = 0.2
ONE_SOURCE_SHARE = 0.5
"""The most that one source may take of what is left for all: a slow one leaves the next ones as much."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """A time that runs. Seconds, unless a name says milliseconds."""

    begun: float
    """By the monotonic clock."""
    seconds: float

    @classmethod
    def running(cls, time_ms: int | None) -> "TimeBudget":
        """One of so many milliseconds, or of as many as the installation gives everybody, since the request came in."""
        return cls(arrival_time(), (settings.ASSEMBLY_TIME_MS if time_ms is None else time_ms) / 1000)

    @classmethod
    def starting_now(cls, time_ms: int | None = None) -> "TimeBudget":
        """The same, since now: for one of several runs of a request."""
        return replace(cls.running(time_ms), begun=monotonic())

    @property
    def elapsed_ms(self) -> int:
        """Whole milliseconds since it began."""
        return round((monotonic() - self.begun) * 1000)

    @property
    def left(self) -> float:
        """What is left of it; nothing, once it is over."""
        return max(0.0, self.begun + self.seconds - monotonic())

    @property
    def seconds_for_sources(self) -> float:
        """What is left until the finish begins."""
        return max(0.0, self.left - FINISH_SHARE * self.seconds)

    @property
    def seconds_for_one_source(self) -> float:
        """The most that the next source may take."""
        return self.seconds_for_sources * ONE_SOURCE_SHARE

    @property
    def hard_limit(self) -> float:
        """How long the engine may go on, once it has begun: late contexts are of use, those that never end are not."""
        return max(self.seconds, settings.ASSEMBLY_TIME_MS / 1000)

    @property
    def is_over(self) -> bool:
        """Whether it took longer than it may."""
        return monotonic() > self.begun + self.seconds
