"""A change is one modification of the engine's inputs that is tried to include an item.

This module has no side effects.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from msgspec import structs

from assembly.engine.linear_ranker import WORDS_FEATURE, Ranker
from assembly.engine.profile import Profile, Section
from assembly.engine.refs import Ref, exclusion_names
from assembly.engine.rule_effects import ALWAYS_INCLUDED, is_selected
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector, SelectorKind, sorted_rules
from assembly.engine.scopes import SCOPES
from assembly.engine.types import ENGINE_VERSION, MEMORY_LAYER_SINCE, Candidate, EngineRequest, field_values
from assembly.records.reader import EngineInput
from assembly.rules.evaluation import add_inclusion_section
from assembly.sources.kinds import ITEM_KINDS

DIGITS = 9


def is_scored(candidate: Candidate, section: Section, profile: Profile) -> bool:
    """Return whether there is a number that would raise the item's score."""
    if section.shape == "blocks":
        return _heaviest_measure(profile, section) is not None
    if section.shape != "lines":
        return False
    if profile.ranker and candidate.measures:
        return _heaviest_feature(profile.ranker, candidate) is not None
    return True


def with_raised_score(
    candidate: Candidate, section: Section, profile: Profile, by: float, *, engine_version: int = ENGINE_VERSION
) -> Candidate:
    """Return the item with a score that is higher by this much, before rules boost it.

    For blocks and ranked lines, the feature with the highest weight is raised, for others their similarity.
    """
    if section.shape == "lines" and not (profile.ranker and candidate.measures):
        return structs.replace(candidate, similarity=increased_score(candidate.similarity, by))
    is_block = section.shape == "blocks"
    heaviest = _heaviest_measure(profile, section) if is_block else _heaviest_feature(profile.ranker, candidate)
    if heaviest is None:
        return candidate
    name, weight = heaviest
    if is_block and engine_version >= MEMORY_LAYER_SINCE:  # the score is the weighted mean of the measures
        weight /= math.fsum(field_values(profile.weights).values())
    more = {name: increased_score(candidate.measures.get(name), by / weight)}
    return structs.replace(candidate, measures={**candidate.measures, **more})


def increased_score(score: float | None, by: float) -> float:
    """Return the sum without rounding noise, which would make equal scores differ."""
    return round((score or 0.0) + by, DIGITS)


def _heaviest_measure(profile: Profile, section: Section) -> tuple[str, float] | None:
    """Return the measure with the highest weight, except those that the engine computes itself."""
    computed = {"coherence"} | ({"recency"} if section.scope in profile.half_life else set())
    weights: dict[str, float] = {
        name: weight for name, weight in field_values(profile.weights).items() if name not in computed
    }
    name = max(weights, key=lambda name: weights[name])
    return (name, weights[name]) if weights[name] else None


def _heaviest_feature(ranker: Ranker | None, candidate: Candidate) -> tuple[str, float] | None:
    """Return the feature with the highest weight.

    Words of the topic are excluded: with enough of them, an item is found whatever its score.
    """
    by_name = ranker.weights_for(candidate) if ranker else ()
    weights = [(name, weight) for name, weight in by_name if name != WORDS_FEATURE and weight]
    return max(weights, key=lambda weighed: abs(weighed[1]), default=None)


ChangeKind = Literal[
    "budget", "cap", "top_k", "threshold", "score_distance", "score", "source_score", "boost", "pin", "always_include",
    "without_rule", "without_exclusion", "not_superseded", "not_archived", "without_duplicate", "shorter", "text",
    "scope_limit", "relevance_floor", "least_origin", "level", "conflict_decided",
]  # fmt: skip
"""The kinds of changes, with the meaning of `RemedyChange.value` if they have one.

budget, cap, top_k, threshold, score_distance: the new value of the token budget, the section's limit in tokens, its
number of items, the lowest similarity, or the greatest distance to the best score of a ranker; score, source_score: the
increase of the score; boost: the factor of a rule that boosts the item; pin: the memory is pinned; always_include: a
rule always includes the item; without_rule: the number of rules, the narrowest first, that no longer exclude it;
without_exclusion: the request no longer excludes it; not_superseded, not_archived: it has no successor, or is not
archived; without_duplicate: its duplicate is missing; shorter: the number of characters that its text is cut to; text:
its text is not empty; scope_limit, relevance_floor: the new limit of its memory scope, or the section's new floor;
least_origin: the section takes texts of the item's origin; level: all items are included as whole texts;
conflict_decided: a person decided for the item in all of its conflicts.
"""

CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
RULE = "why-not"
"""The name of a tried rule, which has the narrowest scope, so that no other rule overrides it."""
SOME_TEXT = "…"
INCLUDABLE: Mapping[str, SelectorKind] = {kind.name: kind.selector for kind in ITEM_KINDS if kind.selector}
"""The kinds of items that a rule can include individually, by the prefix of their refs, with the label that it uses."""


@dataclass(frozen=True, slots=True)
class RemedyChange:
    """A change for the item with this section and ref."""

    kind: ChangeKind
    section: str
    ref: str
    value: float = 0
    """A number whose meaning depends on the kind: see `ChangeKind`; 0 for kinds without a number."""
    name: str = ""
    """For boost and always_include, the selector of the rule, such as tag:blue; for without_duplicate and
    conflict_decided, the ref of the other item; for scope_limit, least_origin and level, the scope, the origin (empty:
    any) or the level.
    """


def apply_changes(inputs: EngineInput, changes: Sequence[RemedyChange]) -> EngineInput:
    """Return the engine's inputs with all the changes, applied in order."""
    for change in changes:
        inputs = _APPLIERS[change.kind](inputs, change)
    return inputs


def excluding_rules(rules: Sequence[Rule], candidate: Candidate, section: Section) -> list[Rule]:
    """Return the rules that exclude the item, the narrowest first."""
    return [rule for rule in rules if any(is_selected(one, candidate, section) for one in rule.then.exclude)]


def rules_naming(exclusions: Sequence[str], ref: str) -> set[str]:
    """Return the exclusions that contain the ref: with its version, without it, or only the id."""
    return exclusion_names(ref) & set(exclusions)


def may_be_included(candidate: Candidate) -> bool:
    """Return whether a rule can include exactly this item in full.

    A rule names whole kinds of memories, which the record need not contain, and a passage includes its whole document.
    """
    return Ref.parse(candidate.ref).kind in INCLUDABLE


def change_selector(name: str) -> Selector:
    """Return the selector in the name of a change."""
    by, _, value = name.partition(":")
    return Selector(_SELECTOR_LABELS[by], value)


def find_candidate(inputs: EngineInput, section: str, ref: str) -> tuple[Section, Candidate]:
    """Return the section and the item."""
    described = next(one for one in inputs.profile.sections if one.key == section)
    return described, next(one for one in inputs.candidates if (one.section, one.ref) == (section, ref))


def _changed_candidate(inputs: EngineInput, change: RemedyChange) -> tuple[Section, Candidate]:
    return find_candidate(inputs, change.section, change.ref)


def _with_budget(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_request(inputs, budget=int(change.value))


def _with_cap(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_section(inputs, change, cap=int(change.value), share=None)


def _with_top_k(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_section(inputs, change, top_k=int(change.value))


def _with_threshold(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_profile(inputs, similarity_threshold=change.value)


def _with_reach(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    ranker = inputs.profile.ranker
    return _with_profile(inputs, ranker=replace(ranker, reach=change.value)) if ranker else inputs


def _with_score(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    section, candidate = _changed_candidate(inputs, change)
    version = inputs.request.engine_version
    raised = with_raised_score(candidate, section, inputs.profile, change.value, engine_version=version)
    return _replace_candidate(inputs, candidate, raised)


def _with_source_score(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(
        inputs, candidate, structs.replace(candidate, score=increased_score(candidate.score, change.value))
    )


def _with_boost(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_rule(inputs, Actions(boost=(Boost(change_selector(change.name), change.value),)))


def _pinned(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, structs.replace(candidate, pinned=True))


def _always_included(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """Return the inputs with the item among the rule inclusions, with everything else that the rule
    finds, each once.
    """
    selector = change_selector(change.name)
    ruled = _with_rule(inputs, Actions(always_include=(selector,)))
    profile = inputs.profile
    if ALWAYS_INCLUDED.key not in {section.key for section in profile.sections}:
        profile = add_inclusion_section(profile, ruled.request.rules)
    there = {one.ref for one in inputs.candidates if one.section == ALWAYS_INCLUDED.key}
    found = {
        one.ref: one
        for one in inputs.candidates
        if one.ref not in there and may_be_included(one) and is_selected(selector, one, ALWAYS_INCLUDED)
    }
    offered = (
        structs.replace(one, section=ALWAYS_INCLUDED.key, position=place)
        for place, one in enumerate(found.values(), len(there))
    )
    return replace(ruled, profile=profile, candidates=(*inputs.candidates, *offered))


def _without_rule(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """Return the inputs without the rules' exclusion of this item; their other effects remain."""
    section, candidate = _changed_candidate(inputs, change)
    silenced = excluding_rules(inputs.request.rules, candidate, section)[: int(change.value)]

    def kept(rule: Rule) -> Rule:
        exclude = tuple(one for one in rule.then.exclude if not is_selected(one, candidate, section))
        return replace(rule, then=replace(rule.then, exclude=exclude)) if rule in silenced else rule

    return _with_request(inputs, rules=tuple(map(kept, inputs.request.rules)))


def _without_exclusion(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    gone = rules_naming(inputs.request.exclude, change.ref)
    return _with_request(inputs, exclude=tuple(one for one in inputs.request.exclude if one not in gone))


def _not_superseded(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, structs.replace(candidate, superseded_by=None))


def _not_retired(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, structs.replace(candidate, retired=None))


def _without_other(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    mine = (change.section, change.ref)
    left = (one for one in inputs.candidates if one.ref != change.name or (one.section, one.ref) == mine)
    return replace(inputs, candidates=tuple(left))


def _conflict_decided(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """Return the inputs with a decision for the item in each of its conflicts."""
    known = inputs.request.reconciliations
    decided = [
        structs.replace(one, resolution="left" if one.left == change.ref else "right")
        if change.ref in {one.left, one.right}
        else one
        for one in known
    ]
    return _with_request(inputs, reconciliations=tuple(decided))


def _shorter(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """Return the inputs with a shorter text of the item, without its summary, which is one of the whole text."""
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(
        inputs, candidate, structs.replace(candidate, text=candidate.text[: int(change.value)], summary=None, levels={})
    )


def _with_text(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, structs.replace(candidate, text=SOME_TEXT))


def _with_scope_limit(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    changed = {scope: int(change.value) for scope in SCOPES if scope == change.name}
    return _with_profile(inputs, scope_limits={**inputs.profile.scope_limits, **changed})


def _with_floor(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_section(inputs, change, relevance_floor=change.value)


def _with_least_origin(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_section(inputs, change, least_origin=change.name or None)


def _with_level(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_profile(inputs, lod=change.name)


def _replace_candidate(inputs: EngineInput, one: Candidate, other: Candidate) -> EngineInput:
    return replace(inputs, candidates=tuple(other if item is one else item for item in inputs.candidates))


def _with_request(inputs: EngineInput, **facts: object) -> EngineInput:
    request: EngineRequest = replace(inputs.request, **facts)  # type: ignore[arg-type]
    return replace(inputs, request=request)


def _with_profile(inputs: EngineInput, **facts: object) -> EngineInput:
    profile: Profile = replace(inputs.profile, **facts)  # type: ignore[arg-type]
    return replace(inputs, profile=profile)


def _with_section(inputs: EngineInput, change: RemedyChange, **facts: object) -> EngineInput:
    sections = inputs.profile.sections
    others = tuple(replace(one, **facts) if one.key == change.section else one for one in sections)  # type: ignore[arg-type]
    return _with_profile(inputs, sections=others)


def _with_rule(inputs: EngineInput, then: Actions) -> EngineInput:
    rule = Rule(RULE, 1, "agent", Condition(), then)
    return _with_request(inputs, rules=sorted_rules([rule, *inputs.request.rules]))


_SELECTOR_LABELS: Mapping[str, SelectorKind] = {by: by for by in get_args(SelectorKind)}
_APPLIERS: Mapping[ChangeKind, Callable[[EngineInput, RemedyChange], EngineInput]] = {
    "budget": _with_budget,
    "cap": _with_cap,
    "top_k": _with_top_k,
    "threshold": _with_threshold,
    "score_distance": _with_reach,
    "score": _with_score,
    "source_score": _with_source_score,
    "boost": _with_boost,
    "pin": _pinned,
    "always_include": _always_included,
    "without_rule": _without_rule,
    "without_exclusion": _without_exclusion,
    "not_superseded": _not_superseded,
    "not_archived": _not_retired,
    "without_duplicate": _without_other,
    "shorter": _shorter,
    "text": _with_text,
    "scope_limit": _with_scope_limit,
    "relevance_floor": _with_floor,
    "least_origin": _with_least_origin,
    "level": _with_level,
    "conflict_decided": _conflict_decided,
}
