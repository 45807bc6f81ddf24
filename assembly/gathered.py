"""What came of gathering: the candidates, and a report on each source."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from assembly.changes import NOBODYS, State
from assembly.engine.codes import SourceCode
from assembly.engine.types import Candidate
from assembly.external import SOURCE as EXTERNAL
from assembly.opening import Opening
from assembly.sources import Situation


class SourceReport(Struct, frozen=True):
    """How one source did: the candidates it returned, its limit in rows, and its times in milliseconds.

    `started_ms` and its own `deadline_ms` count from the arrival of the request. With a code, it returned nothing,
    and `fault` says why. `left_out` counts the results of an external source that could not be used.
    """

    name: str
    count: int
    limit: int
    ms: int
    started_ms: int = 0
    deadline_ms: int | None = None
    code: SourceCode | None = None
    fault: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Gathered:
    """The candidates of all sources, a report on each, the situation as the sources saw it, and the state of things
    that they saw, or an earlier one."""

    candidates: Sequence[Candidate]
    reports: Sequence[SourceReport]
    situation: Situation
    opening: Opening
    rests_on: State = NOBODYS
    """What is still to be proved: it holds if this state is still there."""

    @property
    def may_be_kept(self) -> bool:
        """Whether it is whole, and of nothing but what the database counts the changes of."""
        return not any(report.code or report.name.startswith(EXTERNAL) for report in self.reports)
