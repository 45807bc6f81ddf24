"""What the reader of a context must know before relying on it: of the whole, and of its sources."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.codes import SourceCode, WarningCode
from assembly.engine.reasons import source_sentence, summariser_sentence, warning_sentence
from assembly.engine.types import Assembled
from assembly.gathered import SourceReport
from assembly.models import Assembly
from assembly.sources import SOURCES
from assembly.time_budget import TimeBudget

SUMMARISER = "summariser"
"""What its report is called among those of the sources."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A code and what it says to people."""

    code: str
    message: str


def codes_of(assembled: Assembled, reports: Sequence[SourceReport], time: TimeBudget) -> list[str]:
    """The codes for the record, each once: those of the engine, then of sources, then of time."""
    codes = [*assembled.warnings, *(report.code for report in reports if report.code)]
    codes += [WarningCode.TIME_EXCEEDED] if time.is_over else []
    return list(dict.fromkeys(map(str, codes)))


def warnings_of(assembly: Assembly) -> list[Warned]:
    """The recorded codes in words; a code of sources says which."""
    return [Warned(code, _message(code, assembly)) for code in assembly.warnings]


def _message(code: str, assembly: Assembly) -> str:
    if code not in set(SourceCode):
        return warning_sentence(WarningCode(code))
    names = [report["name"] for report in assembly.sources if report.get("code") == code]
    sources = ", ".join(label_of(name) for name in names if name != SUMMARISER)
    told = [f"{sources}: {source_sentence(SourceCode(code))}"] if sources else []
    told += [summariser_sentence(SourceCode(code))] if SUMMARISER in names else []
    return " ".join(told)


def label_of(source: str) -> str:
    """What people call a source; an external one is called by its own name."""
    if source == SUMMARISER:
        return "Summaries"
    kind, _, name = source.partition(":")
    return name or (SOURCES[kind].label if kind in SOURCES else kind)
