"""When each source was asked, how long it took and how long it might have taken: rows of a table, with their bars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assembly.engine.codes import SourceCode
from assembly.external import SOURCE as EXTERNAL
from assembly.models import Assembly
from assembly.warnings import SERVERS, label_of, trouble_with

WIDTH = 1000  # of a bar, in the units of its SVG
LEAST = 6
TAGS = {SourceCode.SOURCE_TIMEOUT: "late", SourceCode.SOURCE_FAILED: "failed"}
"""What became of a source that told nothing."""
COMPLETE = frozenset({"agent_files", "team_files", "daily_logs", "turns", "additional_context", "task_stack", *SERVERS})
"""These give all that there is: their limit is how much that can be."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source. Times are milliseconds since the assembly began; None: an older record, which has none.

    `x`, `width` and `deadline_x` are in the units of the bar's SVG.
    """

    label: str
    count: int
    limit: int
    started_ms: int | None
    ms: int
    deadline_ms: int | None
    x: int
    width: int
    deadline_x: int | None
    tag: str = ""
    trouble: str = ""
    left_out: int = 0
    is_full: bool = False
    """It gave as many as it may, so there may be more that nobody looked at."""

    @property
    def is_drawn(self) -> bool:
        """Whether its times are on record."""
        return self.started_ms is not None


def longest_of(assembly: Assembly) -> int:
    """Milliseconds that the bars are drawn along: the whole assembly, or the last source where that took longer."""
    ends: list[int] = [report.get("started_ms", 0) + report["ms"] for report in assembly.sources]
    return max([assembly.assembly_ms, *ends, 1])


def tag_of(assembly: Assembly, section: Mapping[str, Any]) -> str:
    """What became of the source of a recorded section of the profile, in one word; empty where it answered."""
    source = f"{EXTERNAL}:{section['key']}" if section["source"] == EXTERNAL else section["source"]
    codes = {report["name"]: report.get("code") for report in assembly.sources}
    code = codes.get(source) or codes.get(section["source"])
    return TAGS[SourceCode(code)] if code else ""


def source_rows(assembly: Assembly) -> list[SourceRow]:
    """The sources in the order in which they were asked, by the names that people know."""
    reports = sorted(assembly.sources, key=lambda report: report.get("started_ms", 0))
    scale = WIDTH / longest_of(assembly)
    return [_row(report, scale) for report in reports]


def _row(report: dict[str, Any], scale: float) -> SourceRow:
    started, deadline, code = report.get("started_ms"), report.get("deadline_ms"), report.get("code")
    width = max(LEAST, round(report["ms"] * scale))
    return SourceRow(
        label=label_of(report["name"]),
        count=report["count"],
        limit=report["limit"],
        started_ms=started,
        ms=report["ms"],
        deadline_ms=deadline,
        x=min(round((started or 0) * scale), WIDTH - width),
        width=width,
        deadline_x=round(deadline * scale) if deadline is not None and deadline * scale <= WIDTH else None,
        tag=TAGS[SourceCode(code)] if code else "",
        trouble=_trouble(report, SourceCode(code)) if code else "",
        left_out=report.get("left_out", 0),
        is_full=report["name"] not in COMPLETE and 0 < report["limit"] <= report["count"],
    )


def _trouble(report: dict[str, Any], code: SourceCode) -> str:
    """In words; the fault of an external source or of a server is a sentence, that of others a class's name."""
    told = trouble_with(report["name"], code)
    fault = report.get("fault", "")
    repeated = told.startswith(fault.rstrip("."))
    return f"{fault} {told}" if " " in fault and not repeated else told
