"""A change is one thing that could have been otherwise in what the engine was given. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from assembly.engine.linear_ranker import WORDS_FEATURE, Ranker
from assembly.engine.profile import Profile, Section
from assembly.engine.refs import Ref, exclusion_names
from assembly.engine.rule_effects import ALWAYS_INCLUDED, is_selected
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector, SelectorKind, sorted_rules
from assembly.engine.types import Candidate, EngineRequest, field_values
from assembly.records.reader import EngineInput
from assembly.rules.evaluation import add_inclusion_section
from assembly.sources.kinds import ITEM_KINDS

DIGITS = 9


def is_scored(candidate: Candidate, section: Section, profile: Profile) -> bool:
    """Whether there is a number that would raise its score."""
    if section.shape == "blocks":
        return _heaviest_measure(profile) is not None
    if section.shape != "lines":
        return False
    if profile.ranker and candidate.measures:
        return _heaviest_feature(profile.ranker, candidate) is not None
    return True


def with_raised_score(candidate: Candidate, section: Section, profile: Profile, by: float) -> Candidate:
    """The candidate as if its score, before any rule boosts it, were higher by so much.

    Blocks and ranked lines are raised by the one measure that weighs most, others by their similarity.
    """
    if section.shape == "lines" and not (profile.ranker and candidate.measures):
        return replace(candidate, similarity=increased_score(candidate.similarity, by))
    heaviest = _heaviest_measure(profile) if section.shape == "blocks" else _heaviest_feature(profile.ranker, candidate)
    if heaviest is None:
        return candidate
    name, weight = heaviest
    more = {name: increased_score(candidate.measures.get(name), by / weight)}
    return replace(candidate, measures={**candidate.measures, **more})


def increased_score(score: float | None, by: float) -> float:
    """Without the noise of the last digits, which would tell equals apart."""
    return round((score or 0.0) + by, DIGITS)


def _heaviest_measure(profile: Profile) -> tuple[str, float] | None:
    """Coherence is left alone: the engine measures it itself."""
    weights: dict[str, float] = {
        name: weight for name, weight in field_values(profile.weights).items() if name != "coherence"
    }
    name = max(weights, key=lambda name: weights[name])
    return (name, weights[name]) if weights[name] else None


def _heaviest_feature(ranker: Ranker | None, candidate: Candidate) -> tuple[str, float] | None:
    """The words of the topic are left alone: with enough of them, an item is found whatever its score."""
    by_name = ranker.weights_for(candidate) if ranker else ()
    weights = [(name, weight) for name, weight in by_name if name != WORDS_FEATURE and weight]
    return max(weights, key=lambda weighed: abs(weighed[1]), default=None)


ChangeKind = Literal[
    "budget", "cap", "top_k", "threshold", "reach", "score", "source_score", "boost", "pin", "always_include",
    "without_rule", "without_exclusion", "not_superseded", "not_retired", "without_other", "shorter", "text",
]  # fmt: skip
"""budget, cap: so many tokens; top_k: so many places; threshold: from this similarity on something is near the topic;
reach: how far below the best score a ranker still finds something near it; score, source_score: raised by so much;
boost: a rule that multiplies its score by so much; pin: a memory that is pinned; always_include: a rule; without_rule:
so many of the rules that exclude it, the narrowest first, do not; without_exclusion: the request does not exclude it;
not_superseded, not_retired: as if it stood; without_other: what says the same is not there; shorter: the first so many
characters of its text alone; text: there is one."""

CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
RULE = "why-not"
"""The name of a rule that is tried: of the narrowest scope, so that no other one outdoes it."""
SOME_TEXT = "…"
INCLUDABLE: Mapping[str, SelectorKind] = {kind.name: kind.selector for kind in ITEM_KINDS if kind.selector}
"""What a rule can include by itself, by the beginning of its ref, and the label by which it finds it."""


@dataclass(frozen=True, slots=True)
class RemedyChange:
    """One change for the candidate that is named by its section and its ref."""

    kind: ChangeKind
    section: str
    ref: str
    value: float = 0
    """What becomes of the number that the kind names."""
    name: str = ""
    """Of boost and always_include, what the rule finds its items by, as tag:blue; of without_other, the other's ref."""


def apply_changes(inputs: EngineInput, changes: Sequence[RemedyChange]) -> EngineInput:
    """What the engine would be given, were all of them made, in their order."""
    for change in changes:
        inputs = _APPLIERS[change.kind](inputs, change)
    return inputs


def excluding_rules(rules: Sequence[Rule], candidate: Candidate, section: Section) -> list[Rule]:
    """The rules that say that the candidate stays out, the narrowest first."""
    return [rule for rule in rules if any(is_selected(one, candidate, section) for one in rule.then.exclude)]


def rules_naming(exclusions: Sequence[str], ref: str) -> set[str]:
    """Those that name the ref: by itself, without its version, or by its id alone."""
    return exclusion_names(ref) & set(exclusions)


def may_be_included(candidate: Candidate) -> bool:
    """Whether a rule can include the very thing, told as it was: of memories, a rule names a whole kind, of which the
    record need not hold all; and a piece of a document brings in the whole of it."""
    return Ref.parse(candidate.ref).kind in INCLUDABLE


def change_selector(name: str) -> Selector:
    """What a change is named that finds its items by a label."""
    by, _, value = name.partition(":")
    return Selector(_SELECTOR_LABELS[by], value)


def find_candidate(inputs: EngineInput, section: str, ref: str) -> tuple[Section, Candidate]:
    """The candidate in that place, with its section before it."""
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
    return _replace_candidate(inputs, candidate, with_raised_score(candidate, section, inputs.profile, change.value))


def _with_source_score(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(
        inputs, candidate, replace(candidate, score=increased_score(candidate.score, change.value))
    )


def _with_boost(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    return _with_rule(inputs, Actions(boost=(Boost(change_selector(change.name), change.value),)))


def _pinned(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, replace(candidate, pinned=True))


def _always_included(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """As the source of what rules include would offer it, with what else the rule finds: each once."""
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
        replace(one, section=ALWAYS_INCLUDED.key, position=place)
        for place, one in enumerate(found.values(), len(there))
    )
    return replace(ruled, profile=profile, candidates=(*inputs.candidates, *offered))


def _without_rule(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """They keep what else they do, and what else they exclude."""
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
    return _replace_candidate(inputs, candidate, replace(candidate, superseded_by=None))


def _not_retired(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, replace(candidate, retired=None))


def _without_other(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    mine = (change.section, change.ref)
    left = (one for one in inputs.candidates if one.ref != change.name or (one.section, one.ref) == mine)
    return replace(inputs, candidates=tuple(left))


def _shorter(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    """A summary of the whole text is none of its beginning."""
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(
        inputs, candidate, replace(candidate, text=candidate.text[: int(change.value)], summary=None)
    )


def _with_text(inputs: EngineInput, change: RemedyChange) -> EngineInput:
    _, candidate = _changed_candidate(inputs, change)
    return _replace_candidate(inputs, candidate, replace(candidate, text=SOME_TEXT))


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
    "reach": _with_reach,
    "score": _with_score,
    "source_score": _with_source_score,
    "boost": _with_boost,
    "pin": _pinned,
    "always_include": _always_included,
    "without_rule": _without_rule,
    "without_exclusion": _without_exclusion,
    "not_superseded": _not_superseded,
    "not_retired": _not_retired,
    "without_other": _without_other,
    "shorter": _shorter,
    "text": _with_text,
}
