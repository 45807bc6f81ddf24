"""The quality of a finished context is measured by formulas over its decisions and its text.

The seed "Memory Layer" names the measures ("Quality Feedback") and gives no formulas; those here are decisions of this
project. Each measure is 0 to 1. All of them are computed from what a record holds, so older contexts have them, too.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from assembly.engine.codes import Code
from assembly.engine.scopes import SCOPES, SOURCE_SCOPES, MemoryScope
from assembly.engine.types import Decision

UNRELATED_COSINE, NEIGHBOUR_COSINE = 0.13, 0.35
"""The mean cosine of texts from different conversations, and of consecutive turns of one, measured with the built-in
embedder on three long conversations: what is as near to the topic as two consecutive turns counts as coherent.
"""
MAX_ENTITIES = 50
"""The number of named entities that are looked for; further ones do not count."""

_ENTITY_EDGE = r"(?<!\w){name}(?!\w)"


@dataclass(frozen=True, slots=True)
class ContextQuality:
    """The measures of one context. None: nothing in it can be measured, or it had no topic."""

    source_coverage: float
    completeness: float
    contradiction_rate: float
    coherence_score: float | None
    quality_achieved: float | None


@dataclass(frozen=True, slots=True)
class ScopeOutcome:
    """What became of a scope: whether it was asked, its candidates, those included, and its sources that failed."""

    asked: bool
    returned: int
    included: int
    failed: int


def source_coverage(scopes: Iterable[ScopeOutcome]) -> float:
    """Return the share of the scopes with an included item, among those that were asked and had any item or failed.

    source_coverage = |asked scopes with at least one item in| / |asked scopes that had a candidate or failed|; 1 if
    there are none of these.
    """
    counted = [scope for scope in scopes if scope.asked and (scope.returned or scope.failed)]
    return sum(bool(scope.included) for scope in counted) / len(counted) if counted else 1.0


def scope_outcomes(
    scope_of_section: Mapping[str, MemoryScope | None],
    reports: Iterable[Mapping[str, Any]],
    decisions: Sequence[Decision],
) -> dict[MemoryScope, ScopeOutcome]:
    """Return what became of each scope; a scope is asked if a section is in it. `reports` are those of the sources."""
    fates = [(scope_of_section.get(decision.section), decision.included) for decision in decisions]
    failed = [SOURCE_SCOPES.get(report["name"].partition(":")[0]) for report in reports if report.get("code")]
    asked = set(scope_of_section.values())
    return {
        scope: ScopeOutcome(
            asked=scope in asked,
            returned=sum(of == scope for of, _ in fates),
            included=sum(of == scope and is_in for of, is_in in fates),
            failed=failed.count(scope),
        )
        for scope in SCOPES
    }


def completeness(entities: Sequence[Sequence[str]], content: str) -> float:
    """Return the share of the named entities that the content names; 1 without any.

    completeness = |entities of which the name or an alias stands in the content| / |entities|. Each entity is given as
    its name and aliases, of which upper and lower case are one; a name within a longer word does not count.
    """
    named = len(_named(entities))
    return (named - len(missing_entities(entities, content))) / named if named else 1.0


def missing_entities(entities: Sequence[Sequence[str]], content: str) -> list[Sequence[str]]:
    """Return those of the named entities of which neither the name nor an alias stands in the content."""
    if not (named := _named(entities)):
        return []
    text = " ".join(content.casefold().split())
    return [forms for forms in named if not any(_stands_in(form, text) for form in forms)]


def _named(entities: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [forms for forms in entities if any(form.strip() for form in forms)][:MAX_ENTITIES]


def recorded_completeness(request: Mapping[str, Any], content: str) -> float:
    """Return the completeness that the recorded request holds; older records hold none, so theirs is computed."""
    known: float | None = request.get("completeness")
    return completeness(named_entities(request), content) if known is None else known


def _stands_in(form: str, text: str) -> bool:
    name = " ".join(form.casefold().split())
    # Most names are not in the text at all, which is found out faster without the expression.
    return bool(name) and name in text and bool(re.search(_ENTITY_EDGE.format(name=re.escape(name)), text))


def contradiction_rate(disputed: int, included: int) -> float:
    """Return the share of the included items that are in an unresolved conflict or repeat another included item.

    contradiction_rate = |disputed included items| / |included items|; 0 without items.
    """
    return min(1.0, disputed / included) if included else 0.0


def rescaled_cosine(cosine: float) -> float:
    """Return (cosine - UNRELATED_COSINE) / (NEIGHBOUR_COSINE - UNRELATED_COSINE), limited to 0 to 1."""
    return min(1.0, max(0.0, (cosine - UNRELATED_COSINE) / (NEIGHBOUR_COSINE - UNRELATED_COSINE)))


def item_coherence(signals: Mapping[str, float]) -> float | None:
    """Return how well an item without a vector fits its context: by nearness in meaning or overlap of words.

    c = max(rescaled_cosine(similarity to the topic), coherence), where coherence is the share of the item's longer
    words in the topic and in what precedes it (`engine.priority.coherence`), or what the gathering of candidates
    measured. None if neither is known, as for whole files.
    """
    similarity, overlap = signals.get("similarity"), signals.get("coherence")
    found = [] if similarity is None else [rescaled_cosine(similarity)]
    found += [] if overlap is None else [min(1.0, max(0.0, overlap))]
    return max(found, default=None)


def vector_coherence(signals: Mapping[str, float], cosine: float) -> float:
    """Return how well an item fits its context, where its vector is known.

    c = rescaled_cosine(max(similarity to the topic, cosine)), where `cosine` is the largest one to the topic and to
    another item of the context. Overlap of words does not count then.
    """
    return rescaled_cosine(max(cosine, signals.get("similarity", cosine)))


def coherence_score(items: Sequence[float], contradictions: float) -> float | None:
    """Return how well the items of a context fit together; None without any whose fit is known.

    coherence_score = max(0, mean(c) - contradiction_rate), with c by `vector_coherence`, and by `item_coherence` of an
    item without a vector. The seed's goal is 0.8.
    """
    return max(0.0, fmean(items) - contradictions) if items else None


def quality_of(decisions: Iterable[Decision]) -> float:
    """Return the mean relevance, 0 to 1, of the included items that a search found; 0 if there are none.

    quality_achieved is this value for contexts with a topic. Pinned items do not count: they are included whatever the
    topic, so their relevance says nothing about the search.
    """
    signals = [dict(decision.signals) for decision in decisions if decision.included and not _is_pinned(decision)]
    found = [mine.get("similarity", mine.get("relevance")) for mine in signals]
    known = [min(1.0, max(0.0, relevance)) for relevance in found if relevance is not None]
    return fmean(known) if known else 0.0


def _is_pinned(decision: Decision) -> bool:
    return decision.code is Code.PINNED


def named_entities(request: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the entities that a recorded request names: those it gives, else those that were found in its topic."""
    given = request.get("entities") or [one["name"] for one in request.get("signals", {}).get("mentioned", ())]
    return [(name,) for name in given]


def measure_quality(
    *,
    decisions: Sequence[Decision],
    content: str,
    request: Mapping[str, Any],
    coverage: float = 1.0,
    disputed: Collection[str] = (),
) -> ContextQuality:
    """Return the quality of a context from its decisions, its text and its recorded request.

    `coverage` is its source_coverage. `disputed` are the refs of items in unresolved conflicts.
    """
    included = [decision for decision in decisions if decision.included]
    rate = contradiction_rate(sum(decision.ref in disputed for decision in included), len(included))
    return ContextQuality(
        source_coverage=coverage,
        completeness=recorded_completeness(request, content),
        contradiction_rate=rate,
        coherence_score=coherence_score(_recorded_coherence(request, included), rate),
        quality_achieved=request.get("quality"),
    )


def _recorded_coherence(request: Mapping[str, Any], included: Iterable[Decision]) -> list[float]:
    """Return the mean c that the recorded request holds; older records hold none: of those, c of each item."""
    mean: float | None = request.get("coherence")
    if mean is not None:
        return [mean]
    known = [item_coherence(dict(decision.signals)) for decision in included if decision.signals]
    return [one for one in known if one is not None]
