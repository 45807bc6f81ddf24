"""This module makes the tables of one context: budget by layer, timing of sources, rules applied. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.urls import reverse

from assembly.contexts.items import OutcomeTag, cut_tag, is_left_out, tag_of_code
from assembly.engine.codes import Code, SourceCode
from assembly.engine.types import Decision
from assembly.models import Assembly, StoredRule
from assembly.records.section_names import name_of_heading
from assembly.records.warnings import SERVER_SENTENCES, recorded_source_label, source_failure_sentence
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from teams.principal import Principal

BAR_WIDTH = 1000  # width of a bar in the units of its SVG
MIN_BAR_WIDTH = 6
TAGS = {
    SourceCode.SOURCE_TIMEOUT: "late",
    SourceCode.SOURCE_FAILED: "failed",
    SourceCode.SOURCE_NOT_ASKED: "not asked",
}
"""Label by error code of a source that returned nothing."""
COMPLETE_SOURCES = frozenset(
    {"agent_files", "team_files", "daily_logs", "turns", "additional_context", "task_stack", *SERVER_SENTENCES}
)
"""Sources that always return everything they have, so that reaching their limit does not mean that more exists."""


@dataclass(frozen=True, slots=True)
class SourceTimingRow:
    """A source in the table of timings. Times are milliseconds since the assembly began; None in older records.

    `x`, `width` and `deadline_x` are in the units of the bar's SVG.
    """

    label: str
    count: int
    limit: int
    started_ms: int | None
    ms: int
    deadline_ms: int | None
    x: int
    width: int
    deadline_x: int | None
    tag: str = ""
    trouble: str = ""
    left_out: int = 0
    is_full: bool = False
    """Whether the source returned as many rows as its limit, so that more rows may exist."""

    @property
    def is_drawn(self) -> bool:
        """Whether the source's times are recorded, so that its bar can be drawn."""
        return self.started_ms is not None


def timeline_length_ms(assembly: Assembly) -> int:
    """Return the milliseconds that the bars cover: the assembly's duration, or the end of its last source if later."""
    ends: list[int] = [report.get("started_ms", 0) + report["ms"] for report in assembly.sources]
    return max([assembly.assembly_ms, *ends, 1])


def source_status_tag(assembly: Assembly, section: Mapping[str, Any]) -> str:
    """Return `late`, `failed` or `not asked` for the source of a recorded profile section; empty if it answered."""
    source = f"{EXTERNAL}:{section['key']}" if section["source"] == EXTERNAL else section["source"]
    codes = {report["name"]: report.get("code") for report in assembly.sources}
    code = codes.get(source) or codes.get(section["source"])
    return TAGS[SourceCode(code)] if code else ""


def source_rows(assembly: Assembly) -> list[SourceTimingRow]:
    """Return the sources in the order in which they were queried, with their names for people."""
    reports = sorted(assembly.sources, key=lambda report: report.get("started_ms", 0))
    scale = BAR_WIDTH / timeline_length_ms(assembly)
    return [_source_row(report, scale) for report in reports]


def _source_row(report: dict[str, Any], scale: float) -> SourceTimingRow:
    started, deadline, code = report.get("started_ms"), report.get("deadline_ms"), report.get("code")
    width = max(MIN_BAR_WIDTH, round(report["ms"] * scale))
    return SourceTimingRow(
        label=recorded_source_label(report["name"]),
        count=report["count"],
        limit=report["limit"],
        started_ms=started,
        ms=report["ms"],
        deadline_ms=deadline,
        x=min(round((started or 0) * scale), BAR_WIDTH - width),
        width=width,
        deadline_x=round(deadline * scale) if deadline is not None and deadline * scale <= BAR_WIDTH else None,
        tag=TAGS[SourceCode(code)] if code else "",
        trouble=_trouble(report, SourceCode(code)) if code else "",
        left_out=report.get("left_out", 0),
        is_full=report["name"] not in COMPLETE_SOURCES and 0 < report["limit"] <= report["count"],
    )


def _trouble(report: dict[str, Any], code: SourceCode) -> str:
    """Return a sentence on the failure of a source.

    The recorded `fault` is prepended only if it is a sentence (external sources, servers); otherwise it is the name of
    an exception class.
    """
    told = source_failure_sentence(report["name"], code)
    fault = report.get("fault", "")
    repeated = told.startswith(fault.rstrip("."))
    return f"{fault} {told}" if " " in fault and not repeated else told


GAP = 1.5  # gap between segments of a bar, in the units of its SVG
FEW = 3  # most sections of a layer whose labels are shown in its row


@dataclass(frozen=True, slots=True)
class CapUsage:
    """The use of a cap, in tokens.

    `used` + `lent` + `unused` is the cap, or the whole budget if that is less. `unused` is the part of the cap's rest
    that was still free in the end, `lent` the part that other sections used. Both are None for a section without a cap.
    """

    cap: int | None
    used: int
    lent: int | None = None
    unused: int | None = None

    @classmethod
    def of(cls, cap: int | None, used: int, *, budget: int, free: int) -> "CapUsage":
        """Return the use of a cap in a context with this budget, of which `free` tokens were unused in the end."""
        if cap is None:
            return cls(cap, used)
        left = max(0, min(cap, budget) - used)
        unused = min(left, free)
        return cls(cap, used, left - unused, unused)


@dataclass(frozen=True, slots=True)
class SectionBudgetRow:
    """A section in the table of the budget."""

    label: str
    layer: str
    room: CapUsage
    required: bool
    included: int
    considered: int
    tags: tuple[OutcomeTag, ...]


@dataclass(frozen=True, slots=True)
class LayerBudgetRow:
    """Consecutive sections of one layer in the table of the budget, with their joint cap and use."""

    layer: str
    room: CapUsage
    sections: tuple[SectionBudgetRow, ...]

    @property
    def label(self) -> str:
        """The names of the layer's sections; empty if there are more than three."""
        return ", ".join(row.label for row in self.sections) if len(self.sections) <= FEW else ""

    @property
    def required(self) -> bool:
        """Whether every section of the layer is required, so that none may be cut."""
        return all(row.required for row in self.sections)

    @property
    def included(self) -> int:
        return sum(row.included for row in self.sections)

    @property
    def considered(self) -> int:
        return sum(row.considered for row in self.sections)


@dataclass(frozen=True, slots=True)
class BudgetBarSegment:
    """A layer's segment of the budget bar, from `x` to `x + width` in the units of its SVG."""

    layer: str
    labels: str
    tokens: int
    x: float
    width: float

    @property
    def inner(self) -> float:
        """The segment's drawn width, without the gap to the next segment."""
        return round(max(self.width - GAP, self.width / 2), 2)


def unused_tokens(assembly: Assembly) -> int:
    """Return the number of unused tokens of the budget."""
    return max(0, assembly.budget - assembly.tokens)


def layer_rows(assembly: Assembly, decisions: Sequence[Decision]) -> list[LayerBudgetRow]:
    """Return the layers in the order of the context, each with its sections and their use of the budget."""
    budget, free = assembly.budget, unused_tokens(assembly)
    found = []
    for layer, group in groupby(_section_rows(assembly, decisions), key=attrgetter("layer")):
        sections = tuple(group)
        caps = [row.room.cap for row in sections]
        cap = None if None in caps else sum(cap for cap in caps if cap is not None)
        used = sum(row.room.used for row in sections)
        found.append(LayerBudgetRow(layer, CapUsage.of(cap, used, budget=budget, free=free), sections))
    return found


def budget_bar_segments(assembly: Assembly, rows: Sequence[LayerBudgetRow]) -> list[BudgetBarSegment]:
    """Return the segments of the budget bar, in order, without empty layers."""
    scale = BAR_WIDTH / max(assembly.budget, assembly.tokens, 1)
    found, before = [], 0
    for row in rows:
        tokens = row.room.used
        labels = ", ".join(section.label for section in row.sections if section.room.used)
        if tokens:
            found.append(
                BudgetBarSegment(row.layer, labels, tokens, round(before * scale, 2), round(tokens * scale, 2))
            )
        before += tokens
    return found


def _section_rows(assembly: Assembly, decisions: Sequence[Decision]) -> Iterator[SectionBudgetRow]:
    of_profile = {section["key"]: section for section in assembly.profile["sections"]}
    of_section: dict[str, list[Decision]] = {}
    for decision in decisions:
        of_section.setdefault(decision.section, []).append(decision)
    budget, free = assembly.budget, unused_tokens(assembly)
    for section in assembly.sections:
        described, own = of_profile[section["key"]], of_section.get(section["key"], [])
        yield SectionBudgetRow(
            label=name_of_heading(section["key"], section["label"]),
            layer=section["layer"].lower(),
            room=CapUsage.of(section["cap"], section["tokens"], budget=budget, free=free),
            required=described["required"],
            included=section["included"],
            considered=section["considered"],
            tags=_tags(section["status"], own, source_status_tag(assembly, described)),
        )


def _tags(status: str, decisions: Sequence[Decision], of_source: str) -> tuple[OutcomeTag, ...]:
    if status == "cut":
        return (cut_tag(next(decision for decision in decisions if decision.code == Code.TRUNCATED)),)
    if of_source:
        return (OutcomeTag(f"source {of_source}", "bad"),)
    if status == "empty":
        return (OutcomeTag("empty", "plain"),)
    if status == "left_out":
        return (OutcomeTag("excluded", "bad"),)
    counts: Counter[OutcomeTag] = Counter()
    for code, count in Counter(decision.code for decision in decisions if is_left_out(decision)).items():
        counts[tag_of_code(code)] += count
    missed = tuple(OutcomeTag(f"{count:,} {tag.label}", tag.tone) for tag, count in counts.items())
    return missed or (OutcomeTag("whole", "good"),)


@dataclass(frozen=True, slots=True)
class FiredRuleRow:
    """A rule that fired for a context, as recorded. `address` is that version's page; empty if no longer readable."""

    name: str
    version: int
    scope: str
    did: Mapping[str, int]
    address: str


def fired_rule_rows(principal: Principal, assembly: Assembly) -> list[FiredRuleRow]:
    """Return the rules that fired for an assembly, in recorded order, with links where the principal may read them."""
    recorded = assembly.request.get("rules", ())
    names = [rule["name"] for rule in recorded]
    readable = set(_readable(principal, names)) if names else set()
    return [_fired_rule_row(rule, readable=rule["name"] in readable) for rule in recorded]


def _readable(principal: Principal, names: list[str]) -> list[str]:
    return list(StoredRule.objects.visible_to(principal).filter(name__in=names).values_list("name", flat=True))


def _fired_rule_row(rule: Mapping[str, Any], *, readable: bool) -> FiredRuleRow:
    name, version = rule["name"], rule["version"]
    address = reverse("rule_version", args=[name, version]) if readable else ""
    return FiredRuleRow(name, version, rule["scope"], rule["did"], address)


def bar_width(part: int, whole: int) -> int:
    """Return the width of `part` of `whole` on a bar, in the units of its SVG; at most the whole bar."""
    return min(BAR_WIDTH, round(part * BAR_WIDTH / whole)) if whole else 0
