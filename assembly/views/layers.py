"""Where the budget of a context went, layer by layer and section by section. Pure: everything comes in as values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from assembly.engine.codes import Code
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.views.explanation import Tag, cut_tag, is_left_out, tag_of_code
from assembly.views.waterfall import tag_of

WIDTH, GAP = 1000, 1.5  # of the bar, in the units of its SVG
FEW = 3  # sections of a layer whose names stand on its line


@dataclass(frozen=True, slots=True)
class Room:
    """What became of a cap, in tokens: `used` + `lent` + `unused` is the cap, or the whole budget where that is less.

    Unused is what it still might have used of what was free in the end. Lent is the rest of its cap: others used it.
    Without a cap of its own, which is taken from what remains, nothing was lent and nothing unused.
    """

    cap: int | None
    used: int
    lent: int | None = None
    unused: int | None = None

    @classmethod
    def of(cls, cap: int | None, used: int, *, budget: int, free: int) -> "Room":
        """That of a cap in a context of so large a budget, of which so much was free in the end."""
        if cap is None:
            return cls(cap, used)
        left = max(0, min(cap, budget) - used)
        unused = min(left, free)
        return cls(cap, used, left - unused, unused)


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section in the table of the budget."""

    label: str
    layer: str
    room: Room
    required: bool
    included: int
    considered: int
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class LayerRow:
    """Sections of one layer that follow one another, and what they have together."""

    layer: str
    room: Room
    sections: tuple[SectionRow, ...]

    @property
    def label(self) -> str:
        """The names of its sections; empty where these are too many for a line."""
        return ", ".join(row.label for row in self.sections) if len(self.sections) <= FEW else ""

    @property
    def required(self) -> bool:
        """Whether none of it may be cut."""
        return all(row.required for row in self.sections)

    @property
    def included(self) -> int:
        return sum(row.included for row in self.sections)

    @property
    def considered(self) -> int:
        return sum(row.considered for row in self.sections)


@dataclass(frozen=True, slots=True)
class BarPiece:
    """A layer in the bar, from x to x + width in the units of its SVG."""

    layer: str
    labels: str
    tokens: int
    x: float
    width: float

    @property
    def inner(self) -> float:
        """Its width without the gap to the next piece."""
        return round(max(self.width - GAP, self.width / 2), 2)


def free_of(assembly: Assembly) -> int:
    """Tokens of the budget that nothing used."""
    return max(0, assembly.budget - assembly.tokens)


def layer_rows(assembly: Assembly, decisions: Sequence[Decision]) -> list[LayerRow]:
    """The layers in the order of the context, each with its sections."""
    budget, free = assembly.budget, free_of(assembly)
    found = []
    for layer, group in groupby(_section_rows(assembly, decisions), key=attrgetter("layer")):
        sections = tuple(group)
        caps = [row.room.cap for row in sections]
        cap = None if None in caps else sum(cap for cap in caps if cap is not None)
        used = sum(row.room.used for row in sections)
        found.append(LayerRow(layer, Room.of(cap, used, budget=budget, free=free), sections))
    return found


def bar(assembly: Assembly, rows: Sequence[LayerRow]) -> list[BarPiece]:
    """The layers along the budget, in order; empty ones not at all."""
    scale = WIDTH / max(assembly.budget, assembly.tokens, 1)
    found, before = [], 0
    for row in rows:
        tokens = row.room.used
        labels = ", ".join(section.label for section in row.sections if section.room.used)
        if tokens:
            found.append(BarPiece(row.layer, labels, tokens, round(before * scale, 2), round(tokens * scale, 2)))
        before += tokens
    return found


def _section_rows(assembly: Assembly, decisions: Sequence[Decision]) -> Iterator[SectionRow]:
    of_profile = {section["key"]: section for section in assembly.profile["sections"]}
    of_section: dict[str, list[Decision]] = {}
    for decision in decisions:
        of_section.setdefault(decision.section, []).append(decision)
    budget, free = assembly.budget, free_of(assembly)
    for section in assembly.sections:
        described, own = of_profile[section["key"]], of_section.get(section["key"], [])
        yield SectionRow(
            label=section["label"],
            layer=section["layer"].lower(),
            room=Room.of(section["cap"], section["tokens"], budget=budget, free=free),
            required=described["required"],
            included=section["included"],
            considered=section["considered"],
            tags=_tags(section["status"], own, tag_of(assembly, described)),
        )


def _tags(status: str, decisions: Sequence[Decision], of_source: str) -> tuple[Tag, ...]:
    if status == "cut":
        return (cut_tag(next(decision for decision in decisions if decision.code == Code.TRUNCATED)),)
    if of_source:
        return (Tag(f"source {of_source}", "bad"),)
    if status == "empty":
        return (Tag("empty", "plain"),)
    if status == "left_out":
        return (Tag("left out", "bad"),)
    counts: Counter[Tag] = Counter()
    for code, count in Counter(decision.code for decision in decisions if is_left_out(decision)).items():
        counts[tag_of_code(code)] += count
    missed = tuple(Tag(f"{count:,} {tag.label}", tag.tone) for tag, count in counts.items())
    return missed or (Tag("whole", "good"),)
