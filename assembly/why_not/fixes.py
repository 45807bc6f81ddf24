"""This module lists the fixes that might include an item, by the reason for its exclusion, the most fitting first.

Some remove an obstacle (a rule, a filter, a successor, a duplicate), some improve the rank (more items per section, a
lower threshold, a higher score, a pin), some make the item fit (a larger budget or limit, a shorter text). The module
has no side effects.
"""

import math
from collections.abc import Callable, Iterator, Mapping

from assembly.engine.codes import Code
from assembly.engine.linear_ranker import SHARE_PREFIX
from assembly.engine.refs import Ref
from assembly.engine.rule_effects import is_selected, rule_effect
from assembly.engine.rules import Selector, SelectorKind
from assembly.engine.types import Decision
from assembly.pipeline.request import MAX_TOKENS
from assembly.why_not.changes import INCLUDABLE, excluding_rules, is_scored, may_be_included, rules_naming
from assembly.why_not.fix_situation import STEPS_PER_SCORE_UNIT, Fix, FixSituation


def _without_rule(situation: FixSituation) -> Fix:
    rules = excluding_rules(situation.inputs.request.rules, situation.candidate, situation.section)
    labels = [rule.label for rule in rules]
    return Fix(lambda n: situation.change("without_rule", n, ", ".join(labels[:n])), len(rules), guess=1)


def _without_exclusion(situation: FixSituation) -> Fix:
    names = ", ".join(sorted(rules_naming(situation.inputs.request.exclude, situation.candidate.ref)))
    return Fix(lambda _: situation.change("without_exclusion", name=names))


def _not_superseded(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("not_superseded", name=situation.candidate.superseded_by or ""))


def _not_retired(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("not_archived"))


def _without_other(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("without_duplicate", name=str(situation.decision.detail["by"])))


def _decided(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("conflict_decided", name=str(situation.decision.detail["by"])))


def _text(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("text"))


def _any_origin(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("least_origin", name=situation.candidate.origin or ""))


_OBSTACLE_FIXES: Mapping[Code, Callable[[FixSituation], Fix]] = {
    Code.RULE_EXCLUDED: _without_rule,
    Code.FILTERED: _without_exclusion,
    Code.SUPERSEDED: _not_superseded,
    Code.EXPIRED: _not_retired,
    Code.DUPLICATE: _without_other,
    Code.CONFLICT_LOST: _decided,
    Code.EMPTY: _text,
    Code.UNTRUSTED_ORIGIN: _any_origin,
}


def lift_obstacle(situation: FixSituation) -> Iterator[Fix]:
    """Yield the fix that removes the obstacle; none if its rank or its size is the reason."""
    if way := _OBSTACLE_FIXES.get(situation.decision.code):
        yield way(situation)


FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 50, 100, 1_000)
"""The factors of boosts that are tried."""
LABELS: tuple[SelectorKind, ...] = ("path", "kg_entity", "memory_kind", "tag")


def more_places(situation: FixSituation) -> Iterator[Fix]:
    """Yield more items of the section, or of the scope if that is the limit that was reached."""
    if situation.decision.detail.get("scope"):
        yield _larger_scope(situation)
        return
    top_k = situation.section.top_k or 0
    considered = sum(one.section == situation.section.key for one in situation.inputs.candidates)
    guess = (situation.decision.rank or 0) - top_k
    yield Fix(lambda n: situation.change("top_k", top_k + n), considered - top_k, guess)


def _larger_scope(situation: FixSituation) -> Fix:
    scope, limit = situation.section.scope, int(situation.decision.detail["top_k"])
    considered = sum(one.scope == scope for one in situation.sections_of_candidates)
    guess = int(situation.decision.detail["rank"]) - limit
    return Fix(lambda n: situation.change("scope_limit", limit + n, scope or ""), considered - limit, guess)


def lower_floor(situation: FixSituation) -> Iterator[Fix]:
    """Yield a lower floor of relevance of the section, that of the item, if it was below the floor."""
    if (relevance := situation.decision.detail.get("relevance")) is not None:
        floor = math.floor(relevance * STEPS_PER_SCORE_UNIT) / STEPS_PER_SCORE_UNIT
        yield Fix(lambda _: situation.change("relevance_floor", floor))


def whole_level(situation: FixSituation) -> Iterator[Fix]:
    """Yield whole texts for all items, if the item is included at another level of detail."""
    if situation.decision.detail.get("lod", "atomic") != "atomic":
        yield Fix(lambda _: situation.change("level", name="atomic"), whole=True)


def lower_threshold(situation: FixSituation) -> Iterator[Fix]:
    """Yield a lower similarity threshold, in steps down to the similarity of the item."""
    threshold, own = situation.inputs.profile.similarity_threshold, situation.candidate.similarity
    if own is None or own >= threshold or situation.section.shape == "blocks":
        return
    start, end = math.ceil(threshold * STEPS_PER_SCORE_UNIT), math.floor(own * STEPS_PER_SCORE_UNIT)
    yield Fix(lambda n: situation.change("threshold", (start - n) / STEPS_PER_SCORE_UNIT), start - end, start - end)


def longer_reach(situation: FixSituation) -> Iterator[Fix]:
    """Yield a longer reach of the ranker, up to the score of the item."""
    ranker, least = situation.ranker, situation.decision.detail.get("threshold")
    if ranker is None or situation.decision.score is None or least is None:
        return
    start, missing = math.floor(ranker.reach * STEPS_PER_SCORE_UNIT), _steps(least - _unboosted(situation.decision))
    yield Fix(lambda n: situation.change("score_distance", (start + n) / STEPS_PER_SCORE_UNIT), missing + 2, missing)


def higher_score(situation: FixSituation) -> Iterator[Fix]:
    """Yield a higher score: at least the threshold, at most above all competitors. A score that was not measured starts
    at 0.
    """
    detail, factor = situation.decision.detail, _factor(situation)
    asked = detail.get("last_score", detail.get("threshold"))
    scores = [one.score for one in situation.rivals if one.score is not None]
    if not scores or not is_scored(situation.candidate, situation.section, situation.inputs.profile):
        return
    score, highest = situation.decision.score or 0.0, max(scores)
    most = _steps((max(highest, highest if asked is None else asked) - score) / factor) + 2
    guess = 0 if asked is None else _steps((asked - score) / factor)
    yield Fix(lambda n: situation.change("score", n / STEPS_PER_SCORE_UNIT), most, guess)


def higher_source_score(situation: FixSituation) -> Iterator[Fix]:
    """Yield a higher score from the source: blocks share the tokens of their section by the source's score, lines by
    their own.
    """
    if situation.section.shape != "blocks":
        yield from higher_score(situation)
        return
    own = situation.candidate.score or 0.0
    highest = max(one.score or 0.0 for one in situation.inputs.candidates if one.section == situation.section.key)
    yield Fix(
        lambda n: situation.change("source_score", n / STEPS_PER_SCORE_UNIT),
        _steps((highest - own) / _factor(situation)) + 2,
    )


def boost(situation: FixSituation) -> Iterator[Fix]:
    """Yield a rule that boosts the item and as few others as possible."""
    if situation.decision.score is not None and situation.section.shape in {"blocks", "lines"}:
        selector = _narrowest(situation)
        name = f"{selector.by}:{selector.value}"
        yield Fix(lambda n: situation.change("boost", FACTORS[n - 1], name), len(FACTORS))


def pin(situation: FixSituation) -> Iterator[Fix]:
    """Yield a pin: only memories can be pinned, and pins only matter where several items have a rank."""
    may_be = situation.section.shape in {"lines", "blocks"} and Ref.parse(situation.candidate.ref).kind == "memory"
    if may_be and not situation.candidate.pinned:
        yield Fix(lambda _: situation.change("pin"), whole=situation.is_short)


def always_include(situation: FixSituation) -> Iterator[Fix]:
    """Yield a rule that always includes the item, by one of its labels."""
    candidate = situation.candidate
    if not may_be_included(candidate):
        return
    by = INCLUDABLE[Ref.parse(candidate.ref).kind]
    if labels := candidate.labels.get(by):
        yield Fix(lambda _: situation.change("always_include", name=f"{by}:{labels[0]}"), whole=situation.is_short)


def _factor(situation: FixSituation) -> float:
    """Return the factor by which rules multiply a raised score. A ranker's boost is added instead."""
    if situation.ranker:
        return 1.0
    factor = rule_effect(situation.candidate, situation.section, situation.inputs.request.rules).boost
    return max(factor, 1 / STEPS_PER_SCORE_UNIT)


def _unboosted(decision: Decision) -> float:
    """Return the score without boosts. No rule changes a similarity."""
    return (decision.score or 0.0) - dict(decision.signals).get(f"{SHARE_PREFIX}boost", 0.0)


def _steps(amount: float) -> int:
    return max(0, math.ceil(amount * STEPS_PER_SCORE_UNIT))


def _narrowest(situation: FixSituation) -> Selector:
    """Return the selector that finds the item and the fewest others; the section's source if the item has no label."""
    labels = situation.candidate.labels
    selectors = [Selector(by, value) for by in LABELS for value in labels.get(by, ())]
    if not selectors:
        return Selector("source", situation.section.source)
    sections = {section.key: section for section in situation.inputs.profile.sections}

    def found(selector: Selector) -> int:
        return sum(is_selected(selector, one, sections[one.section]) for one in situation.inputs.candidates)

    return min(selectors, key=found)


MAX_OVERHEAD_TOKENS = 60
"""The maximum number of tokens of a section's heading, of an item's lead and of separators."""
CHARACTERS = 4  # of a token, about


def more_room(situation: FixSituation, *, whole: bool) -> Iterator[Fix]:
    """Yield more of the limit that was too small; for a truncated item, more of either limit."""
    code = situation.decision.code
    if code is not Code.OVER_TOTAL_BUDGET:
        yield from _cap(situation, whole)
    if code is not Code.OVER_SECTION_BUDGET or situation.section.share is not None:
        yield from _budget(situation, whole)


def shorter_text(situation: FixSituation) -> Iterator[Fix]:
    """Yield a shorter text of the item, in steps of characters."""
    length = len(situation.candidate.text.rstrip())
    if length > 1:
        guess = min(length - 1, max(1, _missing(situation) * CHARACTERS))
        yield Fix(lambda n: situation.change("shorter", length - n), length - 1, guess, whole=True)


def _budget(situation: FixSituation, whole: bool) -> Iterator[Fix]:
    budget = situation.inputs.request.budget
    most = min(_sufficient_budget(situation), MAX_TOKENS) - budget
    if most > 0:
        yield Fix(lambda n: situation.change("budget", budget + n), most, _missing(situation), whole)


def _cap(situation: FixSituation, whole: bool) -> Iterator[Fix]:
    """Yield a higher limit of the section; a limit of the whole budget counts as none."""
    budget = situation.inputs.request.budget
    cap = situation.section.cap_within(budget)
    if cap is not None and cap < budget:
        yield Fix(lambda n: situation.change("cap", cap + n), budget - cap, _missing(situation), whole)


def _missing(situation: FixSituation) -> int:
    """Return about how many tokens are missing; 0 if unknown."""
    if situation.is_short:
        return max(1, situation.decision.tokens_full - situation.decision.tokens)
    return int(situation.decision.detail.get("needed") or 0)


def _sufficient_budget(situation: FixSituation) -> int:
    """Return a budget that is sufficient for all items without limits; if limits are shares of it, the
    maximum budget.
    """
    if any(section.share is not None for section in situation.inputs.profile.sections):
        return MAX_TOKENS
    told = situation.assembled
    missing = sum(max(0, one.tokens_full - one.tokens) + MAX_OVERHEAD_TOKENS for one in told.decisions)
    return max(told.tokens, told.budget) + missing


FixFinder = Callable[[FixSituation], Iterator[Fix]]


def find_fixes(situation: FixSituation) -> Iterator[Fix]:
    """Yield the fixes for an item that is excluded or truncated, the most fitting first."""
    yield from lift_obstacle(situation)
    for ways in _FIXES_BY_CODE.get(situation.decision.code, ()):
        yield from ways(situation)
    if situation.decision.code is not Code.EMPTY:
        yield from pin(situation)
        yield from always_include(situation)


def _room_fixes(situation: FixSituation) -> Iterator[Fix]:
    yield from more_room(situation, whole=False)


def _whole_room_fixes(situation: FixSituation) -> Iterator[Fix]:
    yield from more_room(situation, whole=True)


_SHORTAGE_FIXES = (_whole_room_fixes, shorter_text)
_FIXES_BY_CODE: Mapping[Code, tuple[FixFinder, ...]] = {
    Code.OUTRANKED: (more_places, higher_score, boost),
    Code.BELOW_RELEVANCE: (lower_floor, lower_threshold, longer_reach, higher_score),
    Code.OVER_SECTION_BUDGET: (_room_fixes, shorter_text, higher_source_score, boost),
    Code.OVER_TOTAL_BUDGET: (_room_fixes, shorter_text, higher_score, boost),
    Code.TRUNCATED: _SHORTAGE_FIXES,
    Code.COMPACTED: _SHORTAGE_FIXES,
    Code.SUMMARISED: (whole_level, *_SHORTAGE_FIXES),
}
