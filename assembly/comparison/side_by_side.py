"""`SideBySide` has two contexts and how their texts, items and parameters differ."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from assembly.engine.assemble import RESERVED_SECTION_KEYS
from assembly.engine.codes import SourceCode, WarningCode
from assembly.engine.diff import ContextDiff, diff_contexts
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, Decision, EngineResult, SectionResult, candidate_text_bytes, field_values
from assembly.pipeline.summaries.resolve import SummarisedResult
from assembly.records.reader import EngineInput, StoredAssembly, remaining_content
from assembly.records.section_names import section_name
from assembly.sources.base import SourceReport


@dataclass(frozen=True, slots=True)
class ComparedContext:
    """A context with its inputs: a recorded one, or one that `assembly.simulation.simulate` computed."""

    inputs: EngineInput
    content: str = field(repr=False)
    sha256: str
    """The SHA-256 of the content in UTF-8, in hex."""
    tokens: int
    truncated: bool
    """Whether an item was truncated, shortened, or excluded for lack of budget."""
    sections: tuple[SectionResult, ...]
    decisions: tuple[Decision, ...]
    warnings: tuple[str, ...]
    """The codes of the context and of its sources."""
    missing: tuple[str, ...] = ()
    """The names of the sources that timed out or failed, in the order in which they were read."""
    extracted: int = 0
    """The number of summaries for which a model would be called; here they are extracts."""

    @property
    def candidates(self) -> Mapping[tuple[str, str], Candidate]:
        """The considered items, by section and ref."""
        return {(one.section, one.ref): one for one in self.inputs.candidates}

    @property
    def budget(self) -> int:
        """The token budget."""
        return self.inputs.request.budget

    @property
    def own_warnings(self) -> tuple[WarningCode, ...]:
        """The codes of the context, without those of its sources."""
        of_sources = frozenset[str](SourceCode)
        return tuple(WarningCode(code) for code in self.warnings if code not in of_sources)


def compared_from_record(told: StoredAssembly) -> ComparedContext:
    """Return the recorded context; erased items have a note in the place of their texts.

    Raises RecordDamaged if the record does not give its text any more.
    """
    assembly = told.assembly
    return ComparedContext(
        inputs=told.inputs,
        content=remaining_content(told),
        sha256=bytes(assembly.sha256).hex(),
        tokens=told.tokens,
        truncated=assembly.truncated,
        sections=told.sections,
        decisions=told.decisions,
        warnings=tuple(assembly.warnings),
        missing=tuple(report["name"] for report in assembly.sources if report.get("code")),
    )


def compared_from_result(
    inputs: EngineInput, settled: SummarisedResult, reports: Sequence[SourceReport] = ()
) -> ComparedContext:
    """Return the context that the engine made of the inputs. `reports` are those of the sources."""
    made: EngineResult = settled.assembled
    codes = [*made.warnings, *(report.code for report in reports if report.code)]
    return ComparedContext(
        inputs=EngineInput(inputs.request, inputs.profile, tuple(settled.candidates)),
        content=made.content,
        sha256=made.sha256,
        tokens=made.tokens,
        truncated=made.truncated,
        sections=made.sections,
        decisions=made.decisions,
        warnings=tuple(dict.fromkeys(map(str, codes))),
        missing=tuple(report.name for report in reports if report.code),
        extracted=sum(one.fell_back for one in settled.rounds),
    )


ParameterName = Literal["topic", "budget", "tokenizer", "profile", "section", "rules", "day", "excluded_by_request"]
PARAMETER_NAMES: tuple[ParameterName, ...] = get_args(ParameterName)
PROFILE_FACTS = (
    *("similarity_threshold", "weights", "depth_limit", "over_budget", "fill", "cut_at", "quality_min"),
    *("lod", "scope_limits", "half_life", "credibility", "delimit", "cut_mark", "deduplicate", "report_failures"),
    *("conflicts", "conflict_sensitivity", "coherence_min", "second_round", "summaries_max"),
)
"""The profile's settings for the context as a whole, beside its budget."""


@dataclass(frozen=True, slots=True)
class ParameterDiff:
    """A parameter that differs. `of` is the section's name if it belongs to a section. Values are text."""

    name: ParameterName
    before: str
    after: str
    of: str = ""


def parameter_diffs(before: EngineInput, after: EngineInput) -> tuple[ParameterDiff, ...]:
    """Return the parameters that differ, the most important first."""
    old, new = before.request, after.request
    pairs: list[tuple[ParameterName, str, str]] = [
        ("topic", old.topic, new.topic),
        ("budget", f"{old.budget:,}", f"{new.budget:,}"),
        ("tokenizer", old.tokenizer, new.tokenizer),
        ("profile", _profile(before.profile), _profile(after.profile)),
        ("rules", _rules(before), _rules(after)),
        ("day", f"{old.now:%Y-%m-%d}", f"{new.now:%Y-%m-%d}"),
        ("excluded_by_request", ", ".join(old.exclude), ", ".join(new.exclude)),
    ]
    found = [ParameterDiff(name, was, now) for name, was, now in pairs if was != now]
    return (*found, *_sections(before.profile, after.profile))


def sections_of(profile: Profile) -> dict[str, Section]:
    """Return the profile's own sections by key, without those for rule inclusions and for added events."""
    return {section.key: section for section in profile.sections if section.key not in RESERVED_SECTION_KEYS}


def has_same_profile_facts(one: Profile, other: Profile) -> bool:
    """Return whether the profiles weigh, search and truncate alike, and have the same order."""
    alike = all(getattr(one, name) == getattr(other, name) for name in PROFILE_FACTS)
    return alike and one.ranker == other.ranker and [*sections_of(one)] == [*sections_of(other)]


def _profile(profile: Profile) -> str:
    return f"{profile.name}, version {profile.version}"


def _rules(inputs: EngineInput) -> str:
    return "; ".join(f"{rule.name}, version {rule.version}" for rule in inputs.request.rules)


def _sections(before: Profile, after: Profile) -> list[ParameterDiff]:
    """Return the settings of a section that differ between the profiles: its limit, its share, its number of items."""
    old, new = sections_of(before), sections_of(after)
    both = [(old[key], new[key]) for key in new if key in old and old[key] != new[key]]
    return [ParameterDiff("section", _limits(was, now), _limits(now, was), section_name(now)) for was, now in both]


def _limits(section: Section, other: Section) -> str:
    """Return the section's settings that the other section has differently."""
    facts = {**field_values(section), "ranker": section.ranker_name}
    told = [field.name for field in fields(section) if getattr(section, field.name) != getattr(other, field.name)]
    return ", ".join(f"{'limit' if name == 'cap' else name.replace('_', ' ')} {_value(facts[name])}" for name in told)


def _value(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two contexts, of which the second is compared with the first."""

    before: ComparedContext
    after: ComparedContext
    comparison: ContextDiff
    settings: tuple[ParameterDiff, ...]
    """The parameters that differ."""

    @classmethod
    def of(cls, before: ComparedContext, after: ComparedContext) -> "SideBySide":
        """Return both contexts with all their differences."""
        texts = {one.ref: one.text for side in (before, after) for one in side.inputs.candidates}
        return cls(before, after, diff_contexts(before, after, texts), parameter_diffs(before.inputs, after.inputs))

    @property
    def is_same(self) -> bool:
        """Whether both texts are equal."""
        return self.before.content == self.after.content

    @property
    def missing(self) -> frozenset[str]:
        """The sources that could not be read, on either side."""
        return frozenset({*self.before.missing, *self.after.missing})

    @property
    def size_bytes(self) -> int:
        """The approximate memory of both contexts, in bytes."""
        sides = (self.before, self.after)
        texts = {one.ref: candidate_text_bytes(one.text) for side in sides for one in side.inputs.candidates}
        return sum(texts.values()) + sum(sys.getsizeof(side.content) for side in sides)

    @property
    def new_warnings(self) -> list[WarningCode]:
        """The codes that only the later context has, without those of its sources."""
        return [code for code in self.after.own_warnings if code not in self.before.own_warnings]
