"""The priority of an item is the weighted mean of its measures. All blocks of a context compete by it.

Lines, entries, sequences and turns are included in an order of their own; their priority says how much they count
beside items of other shapes. Source: "Priority Scoring Algorithm" of the seed "Memory Layer", which has the weights and
names domains. Half-lives, credibilities by scope and the order of ties are decisions of this project.
"""

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache

from msgspec import structs

from assembly.engine.codes import Code
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.linear_ranker import DECIMALS, block_shares, relevance_of, score_of, source_share_signals
from assembly.engine.profile import Profile, Section, Shape, Weights
from assembly.engine.ranking import RankedCandidate, as_pinned, with_boosted_score
from assembly.engine.scopes import SCOPES, MemoryScope
from assembly.engine.scoring import DEFAULT_CREDIBILITY, DEFAULT_SALIENCE, recency_score, words_of
from assembly.engine.types import (
    MEMORY_LAYER_SINCE,
    WHOLE_TEXTS_SINCE,
    Candidate,
    EngineRequest,
    field_values,
)

TIE_DECIMALS = 4
"""Priorities that are equal to this many decimals count as a tie, which the scopes decide."""

PRIORITY = "priority"
"""The signal of the priority of an item that is no block; the priority of a block is its score."""
PRIORITY_PREFIX = "priority:"
"""Prefix of the signals of the measures of which that priority is the weighted mean."""
_SIGNALS_OF_MEASURES = {one.name: f"{PRIORITY_PREFIX}{one.name}" for one in fields(Weights)}
PRIORITY_SIGNALS = frozenset({PRIORITY, *_SIGNALS_OF_MEASURES.values()})
"""All signals of a priority."""
ORDERED_SHAPES: frozenset[Shape] = frozenset({"lines", "entries", "sequence", "turns"})
"""The shapes whose items are included in an order of their own, whatever their priority."""

WORDS = "words"
"""The key under which a candidate's memo caches the words of its text."""

_DAY = dt.timedelta(days=1)

SortKey = tuple[object, ...]


def final_score(measures: Mapping[str, float], weights: Weights) -> float:
    """Return Σ weight x measure ("Combined Scoring" of the seed); a missing measure counts as 0."""
    by_measure, _ = _weights_and_sum(weights)
    return math.fsum([weight * measures.get(name, 0.0) for name, weight in by_measure])


def weighted_mean(measures: Mapping[str, float], weights: Weights) -> float:
    """Return the final score divided by the sum of the weights, 0 to 1; 0 if all weights are 0."""
    _, total = _weights_and_sum(weights)
    return final_score(measures, weights) / total if total else 0.0


@lru_cache(maxsize=64)
def _weights_and_sum(weights: Weights) -> tuple[Sequence[tuple[str, float]], float]:
    by_measure = field_values(weights)
    return [*by_measure.items()], math.fsum(by_measure.values())


def coherence(words: frozenset[str], surroundings: frozenset[str]) -> float:
    """Return the share, 0 to 1, of a text's distinct words of four letters or more that its surroundings contain."""
    return len(words & surroundings) / len(words) if words else 0.0


def words_in(candidate: Candidate) -> frozenset[str]:
    """Return the distinct words of four letters or more of the candidate's text, which its memo caches."""
    words: frozenset[str] | None = candidate.memo.get(WORDS)
    if words is None:
        words = candidate.memo[WORDS] = words_of(candidate.text)
    return words


def _moment_of(candidate: Candidate) -> dt.datetime | None:
    """Return when the candidate is from: a day counts from its end."""
    if candidate.occurred_at or not candidate.date:
        return candidate.occurred_at
    return dt.datetime.combine(candidate.date, dt.time.max, dt.UTC)


def half_life_recency(age: dt.timedelta, half_life: float) -> float:
    """Return 1 for an age of zero or a future time, and half as much for each half-life, in days."""
    return float(0.5 ** (max(age, dt.timedelta(0)) / _DAY / half_life))


def scope_credibility(credibility: float, of_scope: float) -> float:
    """Return the scope's credibility, raised or lowered by how much the item's differs from the default, 0 to 1."""
    return min(1.0, max(0.0, of_scope + credibility - DEFAULT_CREDIBILITY))


@dataclass(frozen=True, slots=True)
class Priority:
    """The scores and the order of the blocks in one run of the engine."""

    request: EngineRequest
    profile: Profile
    scope_of: Mapping[str, MemoryScope | None]
    """The memory scope of each section by its key."""
    surroundings: frozenset[str]
    """The words of the topic and of the text that precedes the blocks."""
    known: dict[tuple[str, str], tuple[RankedCandidate, RankedCandidate]] = field(default_factory=dict)
    """The items that were scored last, without and with their priority, by section and ref: the sections may be filled
    twice."""

    @classmethod
    def of(cls, request: EngineRequest, profile: Profile, sections: Iterable[Section], text: str) -> "Priority":
        """Return the priority of the sections' blocks after the text."""
        around = f"{request.topic}\n{text}" if request.engine_version >= MEMORY_LAYER_SINCE else text
        words = words_of(around) if profile.weights.coherence else frozenset()
        return cls(request, profile, {section.key: section.scope for section in sections}, words)

    @property
    def deduplicates(self) -> bool:
        """Whether equal texts are included once across shapes and sources."""
        return self.profile.deduplicate and self.has_scopes

    @property
    def has_scopes(self) -> bool:
        """Whether the engine version knows scopes, half-lives and weighted means."""
        return self.request.engine_version >= MEMORY_LAYER_SINCE

    @property
    def cuts_best(self) -> bool:
        """Whether the best block of a section is cut rather than replaced by a lesser one."""
        return self.profile.cut_at != "anywhere" and self.request.engine_version >= WHOLE_TEXTS_SINCE

    @property
    def knows_whole_documents(self) -> bool:
        """Whether a document that is included whole, at its longest level of detail, stands for its passages."""
        return self.deduplicates and self.request.engine_version >= WHOLE_TEXTS_SINCE

    def scored(self, section: Section, item: RankedCandidate) -> RankedCandidate:
        """Return the item with its priority, boosted by rules, and with the measures as signals."""
        key = section.key, item.candidate.ref
        before, scored = self.known.get(key, (None, item))
        if before is None or before.candidate is not item.candidate or before.ruling != item.ruling:
            scored = self._scored(section, item)
            self.known[key] = item, scored
        return scored

    def _scored(self, section: Section, item: RankedCandidate) -> RankedCandidate:
        candidate = item.candidate
        measures = self._measures(section, candidate)
        own = () if candidate.score is None else (("source_score", candidate.score),)
        shares = source_share_signals(section.ranker, candidate)
        scored = structs.replace(item, signals=(*item.signals, *own, *sorted(measures.items()), *shares))
        if self.has_scopes:
            return with_boosted_score(as_pinned(scored), weighted_mean(measures, self.profile.weights))
        return with_boosted_score(scored, final_score(measures, self.profile.weights))

    def _measures(self, section: Section, candidate: Candidate) -> dict[str, float]:
        measures = dict(candidate.measures)
        if self.has_scopes and (scope := self.scope_of[section.key]):
            measures |= self._scope_measures(scope, measures, candidate.occurred_at)
        if self.profile.weights.coherence:
            measures.setdefault("coherence", coherence(words_in(candidate), self.surroundings))
        return measures

    def _scope_measures(
        self, scope: MemoryScope, measures: Mapping[str, float], moment: dt.datetime | None
    ) -> dict[str, float]:
        """Return the recency and the credibility of an item by the settings of the profile for its scope, if any."""
        half_life, trust = self.profile.half_life.get(scope), self.profile.credibility.get(scope)
        found = {}
        if half_life and moment:
            found["recency"] = half_life_recency(self.request.now - moment, half_life)
        if trust is not None:
            found["credibility"] = scope_credibility(measures.get("credibility", DEFAULT_CREDIBILITY), trust)
        return found

    def prioritised(self, section: Section, item: RankedCandidate) -> RankedCandidate:
        """Return an item of one of ORDERED_SHAPES with its priority, and its measures, as signals.

        The priority is the mean, 0 to 1, of the measures that the item has and the profile weights: a line without any
        sign of its relevance, or a turn without a time, is weighed by its other measures. Rules multiply it by their
        boost.
        """
        by_measure, _ = _weights_and_sum(self.profile.weights)
        measured = self._ordered_measures(section, item.candidate)
        counted = [(name, weight, measured[name]) for name, weight in by_measure if weight and name in measured]
        total = math.fsum([weight for _, weight, _ in counted])
        mean = math.fsum([weight * measure for _, weight, measure in counted]) / total if total else 0.0
        measures = [(_SIGNALS_OF_MEASURES[name], measure) for name, _, measure in counted]
        signals = (*item.signals, *measures, (PRIORITY, round(item.ruling.boosted(mean), DECIMALS)))
        return structs.replace(item, signals=signals)

    def _ordered_measures(self, section: Section, candidate: Candidate) -> dict[str, float]:
        """Return the measures of the candidate, rounded; relevance and recency are missing where they are unknown."""
        known, moment = candidate.measures, _moment_of(candidate)
        measures = {
            "salience": known.get("salience", DEFAULT_SALIENCE),
            "credibility": known.get("credibility", DEFAULT_CREDIBILITY),
        }
        relevance = self._ordered_relevance(candidate)
        if relevance is not None:
            measures["relevance"] = relevance
        if moment:
            measures["recency"] = recency_score(self.request.now - moment)
        if scope := self.scope_of[section.key]:
            measures |= self._scope_measures(scope, measures, moment)
        if self.profile.weights.coherence:
            measures["coherence"] = coherence(words_in(candidate), self.surroundings)
        return {name: round(measure, DECIMALS) for name, measure in measures.items()}

    def _ordered_relevance(self, candidate: Candidate) -> float | None:
        """Return the relevance by the source or the profile's ranker, else the similarity; None if none is known."""
        if "relevance" in candidate.measures:
            return candidate.measures["relevance"]
        if self.profile.ranker and candidate.measures:
            shares = block_shares(self.profile.ranker, candidate)
            return relevance_of(score_of(shares)) if shares else None
        return None if candidate.similarity is None else min(1.0, max(0.0, candidate.similarity))

    def sort_key(self, item: RankedCandidate) -> SortKey:
        """Return the key that sorts blocks, the best first, pinned ones before all others.

        Ties go to the earlier of SCOPES ("Source Precedence Rules" of the seed "Memory Layer"), then to the lower ref.
        """
        score, ref = item.score or 0.0, item.candidate.ref
        if not self.has_scopes:
            return -score, ref
        scope = self.scope_of[item.candidate.section]
        place = len(SCOPES) if scope is None else SCOPES.index(scope)
        return not item.candidate.pinned, -round(score, TIE_DECIMALS), place, ref

    def relevant_items(
        self, section: Section, items: Sequence[RankedCandidate]
    ) -> tuple[list[RankedCandidate], list[RankedCandidate]]:
        """Return the items that reach the section's floor of relevance, and the others as excluded.

        Without a topic there is no relevance, so none is excluded; neither is an item whose relevance is unknown.
        """
        floor = section.relevance_floor if self.has_scopes and self.request.topic.strip() else 0.0
        near, distant = [], []
        for item in items:
            relevance = item.candidate.measures.get("relevance")
            if relevance is None or relevance >= floor or item.candidate.pinned:
                near.append(item)
            else:
                detail = {**item.detail, "threshold": floor, "relevance": relevance}
                distant.append(structs.replace(item, code=Code.BELOW_RELEVANCE, detail=detail))
        return near, distant

    def within_scopes(self, ranked: Sequence[RankedCandidate]) -> list[RankedCandidate]:
        """Return the items, given best first, with those beyond the limit of their scope outranked.

        A repeated text does not count twice.
        """
        if not self.has_scopes or not self.profile.scope_limits:
            return list(ranked)
        counted: Counter[MemoryScope] = Counter()
        last: dict[MemoryScope, float | None] = {}
        texts = DistinctTexts(across_shapes=self.deduplicates)
        limited = []
        for item in ranked:
            scope = self.scope_of[item.candidate.section]
            limit = None if scope is None else self.profile.scope_limits.get(scope)
            if scope is None or limit is None or texts.repeated_by(item.candidate):
                limited.append(item)
                continue
            counted[scope] += 1
            if counted[scope] <= limit:
                texts.add(item.candidate, is_whole=False)
                last[scope] = item.score
                limited.append(item)
            else:
                detail = {"scope": scope, "rank": counted[scope], "top_k": limit, "last_score": last.get(scope)}
                limited.append(structs.replace(item, code=Code.OUTRANKED, detail={**item.detail, **detail}))
        return limited
