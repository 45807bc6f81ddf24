"""A recorded context in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from django.urls import reverse
from django.utils.formats import date_format

from assembly.engine.codes import Code, WarningCode
from assembly.engine.reasons import sentence
from assembly.engine.types import Candidate, Decision
from assembly.models import Assembly
from assembly.recorded import Recorded
from assembly.views.waterfall import tag_of
from assembly.warnings import warnings_of

WIDTH, GAP = 1000, 1.5  # of the bar, in the units of its SVG
PAGES = {
    "event": "event",
    "entity": "entity",
    "pattern": "pattern",
    "thread": "thread",
    "tool": "tool",
    "document": "document",
    "chunk": "document",
}
"""By what a ref begins with, the page of the thing."""
EXCERPT = 160  # characters of an item's text in a list
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CODES = {
    Code.OVER_SECTION_BUDGET: ("no room", "warn"),
    Code.OVER_TOTAL_BUDGET: ("no room", "warn"),
    Code.BELOW_RELEVANCE: ("off topic", "plain"),
    Code.CONFLICT_LOST: ("conflict", "bad"),
    Code.RULE_EXCLUDED: ("by a rule", "plain"),
    Code.RULE_INCLUDED: ("by a rule", "good"),
    Code.TRUNCATED: ("cut", "warn"),
    Code.REQUIRED: ("whole", "good"),
    Code.FITS: ("whole", "good"),
    Code.PINNED: ("pinned", "good"),
    Code.EXPIRED: ("retired", "plain"),
    Code.SUMMARISED: ("as a summary", "good"),
    Code.COMPACTED: ("made shorter", "good"),
}


@dataclass(frozen=True, slots=True)
class Tag:
    """A short outcome; `tone` is good, warn, bad or plain."""

    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate and what became of it. `address` leads to the version it came from, where that can still be read."""

    decision: Decision
    candidate: Candidate
    title: str
    section: str
    layer: str
    tag: Tag
    why: str
    address: str = ""

    is_one_of_many: bool = False
    """One item among others of its section, which its rank and its score set apart."""

    @property
    def is_shorter(self) -> bool:
        """Whether it is told in fewer words than it has."""
        return self.decision.code in {Code.COMPACTED, Code.SUMMARISED}


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section in the table of the budget."""

    label: str
    layer: str
    tokens: int
    cap: int | None
    required: bool
    included: int
    considered: int
    tags: tuple[Tag, ...]


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


def headline(assembly: Assembly, decisions: Sequence[Decision]) -> str:
    """What happened, in a sentence or two."""
    told = f"{assembly.agent_name} was told {assembly.tokens:,} of a possible {assembly.budget:,} tokens."
    if WarningCode.BUDGET_EXCEEDED in assembly.warnings:
        told = f"{assembly.agent_name} was told {assembly.tokens:,} tokens, more than the {assembly.budget:,} allowed."
    cut = sum(decision.code == Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    parts = [f"{_counted(cut, 'text')} cut"] if cut else []
    parts += [f"{_counted(out, 'item')} left out"] if out else []
    if not parts:
        return f"{told} Nothing was left out."
    rest = " and ".join(parts)
    return f"{told} {rest[0].upper()}{rest[1:]}."


def _counted(count: int, noun: str) -> str:
    number = NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
    return f"{number} {noun} was" if count == 1 else f"{number} {noun}s were"


def is_left_out(decision: Decision) -> bool:
    """Whether there was something to leave out: an empty text is none."""
    return not decision.included and decision.code != Code.EMPTY


def section_rows(assembly: Assembly, decisions: Sequence[Decision]) -> list[SectionRow]:
    """The sections in order."""
    of_profile = {section["key"]: section for section in assembly.profile["sections"]}
    rows = []
    for section in assembly.sections:
        of_section = [decision for decision in decisions if decision.section == section["key"]]
        rows.append(
            SectionRow(
                label=section["label"],
                layer=section["layer"].lower(),
                tokens=section["tokens"],
                cap=section["cap"],
                required=of_profile[section["key"]]["required"],
                included=section["included"],
                considered=section["considered"],
                tags=_section_tags(section["status"], of_section, tag_of(assembly, of_profile[section["key"]])),
            )
        )
    return rows


def bar(assembly: Assembly, rows: Sequence[SectionRow]) -> list[BarPiece]:
    """The layers along the budget, in order; neighbours of one layer together, empty ones not at all."""
    scale = WIDTH / max(assembly.budget, assembly.tokens, 1)
    found, before = [], 0
    for layer, group in groupby((row for row in rows if row.tokens), key=attrgetter("layer")):
        of_layer = list(group)
        tokens = sum(row.tokens for row in of_layer)
        labels = ", ".join(row.label for row in of_layer)
        found.append(BarPiece(layer, labels, tokens, round(before * scale, 2), round(tokens * scale, 2)))
        before += tokens
    return found


def _section_tags(status: str, decisions: Sequence[Decision], of_source: str) -> tuple[Tag, ...]:
    if status == "cut":
        return (_cut_tag(next(decision for decision in decisions if decision.code == Code.TRUNCATED)),)
    if of_source:
        return (Tag(f"source {of_source}", "bad"),)
    if status == "empty":
        return (Tag("empty", "plain"),)
    if status == "left_out":
        return (Tag("left out", "bad"),)
    counts: dict[Tag, int] = {}
    for decision in filter(is_left_out, decisions):
        counts[_tag(decision)] = counts.get(_tag(decision), 0) + 1
    missed = tuple(Tag(f"{count} {tag.label}", tag.tone) for tag, count in counts.items())
    return missed or (Tag("whole", "good"),)


def _cut_tag(decision: Decision) -> Tag:
    whole, of = decision.detail.get("kept_paragraphs"), decision.detail.get("of_paragraphs")
    return Tag(f"cut: {whole:,} of {of:,} paragraphs" if whole else "cut", "warn")


def _tag(decision: Decision) -> Tag:
    label, tone = CODES.get(Code(decision.code), (str(decision.code).replace("_", " "), "plain"))
    return Tag(label, tone)


def items(told: Recorded) -> list[Item]:
    """Every candidate in order, worded for people."""
    sections = {section["key"]: section for section in told.assembly.sections}
    one_text = {section.key for section in told.inputs.profile.sections if section.shape == "text"}
    titles = {
        candidate.ref: _title(candidate, sections[candidate.section]["label"], candidate.section in one_text)
        for candidate in told.inputs.candidates
    }
    return [
        Item(
            decision=decision,
            candidate=candidate,
            title=titles[decision.ref],
            section=sections[decision.section]["label"],
            layer=sections[decision.section]["layer"].lower(),
            tag=_tag(decision),
            why=_reason(decision, sections[decision.section]["label"], titles),
            is_one_of_many=decision.section not in one_text and not candidate.date,
        )
        for decision, candidate in told.decided
    ]


def _title(candidate: Candidate, label: str, is_one_text: bool) -> str:
    if candidate.date:
        return date_format(candidate.date, "l, j F")
    if is_one_text:
        return label
    text = " ".join(candidate.text[: 2 * EXCERPT].split())
    return f"“{text[: EXCERPT - 1]}…”" if len(text) >= EXCERPT else f"“{text}”"


def _reason(decision: Decision, label: str, titles: Mapping[str, str]) -> str:
    """The engine's sentence, with what it names by reference put in words."""
    detail = dict(decision.detail)
    if by := detail.get("by"):
        near = (title for ref, title in titles.items() if ref == by or ref.startswith(f"{by}@"))
        detail["by"] = next(near, "one that was not among those considered")
    return sentence(decision._replace(detail=detail), label)


def with_addresses(found: list[Item], agent: str, team: str) -> list[Item]:
    """The items with the addresses of their sources; a slug is empty where there is nothing to read any more."""
    return [replace(item, address=_address(item.candidate, agent, team)) for item in found]


def _address(candidate: Candidate, agent: str, team: str) -> str:
    kind, _, rest = candidate.ref.partition(":")
    id_, _, version = rest.partition("@")
    key = candidate.kind
    if kind == "agent_file" and agent and key:
        return f"/agents/{agent}/files/{key}/history/{version}/"
    if kind == "team_file" and team and key:
        return f"/teams/{team}/files/{key}/history/{version}/"
    if kind == "daily_log" and agent:
        return f"/agents/{agent}/logs/{candidate.date}/history/{version}/"
    if kind == "memory":
        return reverse("memory_version", args=[id_, version])
    if kind in PAGES and agent:
        return reverse(PAGES[kind], args=[agent, id_])
    return ""


def warnings(assembly: Assembly) -> list[str]:
    """What the reader must know, in plain sentences."""
    return [warned.message for warned in warnings_of(assembly)]
