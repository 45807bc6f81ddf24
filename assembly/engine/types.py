"""The values of the engine. All are immutable; tokens are whole numbers, offsets count characters."""

import datetime as dt
import hashlib
import math
import sys
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from assembly.engine.codes import Code, WarningCode
from assembly.engine.refs import exclusion_names
from assembly.engine.rules import Rule

ENGINE_VERSION = 5
"""Recorded with each assembly. Raised whenever equal input would give other bytes; a replay gives those of its version.

2: the room kept for turns counts what separates them from the section before.
3: so does the choice of turns, so that those get in for which room was kept.
4: what was merely seen is escaped where it could pass for structure, and headings inside owners' files are shifted.
5: long lines that have no room are compacted to the passage that bears on the topic, where a profile compacts.
"""
ESCAPED_SINCE = 4
"""The first version whose contexts hold nothing merely seen that could pass for structure."""
PASSAGES_SINCE = 5
"""The first version that compacts long lines to passages."""

SectionStatus = Literal["whole", "cut", "partial", "left_out", "empty"]
"""Of a section. partial: items were left out for want of room; left_out: all of them; empty: had none."""
SECTION_STATUSES: tuple[SectionStatus, ...] = get_args(SectionStatus)

Scalar = str | int | float | bool | None

Detail = Mapping[str, Any]
"""The numbers behind a decision, JSON-safe. `steps`: what the ladder did, each with the tokens before and after."""

NO_DETAIL: Detail = MappingProxyType({})


class InvalidAssembly(ValueError):
    """Profile, request and candidates contradict each other: a mistake of the program that composed them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A text said shorter, and by what: the name of a model. Without text: it could not be made shorter."""

    text: str = field(repr=False)
    model: str

    def to_dict(self) -> dict[str, str]:
        """JSON-safe; for the text stands its SHA-256."""
        return {"model": self.model, "sha256": hashlib.sha256(self.text.encode()).hexdigest()}


@dataclass(frozen=True, slots=True)
class WantedSummary:
    """A candidate that has no room whole, but may have as a summary of at most so many tokens."""

    section: str
    ref: str
    text: str = field(repr=False)
    max_tokens: int


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
    retired: str | None = None
    """Why it holds no more, in the words of who retired it."""
    pinned: bool = False
    """It comes before all others of a section of lines, however near it is to the topic."""
    score: float | None = None
    """By which the source itself ranks it: blocks compete by it for their section's room."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Its scores by name: recency, relevance, salience … are weighed by the profile, others explain them."""
    position: int | None = None
    """Its place in a sequence or a conversation, from 0."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What rules find it by: path, kg_entity, memory_kind, tag."""
    summary: Summary | None = None
    """Once one was wanted."""
    memo: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What follows from it alone, once somebody needed it: the same candidates are told again and again."""

    def __post_init__(self) -> None:
        _require_zone(self.occurred_at)
        for name in ("similarity", "score"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                object.__setattr__(self, name, None)
        if not all(map(math.isfinite, self.measures.values())):
            raise InvalidAssembly(f"The measures of {self.ref} must be finite numbers.")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, without the text and that of the summary: the record stores texts once, by their hash."""
        return {
            "ref": self.ref,
            "section": self.section,
            "kind": self.kind,
            "date": self.date.isoformat() if self.date else None,
            "occurred_at": self.occurred_at.astimezone(dt.UTC).isoformat() if self.occurred_at else None,
            "similarity": None if self.similarity is None else float(self.similarity),
            "superseded_by": self.superseded_by,
            **({} if self.retired is None else {"retired": self.retired}),
            **({"pinned": True} if self.pinned else {}),
            **({} if self.score is None else {"score": float(self.score)}),
            **({"measures": {name: float(value) for name, value in self.measures.items()}} if self.measures else {}),
            **({} if self.position is None else {"position": self.position}),
            **({"labels": {name: list(values) for name, values in self.labels.items()}} if self.labels else {}),
            **({"summary": self.summary.to_dict()} if self.summary else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], text: str, summary: str = "") -> "Candidate":
        """The candidate that to_dict described, with its text and that of its summary, if it has one."""
        day, moment, told = data["date"], data["occurred_at"], data.get("summary")
        parsed = {
            "date": dt.date.fromisoformat(day) if day else None,
            "occurred_at": dt.datetime.fromisoformat(moment) if moment else None,
            "labels": {name: tuple(values) for name, values in data.get("labels", {}).items()},
            "summary": Summary(summary, told["model"]) if told else None,
        }
        return cls(text=text, **{**data, **parsed})


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """What is asked of the engine. A negative budget or a time without a zone raises InvalidAssembly."""

    budget: int
    topic: str
    tokenizer: str
    now: dt.datetime
    exclude: tuple[str, ...] = ()
    """Ids, or refs with or without their version, of what may not get in unless it is required."""
    appended: str = ""
    """The ref of an event that came in after the candidates were chosen: it goes first, the weakest go for it."""
    rules: tuple[Rule, ...] = ()
    """Those that fired, the narrowest scope first."""
    engine_version: int = ENGINE_VERSION
    """Whose bytes are wanted."""

    def __post_init__(self) -> None:
        _require_zone(self.now)
        if self.budget < 0:
            raise InvalidAssembly(f"A budget cannot be negative: {self.budget}.")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; from_dict restores an equal request."""
        rules = [rule.to_dict() for rule in self.rules]
        return {**asdict(self), "now": self.now.astimezone(dt.UTC).isoformat(), "rules": rules}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "EngineRequest":
        """The request that to_dict described."""
        moment = dt.datetime.fromisoformat(data["now"])
        rules = tuple(Rule.from_dict(rule) for rule in data.get("rules", ()))
        return cls(**{**data, "now": moment, "exclude": tuple(data.get("exclude", ())), "rules": rules})

    def excludes(self, ref: str) -> bool:
        """Whether the request asks not to have what the ref names."""
        if not self.exclude:
            return False
        return bool(exclusion_names(ref) & set(self.exclude))


class Decision(Struct, frozen=True):
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
    detail: Detail = NO_DETAIL
    """The numbers behind the code; reasons.py words them."""

    @property
    def included(self) -> bool:
        """Whether the candidate stands in the context."""
        return self.code.included


class SectionResult(Struct, frozen=True):
    """What became of one section. From start to end the content holds its heading and its items."""

    key: str
    label: str
    layer: str
    cap: int | None
    tokens: int
    start: int
    end: int
    status: SectionStatus
    included: int
    considered: int


@dataclass(frozen=True, slots=True)
class EngineResult:
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
    quality: float | None = None
    """Mean relevance of what was found by searching and is in, 0 to 1; None: nothing was searched for."""
    wanted: tuple[WantedSummary, ...] = ()
    """Summaries that this rests on: in their place stand beginnings. With them, the engine is to run again."""


def _require_zone(moment: dt.datetime | None) -> None:
    if moment is not None and moment.utcoffset() is None:
        raise InvalidAssembly(f"A time needs its zone: {moment.isoformat()}.")


def field_values(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or a Struct by name, as they are: `asdict` of dataclasses copies whatever they hold."""
    if isinstance(value, Struct):
        return structs.asdict(value)
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


TEXT_COPIES = 3
"""A text whose candidate is remembered is there as it was read, as contexts show it, and without its end."""


def candidate_text_bytes(text: str) -> int:
    """Return about how much memory a text takes while its candidate is remembered."""
    return TEXT_COPIES * sys.getsizeof(text)
