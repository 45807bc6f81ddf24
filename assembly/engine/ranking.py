"""Ranking puts the candidates of one section in order, and excludes those that may not compete."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Literal

from msgspec import Struct, structs

from assembly.engine.codes import Code
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.linear_ranker import (
    DECIMALS,
    SHARE_PREFIX,
    Ranker,
    SignalValues,
    boost_share,
    relevance_of,
    score_of,
    share_signals,
)
from assembly.engine.profile import Section, Shape, Step
from assembly.engine.rule_effects import NO_EFFECT, RuleEffect, RuleEffectOf
from assembly.engine.types import NO_DETAIL, Candidate, Decision, Detail, InvalidAssembly

_OLDEST = datetime.min.replace(tzinfo=UTC)
SHOWN = "shown"
"""The key, with a text, under which a candidate's memo caches the candidate with that text in place of its own."""


@dataclass(frozen=True, slots=True)
class OverflowStep:
    """One step applied to an item that did not fit: its tokens before and after."""

    step: Step | Literal["truncate"]
    before: int
    after: int


class ShortenedText(Struct, frozen=True):
    """The shorter text that replaces an item's text, and the code that says how it was made."""

    text: str
    code: Code


class RankedCandidate(Struct, frozen=True):
    """A candidate with its rank; one with a code is already decided and not selected again."""

    candidate: Candidate
    code: Code | None = None
    rank: int | None = None
    score: float | None = None
    signals: tuple[tuple[str, float], ...] = ()
    detail: Detail = NO_DETAIL
    tokens_full: int | None = None
    """Tokens of the whole rendered item; None if not counted yet."""
    ruling: RuleEffect = NO_EFFECT
    """The effect of rules on the candidate, as long as it is undecided."""
    short: ShortenedText | None = None
    tokens_shortened: int | None = None
    """Tokens of the rendered item in its shortened form; None if it is whole."""
    steps: tuple[OverflowStep, ...] = ()
    is_to_be_cut: bool = False
    """Whether it was selected although its section has only room for a part of it."""

    @property
    def shown(self) -> Candidate:
        """The candidate in its current form: with its whole text, or with the shorter text that replaces it.

        A shorter form is cached in the candidate, because what is computed from it is cached in the form; it has no
        measures, because contexts share it.
        """
        if self.short is None:
            return self.candidate
        form = SHOWN, self.short.text
        known: Candidate | None = self.candidate.memo.get(form)
        if known is None:
            known = self.candidate.memo[form] = structs.replace(
                self.candidate, text=self.short.text, similarity=None, score=None, measures={}
            )
        return known

    @property
    def included_as(self) -> Code:
        """The code that the item gets if it is included."""
        return self.short.code if self.short else self.ruling.included_as

    @property
    def explained(self) -> Detail:
        """The numbers behind the decision, with the overflow steps that were taken."""
        if not self.steps:
            return self.detail
        model = {"model": self.candidate.summary.model} if self.candidate.summary and self.short else {}
        return {**self.detail, **model, "steps": [asdict(step) for step in self.steps]}


def rank(
    section: Section,
    candidates: Iterable[Candidate],
    threshold: float,
    ruled: RuleEffectOf | None = None,
    ranker: Ranker | None = None,
    *,
    deduplicate: bool = False,
) -> list[RankedCandidate]:
    """Return all candidates of the section: ranked ones, best first, then the decided ones by ref.

    Entries rank by date, newest first. Lines rank by the ranker if it finds any of those that have measures; if none
    has measures, by similarity if any reaches the threshold; otherwise the most recent come first ("Semantic vs. Recent
    Fallback" of the seed "Siestai: Context Assembly"). A sequence ranks by position, turns from the latest back. Ties
    go to the lower ref. Blocks are ranked in `block_selection`. `ruled` returns the effect of request and rules on a
    candidate; None: no effect. Pinned lines come first, in the same order among themselves. With `deduplicate`, of
    candidates with equal texts only the best is ranked.
    """
    eligible, others = split_eligible(section, candidates, ruled)
    if section.shape == "lines":
        eligible, distant = _rank_lines(section, eligible, threshold, ranker)
        others = sorted(others + distant, key=lambda item: item.candidate.ref) if distant else others
    elif section.shape in {"sequence", "turns"}:
        eligible.sort(key=lambda item: item.candidate.position or 0, reverse=section.shape == "turns")
    else:
        eligible = _by_time(section, eligible)
    if deduplicate:
        eligible, repeated = _split_repeated(eligible)
        others = sorted(others + repeated, key=lambda item: item.candidate.ref) if repeated else others
    return with_ranks(section, eligible) + others


def _split_repeated(eligible: list[RankedCandidate]) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
    """Return the first item of each text, in order, and the later ones as its duplicates."""
    texts, distinct, repeated = DistinctTexts(), [], []
    for item in eligible:
        if by := texts.repeated_by(item.candidate):
            repeated.append(structs.replace(item, code=Code.DUPLICATE, detail={"by": by}))
        else:
            texts.add(item.candidate, is_whole=True)
            distinct.append(item)
    return distinct, repeated


def _rank_lines(
    section: Section, eligible: list[RankedCandidate], threshold: float, ranker: Ranker | None
) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
    """Return the lines that may be included, best first, and those that are excluded as too far from the topic."""
    distant: list[RankedCandidate] = []
    measured = ranker if any(item.candidate.measures for item in eligible) else None
    if measured and any(measured.is_near_topic(item.candidate, threshold) for item in eligible):
        eligible, distant = _split_by_ranker(eligible, measured, threshold)
    elif not measured and any(_is_near_topic(item, threshold) for item in eligible):
        eligible, distant = _split_by_similarity(eligible, threshold)
    else:
        eligible = _by_time(section, eligible)
    return _pinned_first(eligible), distant


def as_pinned(item: RankedCandidate) -> RankedCandidate:
    """Return the item such that it gets the code PINNED if it is included; unchanged if it is not pinned."""
    if not item.candidate.pinned:
        return item
    return structs.replace(item, ruling=structs.replace(item.ruling, included_as=Code.PINNED))


def _pinned_first(eligible: list[RankedCandidate]) -> list[RankedCandidate]:
    """Return the items with the pinned ones first; a pinned item gets the code PINNED if it is included."""
    if not any(item.candidate.pinned for item in eligible):
        return eligible
    return sorted(map(as_pinned, eligible), key=lambda item: not item.candidate.pinned)


def with_ranks(section: Section, eligible: list[RankedCandidate]) -> list[RankedCandidate]:
    """Return the items, given best first, with their ranks; items beyond the section's top k get the code OUTRANKED."""
    top_k = len(eligible) if section.top_k is None else section.top_k
    beyond = {"top_k": top_k, "last_score": eligible[top_k - 1].score if 0 < top_k < len(eligible) else None}
    return [structs.replace(item, rank=rank) for rank, item in enumerate(eligible[:top_k], 1)] + [
        structs.replace(item, rank=rank, code=Code.OUTRANKED, detail={"rank": rank, **beyond})
        for rank, item in enumerate(eligible[top_k:], top_k + 1)
    ]


def split_eligible(
    section: Section, candidates: Iterable[Candidate], ruled: RuleEffectOf | None
) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
    """Return the candidates that may be selected, and those that are already decided; both sorted by ref."""
    eligible: list[RankedCandidate] = []
    others: list[RankedCandidate] = []
    for candidate in sorted(candidates, key=attrgetter("ref")):
        item = _apply_rule_effect(candidate, ruled(section, candidate) if ruled else NO_EFFECT)
        (others if item.code else eligible).append(item)
    return eligible, others


def _apply_rule_effect(candidate: Candidate, ruling: RuleEffect) -> RankedCandidate:
    similarity = candidate.similarity
    signals = () if similarity is None else (("similarity", float(similarity)),)
    if not candidate.text or candidate.text.isspace():
        return RankedCandidate(candidate, Code.EMPTY, signals=signals)
    if ruling.code is not None:
        return RankedCandidate(candidate, ruling.code, signals=signals, detail=dict(ruling.detail))
    if candidate.superseded_by is not None:
        return RankedCandidate(candidate, Code.SUPERSEDED, signals=signals, detail={"by": candidate.superseded_by})
    if candidate.retired is not None:
        return RankedCandidate(candidate, Code.EXPIRED, signals=signals, detail={"reason": candidate.retired})
    named = dict(ruling.detail) if ruling.included_as is Code.RULE_INCLUDED else {}
    return RankedCandidate(candidate, signals=signals, ruling=ruling, detail=named)


def _is_near_topic(item: RankedCandidate, threshold: float) -> bool:
    similarity = item.candidate.similarity
    return similarity is not None and similarity >= threshold


def _split_by_similarity(
    items: list[RankedCandidate], threshold: float
) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
    near, distant = [], []
    for item in (with_boosted_score(item, item.candidate.similarity) for item in items):
        if _is_near_topic(item, threshold) or item.candidate.pinned:
            near.append(item)
        else:
            distant.append(structs.replace(item, code=Code.BELOW_RELEVANCE, detail={"threshold": threshold}))
    near.sort(key=lambda item: item.score or 0.0, reverse=True)
    return near, distant


def _split_by_ranker(
    items: list[RankedCandidate], ranker: Ranker, threshold: float
) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
    """Return the items near the topic, best first, and the others. Boosts of rules do not change which are near."""
    near, distant = [], []
    shares = [ranker.shares(item.candidate) for item in items]
    own = [score_of(of_item) for of_item in shares]
    least = round(max(own) - ranker.reach, DECIMALS)
    for item, of_item, score in zip(items, shares, own, strict=True):
        scored = _with_shares(item, of_item)
        if score >= least or item.candidate.pinned or ranker.is_near_topic(item.candidate, threshold):
            near.append(scored)
        else:
            distant.append(structs.replace(scored, code=Code.BELOW_RELEVANCE, detail={"threshold": least}))
    near.sort(key=lambda item: item.score or 0.0, reverse=True)
    return near, distant


def _with_shares(item: RankedCandidate, shares: SignalValues) -> RankedCandidate:
    """Return the item with its score, and with every feature that counts and its share of the score as signals."""
    detail = item.detail
    measures = item.candidate.measures
    known = {name for name, _ in item.signals}
    features = [(name, measures[name]) for name, _ in shares if name not in known]
    if item.ruling.boost != 1:
        shares, detail = (*shares, ("boost", boost_share(item.ruling.boost))), {**detail, **item.ruling.detail}
    signals = (*item.signals, *features, *share_signals(shares))
    return structs.replace(item, score=score_of(shares), signals=signals, detail=detail)


def with_boosted_score(item: RankedCandidate, score: float | None) -> RankedCandidate:
    """Return the item with this score, boosted by its rules; its signals hold the boost."""
    ruling = item.ruling
    if ruling.boost == 1 or score is None:
        return item if score == item.score else structs.replace(item, score=score)
    signals = (*item.signals, ("boost", ruling.boost))
    return structs.replace(item, score=ruling.boosted(score), signals=signals, detail={**item.detail, **ruling.detail})


def _by_time(section: Section, items: list[RankedCandidate]) -> list[RankedCandidate]:
    # The items come sorted by ref, and sort() keeps the order of equals in reverse, too.
    if section.shape == "entries":
        return sorted(items, key=lambda item: _candidate_day(item.candidate), reverse=True)
    return sorted(items, key=lambda item: item.candidate.occurred_at or _OLDEST, reverse=True)


def _candidate_day(candidate: Candidate) -> date:
    if candidate.date is None:
        raise InvalidAssembly(f"{candidate.ref} is in a section of dated entries, but has no date.")
    return candidate.date


def decision_relevance(decision: Decision, shape: Shape) -> float:
    """Return how much an included item counts in comparison with the others of its context: its score, if it has one.

    Required items and sections of one text count 1; other items without a score count 1 / rank.
    """
    if decision.score is not None:
        ranked = any(name.startswith(SHARE_PREFIX) for name, _ in decision.signals)
        return relevance_of(decision.score) if ranked else decision.score
    return 1.0 if shape == "text" or decision.code is Code.REQUIRED else 1 / (decision.rank or 1)
