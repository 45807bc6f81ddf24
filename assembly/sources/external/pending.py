"""The external sources of an assembly are queried in a background thread while the current thread
reads the database.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from assembly.engine.codes import SourceCode
from assembly.sources.base import SourceReport
from assembly.sources.external.http_queries import query_all
from assembly.sources.external.questions import ExternalAnswer, ExternalQuery
from assembly.sources.time_budget import TimeBudget
from config.http.outbound.background_call import BackgroundCall

logger = logging.getLogger(__name__)

GRACE_SECONDS = 0.02
"""Seconds for which the background thread may deliver results after its deadline."""


@dataclass(frozen=True, slots=True)
class PendingExternalSources:
    """External sources that are being queried: since when, and until when, in milliseconds of the assembly."""

    askings: Sequence[ExternalQuery]
    thread: BackgroundCall[list[ExternalAnswer]]
    arrived: dict[int, ExternalAnswer]
    """The answers so far, by their positions; the thread puts them here."""
    started_ms: int
    deadline_ms: int

    @classmethod
    def asked(cls, askings: Sequence[ExternalQuery], time: TimeBudget) -> "PendingExternalSources":
        """Start to query the external sources."""
        seconds, now = time.seconds_for_sources, time.elapsed_ms
        arrived: dict[int, ExternalAnswer] = {}
        query = partial(query_all, askings, seconds=seconds, arrived=arrived)
        return cls(askings, BackgroundCall("external sources", query), arrived, now, now + round(seconds * 1000))

    def told(self, time: TimeBudget) -> list[ExternalAnswer]:
        """Return their answers; wait while there is time. Where one is late, those of the others stay."""
        try:
            return self.thread.result(seconds=time.seconds_for_sources + GRACE_SECONDS)
        except TimeoutError:  # a machine under load may be late to break it off; it ends by itself
            return self._nothing_else(time, SourceCode.SOURCE_TIMEOUT, "It did not answer in time.")
        except Exception as error:
            logger.exception("external sources")
            return self._nothing_else(
                time, SourceCode.SOURCE_FAILED, f"It could not be reached ({type(error).__name__})."
            )

    def report_of(self, answer: ExternalAnswer) -> SourceReport:
        """Return the report of one of the answers."""
        return SourceReport(
            answer.name, len(answer.candidates), answer.limit, answer.ms, self.started_ms, self.deadline_ms,
            answer.code, answer.fault, answer.left_out, answer.withheld,
        )  # fmt: skip

    def _nothing_else(self, time: TimeBudget, code: SourceCode, fault: str) -> list[ExternalAnswer]:
        """Return the answers that have arrived, and this fault for the others."""
        ms, arrived = time.elapsed_ms - self.started_ms, self.arrived.copy()
        return [
            arrived.get(place) or ExternalAnswer(asking.section, asking.name, (), asking.limit, ms, code, fault)
            for place, asking in enumerate(self.askings)
        ]
