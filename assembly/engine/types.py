"""The engine's input and output are immutable values; tokens are whole numbers, offsets count characters."""

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
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.refs import exclusion_names
from assembly.engine.rules import Rule

ENGINE_VERSION = 9
"""The version of the engine, recorded with each assembly; a replay uses the recorded version.

The version is raised whenever equal input would give other bytes. Changes:
2: the tokens reserved for turns include the separator from the section before.
3: the selection of turns counts that separator, too, so that the turns selected are those with reserved tokens.
4: untrusted text is escaped where it could pass for structure, and headings inside owners' files are shifted.
5: long lines that do not fit are compacted to the passage that matches the topic, if the profile compacts.
6: see MEMORY_LAYER_SINCE.
7: see WHOLE_TEXTS_SINCE.
8: see ALL_PRIORITIES_SINCE.
9: see `reconcile.TOLD_STATEMENTS_SINCE`.
"""
ESCAPED_SINCE = 4
"""The first version that escapes untrusted text which could pass for structure."""
PASSAGES_SINCE = 5
"""The first version that compacts long lines to passages."""
MEMORY_LAYER_SINCE = 6
"""The first version with the selection rules of the memory layer: what may depend on it says so where it is decided."""
WHOLE_TEXTS_SINCE = 7
"""The first version in which a caller's own texts are whole while the whole budget has room, a document that is
included whole stands for its passages at levels of detail, too, and the best block of a section is cut rather than
replaced.
"""
ALL_PRIORITIES_SINCE = 8
"""The first version in which items that are no blocks have a priority, by which the better of two duplicates stays."""

Origin = Literal["person", "agent", "tool", "external"]
"""Where a text comes from. person: somebody wrote it; agent: an agent inferred it; tool: a program returned it;
external: it comes from outside of the organisation. In the order of trust, the most trusted first.
"""
ORIGINS: tuple[Origin, ...] = get_args(Origin)

Level = Literal["macro", "micro", "atomic"]
"""A level of detail of a text (seed "Memory Layer"). macro: what it is about; micro: its most telling sentences;
atomic: the text itself.
"""
LEVELS: tuple[Level, ...] = get_args(Level)
LevelPreference = Literal["macro", "micro", "atomic", "adaptive"]
"""The level of all items, or `adaptive`: each item as detailed as there is room for, the best items first."""
LEVEL_PREFERENCES: tuple[LevelPreference, ...] = get_args(LevelPreference)
ShorterLevel = Literal["macro", "micro"]


def is_trusted_origin(origin: Origin | None, least: Origin) -> bool:
    """Return whether the origin is at least as trusted as `least`; an unknown origin is not."""
    return origin is not None and ORIGINS.index(origin) <= ORIGINS.index(least)


SectionStatus = Literal["whole", "cut", "partial", "left_out", "empty"]
"""The state of a filled section.

cut: its best item was cut to fit; partial: some items did not fit; left_out: none of its items fit; empty: no item was
included, and none was excluded for lack of budget; whole: every item that could be included fit."""
SECTION_STATUSES: tuple[SectionStatus, ...] = get_args(SectionStatus)

Scalar = str | int | float | bool | None

Detail = Mapping[str, Any]
"""The numbers behind a decision, JSON-safe; `steps` lists the overflow steps, each with the tokens before and after."""

NO_DETAIL: Detail = MappingProxyType({})


class InvalidAssembly(ValueError):
    """An error for a profile, request and candidates that contradict each other: a mistake of the calling program."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A shorter form of a text, with the name of its model; an empty text means that it could not be shortened."""

    text: str = field(repr=False)
    model: str

    def to_dict(self) -> dict[str, str]:
        """Return the summary as JSON-safe data, with the SHA-256 of the text in place of the text."""
        return {"model": self.model, "sha256": hashlib.sha256(self.text.encode()).hexdigest()}


@dataclass(frozen=True, slots=True)
class WantedSummary:
    """A candidate that does not fit whole, but may fit as a summary of at most `max_tokens` tokens."""

    section: str
    ref: str
    text: str = field(repr=False)
    max_tokens: int
    sensitivity: int = 1
    """The sensitivity of the candidate, by which the text may be sent to a server or not."""


class Candidate(Struct, frozen=True, eq=False):  # noqa: PLW1641 - it holds dicts, which have no hash
    """One piece of text offered for the context. A time without a zone raises InvalidAssembly."""

    ref: str
    """The ref of the candidate with its version: memory:<uuid>@3."""
    section: str
    text: str
    """The text as stored, white space included."""
    kind: str = ""
    date: dt.date | None = None
    occurred_at: dt.datetime | None = None
    similarity: float | None = None
    """Similarity to the topic, by the source's own search; None: not searched. NaN and infinity count as None."""
    superseded_by: str | None = None
    """The ref of the item that replaced the candidate."""
    retired: str | None = None
    """The reason why the candidate is no longer valid, in the words of the person who retired it."""
    pinned: bool = False
    """Whether the candidate precedes all others in a section of lines, whatever its similarity to the topic."""
    score: float | None = None
    """The source's own score, by which blocks compete for their section's cap."""
    measures: Mapping[str, float] = {}
    """Scores by name; the profile weights recency, relevance, salience and others, the rest explain them."""
    position: int | None = None
    """The index of the candidate in a sequence or a conversation, from 0."""
    labels: Mapping[str, tuple[str, ...]] = {}
    """Labels by which selectors of rules match the candidate: path, kg_entity, memory_kind, tag."""
    summary: Summary | None = None
    """A summary of the text, if one was requested before."""
    origin: Origin | None = None
    """Where the text comes from, as the server recorded it; None: unknown, as in records before version 6."""
    levels: Mapping[ShorterLevel, Summary] = {}
    """Shorter forms of the text by level, with the names of their derivers; a text without one is included whole."""
    sensitivity: int = 1
    """How confidential the text is, as its source stored it; records have the highest level of their candidates."""
    mark: str = ""
    """What the engine puts in parentheses before the text, as of a disputed one; no source sets it."""
    memo: dict[Hashable, Any] = {}
    """Cached values that follow from the text and the facts of `lasting_key`, because the same texts are used in many
    contexts: candidates that are equal in these may share it. A new candidate, also one that replaces another, begins
    without any."""
    own_memo: dict[Hashable, Any] = {}
    """Cached values that depend on other facts of the candidate, such as its measures."""

    def __post_init__(self) -> None:
        _require_zone(self.occurred_at)
        if self.similarity is not None and not math.isfinite(self.similarity):
            structs.force_setattr(self, "similarity", None)
        if self.score is not None and not math.isfinite(self.score):
            structs.force_setattr(self, "score", None)
        structs.force_setattr(self, "memo", {})
        structs.force_setattr(self, "own_memo", {})
        if not all(map(math.isfinite, self.measures.values())):
            raise InvalidAssembly(f"The measures of {self.ref} must be finite numbers.")

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, whatever was cached."""
        return isinstance(other, Candidate) and all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    def __repr__(self) -> str:
        """Return the facts without the text."""
        return f"Candidate({', '.join(f'{name}={getattr(self, name)!r}' for name in _COMPARED if name != 'text')})"

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as JSON-safe data without its texts, which records store once, by their hash."""
        return {
            **self.lasting_facts(),
            "section": self.section,
            "similarity": None if self.similarity is None else float(self.similarity),
            **({} if self.score is None else {"score": float(self.score)}),
            **({"measures": {name: float(value) for name, value in self.measures.items()}} if self.measures else {}),
            **({} if self.position is None else {"position": self.position}),
            **({"summary": self.summary.to_dict()} if self.summary else {}),
        }

    def lasting_facts(self) -> dict[str, Any]:
        """Return the facts of `to_dict` that depend neither on the request nor on the section."""
        return {
            "ref": self.ref,
            "kind": self.kind,
            "date": self.date.isoformat() if self.date else None,
            "occurred_at": self.occurred_at.astimezone(dt.UTC).isoformat() if self.occurred_at else None,
            "superseded_by": self.superseded_by,
            **({} if self.retired is None else {"retired": self.retired}),
            **({"pinned": True} if self.pinned else {}),
            **({"labels": {name: list(values) for name, values in self.labels.items()}} if self.labels else {}),
            **({} if self.origin is None else {"origin": self.origin}),
        }

    def lasting_key(self) -> Hashable:
        """Return all facts of the candidate that depend neither on the request nor on the section, with its texts."""
        facts = [getattr(self, name) for name in _LASTING]
        return (*facts, tuple(self.labels.items()), tuple(self.levels.items()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], text: str, summary: str = "") -> "Candidate":
        """Return the candidate that to_dict described, with its text and that of its summary, if it has one."""
        day, moment, told = data["date"], data["occurred_at"], data.get("summary")
        parsed = {
            "date": dt.date.fromisoformat(day) if day else None,
            "occurred_at": dt.datetime.fromisoformat(moment) if moment else None,
            "labels": {name: tuple(values) for name, values in data.get("labels", {}).items()},
            "summary": Summary(summary, told["model"]) if told else None,
        }
        return cls(text=text, **{**data, **parsed})


_MEMOS = {"memo", "own_memo"}
_COMPARED = tuple(name for name in Candidate.__struct_fields__ if name not in _MEMOS | {"sensitivity"})
_OF_REQUEST = {"section", "similarity", "score", "measures", "position", "sensitivity"}
_LASTING = tuple(
    name for name in Candidate.__struct_fields__ if name not in _MEMOS | _OF_REQUEST | {"labels", "levels"}
)


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A request for a context, as the engine takes it.

    Raises InvalidAssembly for a negative budget or a time without a zone.
    """

    budget: int
    topic: str
    tokenizer: str
    now: dt.datetime
    exclude: tuple[str, ...] = ()
    """Ids, or refs with or without version, of items to exclude; required items are included nevertheless."""
    appended: str = ""
    """The ref of an event appended later: it is placed first, and the weakest items are dropped to fit it."""
    rules: tuple[Rule, ...] = ()
    """The rules that fired, the narrowest scope first."""
    engine_version: int = ENGINE_VERSION
    """The engine version whose bytes are requested."""
    reconciliations: tuple[Reconciliation, ...] = ()
    """The known conflicts between candidates: see `assembly.engine.reconcile`."""

    def __post_init__(self) -> None:
        _require_zone(self.now)
        if self.budget < 0:
            raise InvalidAssembly(f"A budget cannot be negative: {self.budget}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the request as JSON-safe data; from_dict restores an equal request."""
        rules = [rule.to_dict() for rule in self.rules]
        found = {"reconciliations": [one.to_dict() for one in self.reconciliations]} if self.reconciliations else {}
        facts = {**asdict(self), "now": self.now.astimezone(dt.UTC).isoformat(), "rules": rules}
        del facts["reconciliations"]
        return {**facts, **found}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "EngineRequest":
        """Return the request that to_dict described."""
        moment = dt.datetime.fromisoformat(data["now"])
        rules = tuple(Rule.from_dict(rule) for rule in data.get("rules", ()))
        parsed = {
            "now": moment,
            "exclude": tuple(data.get("exclude", ())),
            "rules": rules,
            "reconciliations": tuple(map(Reconciliation.from_dict, data.get("reconciliations", ()))),
        }
        return cls(**{**data, **parsed})

    def excludes(self, ref: str) -> bool:
        """Return whether the request excludes the item that the ref names."""
        if not self.exclude:
            return False
        return bool(exclusion_names(ref) & set(self.exclude))


class Decision(Struct, frozen=True):
    """The result for one candidate, included or excluded, and the reason."""

    ref: str
    section: str
    code: Code
    rank: int | None = None
    """The rank in the section, from 1 for the best; None: not ranked."""
    score: float | None = None
    signals: tuple[tuple[str, float], ...] = ()
    tokens: int = 0
    """Tokens that the item adds to the context, heading and separator included; 0 if excluded."""
    tokens_full: int = 0
    """Tokens of the whole item, counted alone."""
    start: int | None = None
    """The position of the item's first character in the content; None if excluded."""
    end: int | None = None
    detail: Detail = NO_DETAIL
    """The numbers behind the code; reasons.py words them."""

    @property
    def included(self) -> bool:
        """Whether the candidate is included in the context."""
        return self.code.included


class SectionResult(Struct, frozen=True):
    """The result for one section; the content from `start` to `end` holds its heading and its items."""

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
    """A finished context and the decision on every candidate."""

    content: str = field(repr=False)
    tokens: int
    budget: int
    truncated: bool
    """Whether an item was cut, shortened, or excluded for lack of budget."""
    sections: tuple[SectionResult, ...]
    decisions: tuple[Decision, ...]
    warnings: tuple[WarningCode, ...]
    sha256: str
    """The SHA-256 of the content in UTF-8, as a hex digest."""
    quality: float | None = None
    """The mean relevance, 0 to 1, of the included items that a search found; None: there was no topic."""
    wanted: tuple[WantedSummary, ...] = ()
    """Summaries that are missing; the content has beginnings of the texts instead, so the engine must run again."""


def _require_zone(moment: dt.datetime | None) -> None:
    if moment is not None and moment.utcoffset() is None:
        raise InvalidAssembly(f"A time needs its zone: {moment.isoformat()}.")


def field_values(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass or a Struct by name, without copying their values as dataclasses.asdict does."""
    if isinstance(value, Struct):
        return structs.asdict(value)
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


TEXT_COPIES = 3
"""How many copies of a cached candidate's text are in memory: as read, as shown in contexts, and without its end."""


def candidate_text_bytes(text: str) -> int:
    """Return about how many bytes of memory a text takes while its candidate is cached."""
    return TEXT_COPIES * sys.getsizeof(text)
