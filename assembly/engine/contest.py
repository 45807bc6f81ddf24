"""The contest of blocks: items of several sections compete for the same room by one score.

Source: "Scoring and Selection" of the seed "Context Assembly Specification". Each source selects within its allocation
by its own score; what it selected competes by the final score, weighed by the profile, for what the whole has left.
Both selections are greedy: what does not fit is passed over, and the next one gets its chance.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from assembly.engine.codes import Code
from assembly.engine.profile import Section, Weights
from assembly.engine.rendering import SECTION_SEPARATOR, heading, render
from assembly.engine.ruling import Ruling
from assembly.engine.scoring import Ranked, boosted, considered, numbered
from assembly.engine.tokens import Ledger
from assembly.engine.types import Candidate, Decision, Scalar

_WORD = re.compile(r"\w{4,}")


Barred = dict[tuple[str, str], Decision]
"""By section and ref, the decision that left the item out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the contest decided about one section: its items, best first, and about how many tokens it will take.

    Items without a code have won their place; rendering them proves that they fit.
    """

    section: Section
    ranked: list[Ranked]
    tokens: int


def contest(
    sections: Sequence[Section],
    candidates: Mapping[str, Sequence[Candidate]],
    ledger: Ledger,
    budget: int,
    *,
    weights: Weights,
    ruled: Callable[[Section, Candidate], Ruling],
    barred: Barred,
) -> list[Outcome]:
    """The outcome for each section, in order. `budget` counts the ledger's own tokens, too.

    `barred` are items of which an exact count has shown that they do not fit.
    """
    score = _scorer(weights, ledger.text)
    entrants, others = [], {}
    for section in sections:
        eligible, others[section.key] = considered(section, candidates[section.key], ruled)
        entrants += [score(item) for item in eligible]
    entrants.sort(key=_best_first)
    fields = [_Field.of(section, entrants, others[section.key], ledger) for section in sections]
    for field in fields:
        field.bar(barred)
        field.select_within_allocation()
    _select_within_total(fields, budget - ledger.tokens)
    return [Outcome(field.section, list(field.items.values()), field.used) for field in fields]


def final_score(measures: Mapping[str, float], weights: Weights) -> float:
    """Σ weight x measure ("Combined Scoring" of the seed); what was not measured counts as 0."""
    return math.fsum(weight * measures.get(name, 0.0) for name, weight in asdict(weights).items())


def coherence(text: str, surroundings: frozenset[str]) -> float:
    """The share of the text's distinct words of four letters and more that occur in its surroundings: 0 to 1."""
    words = words_of(text)
    return len(words & surroundings) / len(words) if words else 0.0


def words_of(text: str) -> frozenset[str]:
    """The distinct words of four letters and more, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def _scorer(weights: Weights, surroundings: str) -> Callable[[Ranked], Ranked]:
    around = words_of(surroundings) if weights.coherence else frozenset()

    def scored(item: Ranked) -> Ranked:
        candidate = item.candidate
        measures = dict(candidate.measures)
        if weights.coherence:
            measures.setdefault("coherence", coherence(candidate.text, around))
        own = () if candidate.score is None else (("source_score", candidate.score),)
        signals = (*item.signals, *own, *sorted(measures.items()))
        return boosted(replace(item, signals=signals), final_score(measures, weights))

    return scored


def _best_first(item: Ranked) -> tuple[float, str]:
    return -(item.score or 0.0), item.candidate.ref


@dataclass(slots=True)
class _Field:
    """The items of one section while the contest goes on."""

    section: Section
    items: dict[str, Ranked]
    """By ref, best first."""
    costs: dict[str, int]
    opening: int
    """Tokens of the heading."""
    used: int = 0

    @classmethod
    def of(cls, section: Section, entrants: list[Ranked], others: list[Ranked], ledger: Ledger) -> "_Field":
        mine = numbered(section, [item for item in entrants if item.candidate.section == section.key])
        counted = [_counted(section, item, ledger) for item in mine]
        costs = {item.candidate.ref: cost for item, cost in counted}
        opening = ledger.tokenizer.count(heading(section))
        items = {item.candidate.ref: item for item in [*(item for item, _ in counted), *others]}
        return cls(section, items, costs, opening)

    def bar(self, barred: Barred) -> None:
        """Leave out again what was found not to fit."""
        for item in self.standing():
            if decision := barred.get((self.section.key, item.candidate.ref)):
                self.leave_out(item, decision.code, **decision.detail)

    def select_within_allocation(self) -> None:
        """Leave out what has no room in the section, by the source's own score."""
        if self.section.cap is None:
            return
        by_source = sorted(self.standing(), key=lambda item: -item.ruling.boosted(item.candidate.score or 0.0))
        used = self.opening
        for item in by_source:
            cost = self.costs[item.candidate.ref]
            if used + cost <= self.section.cap:
                used += cost
            else:
                self.leave_out(item, Code.OVER_SECTION_BUDGET, needed=used + cost - self.section.cap)

    def cost_of(self, item: Ranked) -> int:
        """Tokens that the item would take now, with the heading for the first of its section."""
        return self.costs[item.candidate.ref] + (0 if self.used else self.opening)

    def leave_out(self, item: Ranked, code: Code, **detail: Scalar) -> None:
        """Decide that the item is not in."""
        self.items[item.candidate.ref] = replace(item, code=code, detail={**item.detail, **detail})

    def standing(self) -> list[Ranked]:
        """Those that are not decided yet, best first."""
        return [item for item in self.items.values() if item.code is None]


def _counted(section: Section, item: Ranked, ledger: Ledger) -> tuple[Ranked, int]:
    """The item with its tokens, and those it takes with the blank line after it."""
    text = render(section, item.candidate).text
    tokens = ledger.tokenizer.count(text)
    alone = Ledger(ledger.tokenizer).append_counted("", text, tokens)
    return replace(item, tokens_full=tokens), alone.tokens_with(SECTION_SEPARATOR)


def _select_within_total(fields: list[_Field], room: int) -> None:
    """Leave out what has no room in the whole, and what says the same as an item that has, by the final score."""
    field_of = {field.section.key: field for field in fields}
    standing = [item for field in fields for item in field.standing()]
    # Of one row that two sections offer alike, the later section has it: profiles come to the particular last.
    standing.reverse()
    used = 0
    said: dict[str, str] = {}
    for item in sorted(standing, key=_best_first):
        field = field_of[item.candidate.section]
        cost = field.cost_of(item)
        if by := said.get(item.candidate.ref) or said.get(_said(item)):
            field.leave_out(item, Code.DUPLICATE, by=by)
        elif used + cost <= room:
            used, field.used = used + cost, field.used + cost
            said[item.candidate.ref] = said[_said(item)] = item.candidate.ref
        else:
            field.leave_out(item, Code.OVER_TOTAL_BUDGET, needed=used + cost - room)


def _said(item: Ranked) -> str:
    """The text, whatever its white space."""
    return " ".join(item.candidate.text.split())
