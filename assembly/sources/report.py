"""A report on each source of one assembly: what it returned, and how long it took."""

from msgspec import Struct

from assembly.engine.codes import SourceCode

EMBEDDER = "embedder"
"""What its report is called among those of the sources."""


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
