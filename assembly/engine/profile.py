"""A profile defines which sections a context has, in which order, and what each may contain."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from assembly.engine.linear_ranker import Ranker
from assembly.engine.scopes import MemoryScope, scope_of
from assembly.engine.types import InvalidAssembly, LevelPreference, Origin, field_values

Shape = Literal["text", "entries", "lines", "blocks", "sequence", "turns", "note"]
"""How the items of a section are arranged.

text: one candidate is the whole section; entries: dated items, newest first, a blank line between them;
lines: one line per item, in rank order; blocks: a blank line between items, best score first, in competition with all
other blocks of the profile; sequence: a blank line between items, in the order of their positions; turns: turns of a
conversation, in the order of their positions, of which the latest are selected first; note: a line without a heading
at the end of the context.
"""

Overflow = Literal["cut", "drop"]
"""What happens to the best item if no item of a section fits: cut to fit, or excluded like the others."""

Step = Literal["drop", "compact", "summarise"]
"""A way to make items fit, in the order of use: the weakest hits are dropped, older turns are compacted, long outputs
of tools and the weakest items are summarised. See `assembly.engine.overflow`.
"""

STEPS: tuple[Step, ...] = get_args(Step)

CutAt = Literal["anywhere", "sentence", "paragraph", "heading"]
"""Where a text may end when it is cut."""

Delimiter = Literal["headings", "tags"]
"""What a section begins with: a Markdown heading, or a tag, which also ends it."""

CutMark = Literal["seed", "source"]
"""The mark of a cut. seed: that of the seed "Siestai", ... [truncated]; source: one that names where the rest is, as in
[cut: 7 of 27 paragraphs, KNOWLEDGE v3].
"""

ConflictMode = Literal["mark", "withhold", "tell", "warn", "off"]
"""What happens to unresolved major conflicts (seed "Memory Layer": flag for human review).

mark: the more trusted side is included with a visible mark; withhold: neither side is; tell: both are, with marks;
warn: both are, without marks, and the warning CONFLICT_FLAGGED tells of them, as of minor ones; off: the profile does
not reconcile, whatever is known of its items.
"""

PrivacyMode = Literal["off", "mask", "strict"]
"""What a context does not tell. off: everything up to the clearance is told; mask: placeholders stand for personal
data; strict: as mask, and nothing above internal is read, whatever the clearance.
"""
PRIVACY_MODES: tuple[PrivacyMode, ...] = get_args(PrivacyMode)


def stricter_mode(*modes: PrivacyMode) -> PrivacyMode:
    """Return the strictest of the modes."""
    return max(modes, key=PRIVACY_MODES.index)


TRUSTED_SOURCES = frozenset({"agent_files", "team_files", "organisation_files"})
"""Sources of owners' files, the only trusted text; every other text in a context is data, not instructions."""

RANKED_SOURCE = "semantic_content"
"""The source whose blocks are ranked by their section's ranker."""
SEED_RANKER = "seed"
"""The ranker name that means the formula of the seed, similarity times boosts, which has no weights."""

TextTreatment = Literal["owners_file", "seen", "said", "as_written"]
"""How a text is changed when it is put into a context.

owners_file: its headings are shifted; seen: text that could pass for structure is escaped; said: the same escaping,
for turns of a conversation; as_written: unchanged, as in engine versions before 4.
"""

MAX_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each measure in the final score of a block; the defaults are those of the seed "Memory Layer"."""

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
    """A heading of the context, and which items may appear below it."""

    key: str
    label: str
    layer: str
    source: str
    shape: Shape
    cap: int | None = None
    """The most tokens of the section, heading and marker included; None: the rest of the budget."""
    required: bool = False
    """Whether the section is always included and never cut."""
    top_k: int | None = None
    """How many of the best items may be selected; None: all."""
    share: float | None = None
    """The most percent of the budget, as a second cap: floor(budget * share / 100) tokens."""
    overflow: Overflow = "cut"
    ranker: Ranker | None = None
    """The ranker by which the source of these blocks selected them; None: the source used the formula of the seed."""
    least_origin: Origin | None = None
    """The least trusted origin that an item may have; None: any, and unknown ones too."""
    relevance_floor: float = 0.0
    """The least relevance, 0 to 1, of a block, if there is a topic; blocks below it do not fill free room."""
    delimit: Delimiter = "headings"
    """The delimiter of the section; the engine sets that of the profile."""
    cut_mark: CutMark = "seed"
    """The mark of a cut in the section; the engine sets that of the profile."""

    @property
    def ranker_name(self) -> str | None:
        """The name of the ranker of the section's passages; None if the section's source does not use a ranker."""
        if self.source != RANKED_SOURCE:
            return None
        return self.ranker.name if self.ranker else SEED_RANKER

    def __hash__(self) -> int:
        """Return a hash of the key and the source, which suffice; hashing every field takes four times as long."""
        return hash((self.key, self.source))

    @property
    def scope(self) -> MemoryScope | None:
        """The memory scope of the section's items; None if they belong to none."""
        return scope_of(self.source, self.key)

    @property
    def form(self) -> tuple[str, ...]:
        """Everything that decides how the section's items are rendered, as a key for caches."""
        return self.shape, self.treatment, self.delimit, self.cut_mark

    @property
    def is_trusted(self) -> bool:
        """Whether the section's texts are owners' files; only the sources in TRUSTED_SOURCES are trusted."""
        return self.source in TRUSTED_SOURCES

    @property
    def treatment(self) -> TextTreatment:
        """How the section's texts are changed when they are put into a context."""
        if self.is_trusted and self.shape == "text":
            return "owners_file"
        return "said" if self.shape == "turns" else "seen"

    def cap_within(self, budget: int) -> int | None:
        """Return the most tokens of the section under this budget; None: the rest of the budget.

        Source: "Token Management" of the seed "Context Assembly Specification".
        """
        allocated = None if self.share is None else math.floor(budget * (self.share / MAX_PERCENT))
        return min((cap for cap in (self.cap, allocated) if cap is not None), default=None)


Domain = Literal["general", "code", "documentation", "research"]
"""The domain of the work (seed "Memory Layer": domain weights)."""
DOMAINS: tuple[Domain, ...] = get_args(Domain)
DOMAIN_WEIGHTS: Mapping[Domain, Weights] = {
    "general": Weights(),
    "code": Weights(relevance=0.4, recency=0.35, credibility=0.15, coherence=0.1),
    "documentation": Weights(relevance=0.45, recency=0.1, credibility=0.3, coherence=0.15),
    "research": Weights(relevance=0.45, recency=0.05, credibility=0.35, coherence=0.15),
}
"""Weights by the domain of the work. general: those of the seed "Memory Layer", which names domains without numbers.

The others are this project's: code ages fast, documentation and research count by whom they come from.
"""


class UnescapedSection(Section):
    """A section as engine versions before 4 render it: its texts and labels are not escaped."""

    __slots__ = ()

    @property
    def treatment(self) -> TextTreatment:
        """The treatment of the section's texts: none."""
        return "as_written"


@dataclass(frozen=True, slots=True)
class Profile:
    """The sections of a context in their order, with the budget and the settings for selecting their items.

    Raises InvalidAssembly if two sections share a key; if a required section follows one that is not required (which
    could then have used up its budget), is capped or has items that compete; if the sections of blocks are not
    adjacent; if anything follows the turns; if the overflow steps are out of order, or given besides levels of detail.
    """

    name: str
    version: int
    sections: tuple[Section, ...]
    budget: int = 16_000
    similarity_threshold: float = 0.0
    """The least similarity of a result; a search with no item at or above it has found nothing."""
    weights: Weights = Weights()
    domain: Domain | None = None
    """The domain whose weights stood in for weights that were not given; None: none. `weights` has all of them."""
    depth_limit: int = 2
    """How many relations away from the mentioned entities a search of the graph goes."""
    over_budget: tuple[Step, ...] = ()
    """The steps that make items fit; without any, items that do not fit are excluded or cut, as their section says."""
    fill: bool = False
    """Whether, below 90 % of the budget, excluded items are tried again in shorter form."""
    cut_at: CutAt = "anywhere"
    quality_min: float = 0.0
    """The least mean relevance of search results; below it, the context has the warning QUALITY_BELOW_MINIMUM."""
    ranker: Ranker | None = None
    """The ranker for lines when there is a topic; None: lines are ranked by similarity alone."""
    lod: LevelPreference | None = None
    """The level of detail of blocks; None: blocks have no levels, and the overflow steps shorten them."""
    scope_limits: Mapping[MemoryScope, int] = field(default_factory=dict)
    """How many of the best blocks of each scope may be selected; a scope that is not named has no limit."""
    half_life: Mapping[MemoryScope, float] = field(default_factory=dict)
    """The days in which the recency of a scope's blocks halves; a scope that is not named has the seed's exp(-h/24)."""
    credibility: Mapping[MemoryScope, float] = field(default_factory=dict)
    """The credibility, 0 to 1, of a scope's blocks that nobody has rated; a scope that is not named has 0.5."""
    delimit: Delimiter = "headings"
    cut_mark: CutMark = "seed"
    deduplicate: bool = False
    """Whether a text that is included already is excluded wherever it is offered again, in any shape."""
    report_failures: bool = False
    """Whether the context ends with a line that names the sources which failed or were late."""

    conflicts: ConflictMode = "off"
    """What happens to known conflicts between items; records from before conflicts were known have none."""
    conflict_sensitivity: float = 1.0
    """The factor by which severities are multiplied before they count as minor or major, 0.5 to 2."""
    privacy_mode: PrivacyMode = "off"
    coherence_min: float = 0.0
    """The least mean coherence of the blocks; below it, the context has the warning COHERENCE_FAILURE."""
    second_round: bool = False
    """Whether the sources are read a second time for a context that the first time left incomplete."""
    summaries_max: int | None = None
    """The most texts that a context sends to the model server for summaries; None: no limit of its own."""

    def __hash__(self) -> int:
        """Return a hash of name, version and budget, which suffice; hashing every field takes longer."""
        return hash((self.name, self.version, self.budget))

    def __post_init__(self) -> None:
        keys = [section.key for section in self.sections]
        if len(set(keys)) < len(keys):
            raise InvalidAssembly(f"Profile {self.name} has two sections of one key: {', '.join(keys)}.")
        required = [section.required for section in self.sections]
        if required != sorted(required, reverse=True):
            raise InvalidAssembly(f"In profile {self.name} the required sections must come first.")
        if any(section.required and section.cap_within(0) is not None for section in self.sections):
            raise InvalidAssembly(f"Profile {self.name} gives a cap to a required section, which is never truncated.")
        if any(section.required and section.shape in {"blocks", "turns"} for section in self.sections):
            raise InvalidAssembly(f"In profile {self.name} a required section has items that compete for tokens.")
        shapes = "".join("b" if section.shape == "blocks" else "-" for section in self.sections)
        if "b-" in shapes and "b" in shapes[shapes.index("b-") + 1 :]:
            raise InvalidAssembly(f"In profile {self.name} the sections of blocks must be adjacent.")
        if "note" in [section.shape for section in self.sections[:-1]]:
            raise InvalidAssembly(f"In profile {self.name} the note must come last.")
        if "turns" in [section.shape for section in self.without_note[:-1]]:
            raise InvalidAssembly(f"In profile {self.name} the turns of the conversation must come last.")
        if self.lod and self.over_budget:
            raise InvalidAssembly(f"Profile {self.name} has levels of detail, which replace the steps over budget.")
        if self.over_budget != tuple(step for step in STEPS if step in self.over_budget):
            raise InvalidAssembly(f"In profile {self.name} the steps for what is over budget are {', '.join(STEPS)}.")

    @property
    def without_note(self) -> tuple[Section, ...]:
        """The sections without the note at the end, if there is one."""
        has_note = bool(self.sections) and self.sections[-1].shape == "note"
        return self.sections[:-1] if has_note else self.sections

    def formatted(self) -> "Profile":
        """Return the profile with its delimiter and its mark of a cut in each section."""
        if self.delimit == "headings" and self.cut_mark == "seed":
            return self
        sections = [replace(one, delimit=self.delimit, cut_mark=self.cut_mark) for one in self.sections]
        return replace(self, sections=tuple(sections))

    def as_written(self) -> "Profile":
        """Return the profile with its sections rendered as engine versions before 4 do."""
        return replace(self, sections=tuple(UnescapedSection(**field_values(section)) for section in self.sections))

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as JSON-safe data; from_dict restores an equal profile."""
        sections = [_section_document(section) for section in self.sections]
        facts = {**field_values(self), "sections": sections, "over_budget": list(self.over_budget)}
        facts |= {name: dict(facts[name]) for name in ("scope_limits", "half_life", "credibility")}
        return {
            **_without_defaults(facts, PROFILE_DEFAULTS),
            "weights": field_values(self.weights),
            "ranker": self.ranker.to_dict() if self.ranker else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Profile":
        """Return the profile that to_dict described; fields missing in older records get their defaults."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        sections = tuple(_section_from_dict(section) for section in data["sections"])
        weights = Weights(**data.get("weights", {}))
        over_budget = tuple(data.get("over_budget", ()))
        ranker = Ranker.from_dict(data["ranker"]) if data.get("ranker") else None
        parsed = {"sections": sections, "weights": weights, "over_budget": over_budget, "ranker": ranker}
        return cls(**{**given, **parsed})


PROFILE_DEFAULTS: Mapping[str, Any] = {
    "domain": None,
    "lod": None,
    "scope_limits": {},
    "half_life": {},
    "credibility": {},
    "delimit": "headings",
    "cut_mark": "seed",
    "deduplicate": False,
    "report_failures": False,
    "conflicts": "off",
    "conflict_sensitivity": 1.0,
    "coherence_min": 0.0,
    "privacy_mode": "off",
    "second_round": False,
    "summaries_max": None,
}
"""Fields that a recorded profile omits if they have these values, as all records before engine version 6 do."""
SECTION_DEFAULTS: Mapping[str, Any] = {
    "least_origin": None,
    "relevance_floor": 0.0,
    "delimit": "headings",
    "cut_mark": "seed",
}
"""The same for a recorded section."""


def _without_defaults(facts: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in defaults or value != defaults[name]}


def _section_document(section: Section) -> dict[str, Any]:
    """Return the section as JSON-safe data; the key `ranker` is omitted if there is none, to save space in records."""
    facts = _without_defaults(field_values(section), SECTION_DEFAULTS)
    ranker = facts.pop("ranker")
    return {**facts, "ranker": ranker.to_dict()} if ranker else facts


def _section_from_dict(data: Mapping[str, Any]) -> Section:
    ranker = data.get("ranker")
    return Section(**{**data, "ranker": Ranker.from_dict(ranker) if ranker else None})
