"""The rules that fired determine the effect on one candidate: exclude, include or boost.

Required sections are not affected by rules. Excluding takes precedence over boosting. If one rule includes an item and
another excludes it, the narrower scope wins (agent, then team, then everywhere); within one scope, excluding wins. In a
path pattern, ** matches any folders, * and ? match characters within one name.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.rules import SCOPES, Rule, Selector
from assembly.engine.types import Candidate, Scalar


def path_matches(path: str, pattern: str) -> bool:
    """Return whether the whole path matches the pattern, case-sensitively. Takes time proportional to both lengths."""
    return _matches_names(path.split("/"), pattern.split("/"))


def _matches_names(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether the names match the patterns; on a mismatch, the last ** takes one name more."""
    name = place = taken = 0
    last: int | None = None
    while name < len(names):
        if place < len(patterns) and patterns[place] == "**":
            last, taken = place, name
            place += 1
        elif place < len(patterns) and fnmatchcase(names[name], _escaped_pattern(patterns[place])):
            name, place = name + 1, place + 1
        elif last is not None:
            taken += 1
            name, place = taken, last + 1
        else:
            return False
    return all(pattern == "**" for pattern in patterns[place:])


def _escaped_pattern(pattern: str) -> str:
    """Return the pattern with brackets taken literally: they are common in the paths of web projects."""
    return pattern.replace("[", "[[]")


ALWAYS_INCLUDED = Section("always_included", "Always Included", "L6", "rule_inclusions", "sequence")
"""The section of items that rules always include: right after the required sections."""


class RuleEffect(Struct, frozen=True):
    """The effect of request and rules on a candidate: a code that excludes it, or a factor for its score (`boost`)."""

    code: Code | None = None
    boost: float = 1.0
    included_as: Code = Code.FITS
    """The code that the candidate gets if it is included whole."""
    detail: Mapping[str, Scalar] = {}
    """The numbers and names behind the effect, such as the rule that caused it."""

    def boosted(self, score: float) -> float:
        """Return the score times the boost; a score of zero or below is unchanged, as a boost would worsen it."""
        return score * self.boost if score > 0 else score


NO_EFFECT = RuleEffect()
"""The effect on a candidate that no rule selects."""

RuleEffectOf = Callable[[Section, Candidate], RuleEffect]
"""A function that returns the effect of request and rules on a candidate for a section."""


MAX_BOOST = 1_000.0
"""The largest factor by which all rules together multiply a score."""


def rule_effect(candidate: Candidate, section: Section, rules: Sequence[Rule]) -> RuleEffect:
    """Return the effect of the rules that fired, given narrowest scope first, on a candidate for a section."""
    if not rules or section.required:
        return NO_EFFECT
    included = _first_selecting_rule(candidate, section, ((rule, rule.then.always_include) for rule in rules))
    excluded = _first_selecting_rule(candidate, section, ((rule, rule.then.exclude) for rule in rules))
    if excluded and (included is None or _scope_rank(excluded) <= _scope_rank(included)):
        return RuleEffect(code=Code.RULE_EXCLUDED, detail={"rule": excluded.label})
    if section.key == ALWAYS_INCLUDED.key and included:
        return RuleEffect(included_as=Code.RULE_INCLUDED, detail={"rule": included.label})
    return _boost_effect(candidate, section, rules)


def is_selected(selector: Selector, candidate: Candidate, section: Section) -> bool:
    """Return whether the selector matches the candidate, by its labels or by the source of its section."""
    if selector.by == "source":
        return section.source == selector.value
    labels = candidate.labels.get(selector.by, ())
    if selector.by == "path":
        return any(path_matches(path, selector.value) for path in labels)
    return normalized_name(selector.value) in {normalized_name(label) for label in labels}


def normalized_name(name: str) -> str:
    """Return the name in the form in which names are compared: without case, with single spaces."""
    return " ".join(name.casefold().split())


def _first_selecting_rule(
    candidate: Candidate, section: Section, offered: Iterable[tuple[Rule, Sequence[Selector]]]
) -> Rule | None:
    for rule, selectors in offered:
        if any(is_selected(selector, candidate, section) for selector in selectors):
            return rule
    return None


def _scope_rank(rule: Rule) -> int:
    return SCOPES.index(rule.scope)


def _boost_effect(candidate: Candidate, section: Section, rules: Sequence[Rule]) -> RuleEffect:
    """Return the product of all boosts that select the candidate, with the labels of their rules."""
    weights: dict[str, float] = {}
    for rule in rules:
        mine = [boost.weight for boost in rule.then.boost if is_selected(boost.selector, candidate, section)]
        if mine:
            weights[rule.label] = math.prod(mine)
    if not weights:
        return NO_EFFECT
    return RuleEffect(boost=min(MAX_BOOST, math.prod(weights.values())), detail={"rule": ", ".join(weights)})
