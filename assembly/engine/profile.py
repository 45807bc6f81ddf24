"""Profiles: which sections a context has, in which order, and what may stand in each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from assembly.engine.linear_ranker import Ranker
from assembly.engine.types import InvalidAssembly, field_values

Shape = Literal["text", "entries", "lines", "blocks", "sequence", "turns"]
"""text: one candidate is the whole section; entries: dated, newest first, a blank line between them;
lines: one line each, in rank order; blocks: a blank line between them, best score first, in contest with all other
blocks of the profile; sequence: a blank line between them, in the order of their positions; turns: of a conversation,
in that order, of which the latest have the first chance."""

Overflow = Literal["cut", "drop"]
"""What becomes of the best item where no item of a section has room: it is cut to fit, or left out like the others."""

Step = Literal["drop", "compact", "summarise"]
"""What becomes of what is over its room, in this order: the weakest hits are left out, older turns are compacted, long
outputs of tools and the weakest items are summarised. See `assembly.engine.overflow`."""

STEPS: tuple[Step, ...] = get_args(Step)

CutAt = Literal["anywhere", "sentence", "paragraph", "heading"]
"""Where a text that is cut may end."""

TRUSTED_SOURCES = frozenset({"agent_files", "team_files"})
"""Sources that give the files of owners, which are trusted: whatever else is in a context was merely seen."""

RANKED_SOURCE = "semantic_content"
"""The source of blocks that a section's ranker ranks."""
SEED_RANKER = "seed"
"""The name of the seed's formula, similarity times boosts, among the rankers: it has no weights."""

TextTreatment = Literal["owners_file", "seen", "said", "as_written"]
"""What is done to a text on its way into a context. owners_file: its headings are shifted; seen: whatever could pass
for structure is escaped; said: the same in turns of a conversation; as_written: nothing, as before version 4."""

MAX_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each score of a block counts in its final score; those of the seed "Memory Layer" unless given."""

    recency: float = 0.2
    relevance: float = 0.4
    salience: float = 0.0
    credibility: float = 0.25
    coherence: float = 0.15

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) and weight >= 0 for weight in field_values(self).values()):
            raise InvalidAssembly("A weight is a number from 0 upwards.")


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
    share: float | None = None
    """Most percent of the budget, as a second cap: floor(budget * share / 100) tokens."""
    overflow: Overflow = "cut"
    ranker: Ranker | None = None
    """The ranker by which the source of these blocks chose them; None: it chose by the formula of the seed."""

    @property
    def ranker_name(self) -> str | None:
        """The name of what ranks the passages of this section; None for one of another source."""
        if self.source != RANKED_SOURCE:
            return None
        return self.ranker.name if self.ranker else SEED_RANKER

    def __hash__(self) -> int:
        """By what tells sections apart: a hash of every field would find no more, in four times as long."""
        return hash((self.key, self.source))

    @property
    def is_trusted(self) -> bool:
        """Whether its texts are files of owners. No source is trusted unless it is named here."""
        return self.source in TRUSTED_SOURCES

    @property
    def treatment(self) -> TextTreatment:
        """What is done to its texts."""
        if self.is_trusted and self.shape == "text":
            return "owners_file"
        return "said" if self.shape == "turns" else "seen"

    def cap_within(self, budget: int) -> int | None:
        """Most tokens under this budget; None: what remains of it. Source: "Token Management" of the seed
        "Context Assembly Specification"."""
        allocated = None if self.share is None else math.floor(budget * (self.share / MAX_PERCENT))
        return min((cap for cap in (self.cap, allocated) if cap is not None), default=None)


class UnescapedSection(Section):
    """A section as the engine rendered it before its version 4: its texts and labels stand as they were written."""

    __slots__ = ()

    @property
    def treatment(self) -> TextTreatment:
        """Nothing is done to its texts."""
        return "as_written"


@dataclass(frozen=True, slots=True)
class Profile:
    """Which sections a context has, in which order, and how much room each may take.

    Raises InvalidAssembly when two sections share a key; when a required section stands after one that is not (which
    could then already have taken its room), is capped or competes for its place; when the blocks do not stand
    together; when anything follows the turns.
    """

    name: str
    version: int
    sections: tuple[Section, ...]
    budget: int = 16_000
    similarity_threshold: float = 0.0
    """A search that finds nothing at or above it has found nothing."""
    weights: Weights = Weights()
    depth_limit: int = 2
    """How many relations away from the entities at hand a walk of the graph goes."""
    over_budget: tuple[Step, ...] = ()
    """The steps that are taken for what is over its room; without any, it is left out, or cut, as its section says."""
    fill: bool = False
    """Below 90 % of the budget, what was left out for want of room gets another chance, shorter."""
    cut_at: CutAt = "anywhere"
    quality_min: float = 0.0
    """Least mean relevance of what was found by searching; below it, the context says QUALITY_BELOW_MINIMUM."""
    ranker: Ranker | None = None
    """By what the lines of a section rank where there is a topic; None: by similarity alone."""

    def __hash__(self) -> int:
        """By what tells profiles apart: see Section."""
        return hash((self.name, self.version, self.budget))

    def __post_init__(self) -> None:
        keys = [section.key for section in self.sections]
        if len(set(keys)) < len(keys):
            raise InvalidAssembly(f"Profile {self.name} has two sections of one key: {', '.join(keys)}.")
        required = [section.required for section in self.sections]
        if required != sorted(required, reverse=True):
            raise InvalidAssembly(f"In profile {self.name} the required sections must stand first.")
        if any(section.required and section.cap_within(0) is not None for section in self.sections):
            raise InvalidAssembly(f"Profile {self.name} gives a cap to a required section, which is never cut.")
        if any(section.required and section.shape in {"blocks", "turns"} for section in self.sections):
            raise InvalidAssembly(f"In profile {self.name} a required section has items that compete for room.")
        shapes = "".join("b" if section.shape == "blocks" else "-" for section in self.sections)
        if "b-" in shapes and "b" in shapes[shapes.index("b-") + 1 :]:
            raise InvalidAssembly(f"In profile {self.name} the sections of blocks must stand together.")
        if "turns" in [section.shape for section in self.sections[:-1]]:
            raise InvalidAssembly(f"In profile {self.name} the turns of the conversation must stand last.")
        if self.over_budget != tuple(step for step in STEPS if step in self.over_budget):
            raise InvalidAssembly(f"In profile {self.name} the steps for what is over budget are {', '.join(STEPS)}.")

    def as_written(self) -> "Profile":
        """The same with the rendering of the engine before its version 4."""
        return replace(self, sections=tuple(UnescapedSection(**field_values(section)) for section in self.sections))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; from_dict restores an equal profile."""
        sections = [_section_document(section) for section in self.sections]
        facts = {**field_values(self), "sections": sections, "over_budget": list(self.over_budget)}
        return {
            **facts,
            "weights": field_values(self.weights),
            "ranker": self.ranker.to_dict() if self.ranker else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Profile":
        """The profile that to_dict described, also where it was recorded before a field existed."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        sections = tuple(_section_from_dict(section) for section in data["sections"])
        weights = Weights(**data.get("weights", {}))
        over_budget = tuple(data.get("over_budget", ()))
        ranker = Ranker.from_dict(data["ranker"]) if data.get("ranker") else None
        parsed = {"sections": sections, "weights": weights, "over_budget": over_budget, "ranker": ranker}
        return cls(**{**given, **parsed})


def _section_document(section: Section) -> dict[str, Any]:
    """Return the section as JSON. Most have no ranker, and none says so: records are to stay small."""
    facts = field_values(section)
    ranker = facts.pop("ranker")
    return {**facts, "ranker": ranker.to_dict()} if ranker else facts


def _section_from_dict(data: Mapping[str, Any]) -> Section:
    ranker = data.get("ranker")
    return Section(**{**data, "ranker": Ranker.from_dict(ranker) if ranker else None})
