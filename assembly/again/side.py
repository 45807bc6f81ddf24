"""One of two contexts that stand beside each other: on record, or made just now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assembly.engine.types import Assembled, Candidate, Decision, SectionResult
from assembly.gathered import SourceReport
from assembly.recorded import Inputs, Recorded
from assembly.replay import content_of
from assembly.settling import Settled


@dataclass(frozen=True, slots=True)
class Side:
    """A context, what it was made of, and what was missing. It can be compared (`assembly.comparing.Context`)."""

    inputs: Inputs
    content: str = field(repr=False)
    sha256: str
    """Hex digest of the content in UTF-8."""
    tokens: int
    sections: tuple[SectionResult, ...]
    decisions: tuple[Decision, ...]
    warnings: tuple[str, ...]
    """Codes of the whole and of its sources."""
    missing: frozenset[str] = frozenset()
    """The names of the sources that were late or failed."""
    extracted: int = 0
    """Summaries for which a model would be asked; here they are extracts."""

    @property
    def candidates(self) -> Mapping[tuple[str, str], Candidate]:
        """What was considered, by section and ref."""
        return {(one.section, one.ref): one for one in self.inputs.candidates}


def side_recorded(told: Recorded) -> Side:
    """The context on record. Raises RecordDamaged where the record does not give its text any more."""
    assembly = told.assembly
    return Side(
        inputs=told.inputs,
        content=content_of(told),
        sha256=bytes(assembly.sha256).hex(),
        tokens=told.tokens,
        sections=told.sections,
        decisions=told.decisions,
        warnings=tuple(assembly.warnings),
        missing=frozenset(report["name"] for report in assembly.sources if report.get("code")),
    )


def side_made(inputs: Inputs, settled: Settled, reports: Sequence[SourceReport] = ()) -> Side:
    """The context that the engine made of the inputs. `reports`: of what was gathered for it."""
    made: Assembled = settled.assembled
    codes = [*made.warnings, *(report.code for report in reports if report.code)]
    return Side(
        inputs=Inputs(inputs.request, inputs.profile, tuple(settled.candidates)),
        content=made.content,
        sha256=made.sha256,
        tokens=made.tokens,
        sections=made.sections,
        decisions=made.decisions,
        warnings=tuple(dict.fromkeys(map(str, codes))),
        missing=frozenset(report.name for report in reports if report.code),
        extracted=sum(one.fell_back for one in settled.rounds),
    )
