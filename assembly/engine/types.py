"""The nouns of the engine. All are immutable values; tokens are whole numbers, offsets count characters."""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

ENGINE_VERSION = 1
"""Recorded with each assembly. Raised whenever equal input would give other bytes."""

Shape = Literal["text", "entries", "lines"]
"""text: one candidate is the whole section; entries: dated, newest first, a blank line between them;
lines: one line each, in rank order."""

Status = Literal["whole", "cut", "partial", "left_out", "empty"]
"""Of a section. partial: items were left out for want of room; left_out: all of them; empty: had none."""

Scalar = str | int | float | bool | None


class InvalidAssembly(ValueError):
    """Profile, request and candidates contradict each other: a mistake of the program that composed them."""


class Code(StrEnum):
    """Why a candidate is in the context, or is not."""

    REQUIRED = "required"
    PINNED = "pinned"
    RULE_INCLUDED = "rule_included"
    FITS = "fits"
    TRUNCATED = "truncated"
    COMPACTED = "compacted"
    SUMMARISED = "summarised"

    OVER_SECTION_BUDGET = "over_section_budget"
    OVER_TOTAL_BUDGET = "over_total_budget"
    OUTRANKED = "outranked"
    BELOW_RELEVANCE = "below_relevance"
    DUPLICATE = "duplicate"
    CONFLICT_LOST = "conflict_lost"
    RULE_EXCLUDED = "rule_excluded"
    FILTERED = "filtered"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    EMPTY = "empty"

    @property
    def included(self) -> bool:
        """Whether a candidate with this code stands in the context."""
        return self in _INCLUDED

    @property
    def for_want_of_room(self) -> bool:
        """Whether a larger budget would have brought in more of the candidate."""
        return self in {Code.TRUNCATED, Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}


_INCLUDED = frozenset(
    {
        Code.REQUIRED,
        Code.PINNED,
        Code.RULE_INCLUDED,
        Code.FITS,
        Code.TRUNCATED,
        Code.COMPACTED,
        Code.SUMMARISED,
    }
)


class SourceCode(StrEnum):
    """What went wrong with one source."""

    SOURCE_TIMEOUT = "SOURCE_TIMEOUT"
    SOURCE_FAILED = "SOURCE_FAILED"


class WarningCode(StrEnum):
    """What the reader of an assembly must know before relying on it."""

    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    TIME_EXCEEDED = "TIME_EXCEEDED"
    QUALITY_BELOW_MINIMUM = "QUALITY_BELOW_MINIMUM"
    COHERENCE_FAILURE = "COHERENCE_FAILURE"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the context and what may stand under it."""

    key: str
    label: str
    layer: str
    source: str
    shape: Shape
    cap: int | None = None
    """Most tokens, heading and marker included; None: what remains of the budget."""
    required: bool = False
    """Always in, never cut."""
    top_k: int | None = None
    """How many items have a chance; None: all."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Which sections a context has, in which order, and how much room each may take.

    Raises InvalidAssembly when two sections share a key, or when a required section stands after one that is
    not (which could then already have taken its room) or has a cap.
    """

    name: str
    version: int
    sections: tuple[Section, ...]
    budget: int = 16_000
    similarity_threshold: float = 0.0
    """A search that finds nothing at or above it has found nothing."""

    def __post_init__(self) -> None:
        keys = [section.key for section in self.sections]
        if len(set(keys)) < len(keys):
            raise InvalidAssembly(f"Profile {self.name} has two sections of one key: {', '.join(keys)}.")
        required = [section.required for section in self.sections]
        if required != sorted(required, reverse=True):
            raise InvalidAssembly(f"In profile {self.name} the required sections must stand first.")
        if any(section.required and section.cap is not None for section in self.sections):
            raise InvalidAssembly(f"Profile {self.name} gives a cap to a required section, which is never cut.")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; from_dict restores an equal profile."""
        return {**asdict(self), "sections": [asdict(section) for section in self.sections]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Profile":
        """The profile that to_dict described."""
        sections = tuple(Section(**section) for section in data["sections"])
        return cls(**{**data, "sections": sections})


@dataclass(frozen=True, slots=True)
class Candidate:
    """One piece of text offered for the context. A time without a zone raises InvalidAssembly."""

    ref: str
    """Names the version it came from: memory:<uuid>@3."""
    section: str
    text: str = field(repr=False)
    """As stored: white space included."""
    kind: str = ""
    date: dt.date | None = None
    occurred_at: dt.datetime | None = None
    similarity: float | None = None
    """To the topic, by the source's own search; None: not searched. NaN and infinity count as None."""
    superseded_by: str | None = None
    """The ref of what replaced it."""

    def __post_init__(self) -> None:
        _require_zone(self.occurred_at)
        if self.similarity is not None and not math.isfinite(self.similarity):
            object.__setattr__(self, "similarity", None)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, without the text: the record stores texts once, by their hash."""
        return {
            "ref": self.ref,
            "section": self.section,
            "kind": self.kind,
            "date": self.date.isoformat() if self.date else None,
            "occurred_at": self.occurred_at.astimezone(dt.UTC).isoformat() if self.occurred_at else None,
            "similarity": None if self.similarity is None else float(self.similarity),
            "superseded_by": self.superseded_by,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], text: str) -> "Candidate":
        """The candidate that to_dict described, with its text."""
        day, moment = data["date"], data["occurred_at"]
        parsed = {
            "date": dt.date.fromisoformat(day) if day else None,
            "occurred_at": dt.datetime.fromisoformat(moment) if moment else None,
        }
        return cls(text=text, **{**data, **parsed})


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the engine. A negative budget or a time without a zone raises InvalidAssembly."""

    budget: int
    topic: str
    tokenizer: str
    now: dt.datetime

    def __post_init__(self) -> None:
        _require_zone(self.now)
        if self.budget < 0:
            raise InvalidAssembly(f"A budget cannot be negative: {self.budget}.")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; from_dict restores an equal request."""
        return {**asdict(self), "now": self.now.astimezone(dt.UTC).isoformat()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Request":
        """The request that to_dict described."""
        return cls(**{**data, "now": dt.datetime.fromisoformat(data["now"])})


@dataclass(frozen=True, slots=True)
class Decision:
    """What happened to one candidate, and why."""

    ref: str
    section: str
    code: Code
    rank: int | None = None
    """1 is the best of its section; None: it was not ranked."""
    score: float | None = None
    signals: tuple[tuple[str, float], ...] = ()
    tokens: int = 0
    """By how much it lengthened the counted text, with heading and separator; 0 when it is left out."""
    tokens_full: int = 0
    """Of the whole item, counted alone."""
    start: int | None = None
    """Where the item stands in the content; None when it is left out."""
    end: int | None = None
    detail: Mapping[str, Scalar] = field(default_factory=dict)
    """The numbers behind the code, JSON-safe; reasons.py words them."""

    @property
    def included(self) -> bool:
        """Whether the candidate stands in the context."""
        return self.code.included


@dataclass(frozen=True, slots=True)
class SectionResult:
    """What became of one section. From start to end the content holds its heading and its items."""

    key: str
    label: str
    layer: str
    cap: int | None
    tokens: int
    start: int
    end: int
    status: Status
    included: int
    considered: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """A finished context and the reason for every candidate."""

    content: str = field(repr=False)
    tokens: int
    budget: int
    truncated: bool
    """Something was cut, or left out for want of room."""
    sections: tuple[SectionResult, ...]
    decisions: tuple[Decision, ...]
    warnings: tuple[WarningCode, ...]
    sha256: str
    """Hex digest of the content in UTF-8."""


def _require_zone(moment: dt.datetime | None) -> None:
    if moment is not None and moment.utcoffset() is None:
        raise InvalidAssembly(f"A time needs its zone: {moment.isoformat()}.")
