"""The effect of fired rules on one candidate, with the path patterns that rules use.

What is required is beyond rules. Excluding beats boosting. Where one rule includes an item and another excludes it, the
narrower scope wins (agent, then team, then everywhere); within one scope, excluding does. In a pattern, ** stands for
any folders, * and ? for characters within one name.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.rules import SCOPES, Rule, Selector
from assembly.engine.types import Candidate, Scalar


def path_matches(path: str, pattern: str) -> bool:
    """Whether the whole path is as the pattern says. Upper and lower case differ. Takes time in proportion to both."""
    return _matches_names(path.split("/"), pattern.split("/"))


def _matches_names(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """The usual walk with one way back: to the last **, which then takes one name more."""
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
    """Brackets stand for themselves: they are common in the paths of web projects."""
    return pattern.replace("[", "[[]")


ALWAYS_INCLUDED = Section("always_included", "Always Included", "L6", "rule_inclusions", "sequence")
"""Where what rules always include stands: right after what is required."""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What was decided of a candidate before it is ranked. Without a code it may compete, its score times `boost`."""

    code: Code | None = None
    boost: float = 1.0
    included_as: Code = Code.FITS
    """The code that it gets where it is in, whole."""
    detail: Mapping[str, Scalar] = field(default_factory=dict)
    """The numbers and names behind it: the rule that said so."""

    def boosted(self, score: float) -> float:
        """The score as it counts; one below zero stays, for a boost would worsen it."""
        return score * self.boost if score > 0 else score


NO_EFFECT = RuleEffect()
"""No rule says anything of the candidate."""

RuleEffectOf = Callable[[Section, Candidate], RuleEffect]
"""What request and rules want of a candidate for a section."""


MAX_BOOST = 1_000.0
"""The most that all rules together multiply a score by."""


def rule_effect(candidate: Candidate, section: Section, rules: Sequence[Rule]) -> RuleEffect:
    """What the fired rules, the narrowest first, say of a candidate for a section."""
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
    """Whether the selector names the candidate, by its labels or by the source of its section."""
    if selector.by == "source":
        return section.source == selector.value
    labels = candidate.labels.get(selector.by, ())
    if selector.by == "path":
        return any(path_matches(path, selector.value) for path in labels)
    return normalized_name(selector.value) in {normalized_name(label) for label in labels}


def normalized_name(name: str) -> str:
    """A name as it is compared: whatever its case and its white space."""
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
    """All the weights together; the labels of the rules that they come from."""
    weights: dict[str, float] = {}
    for rule in rules:
        mine = [boost.weight for boost in rule.then.boost if is_selected(boost.selector, candidate, section)]
        if mine:
            weights[rule.label] = math.prod(mine)
    if not weights:
        return NO_EFFECT
    return RuleEffect(boost=min(MAX_BOOST, math.prod(weights.values())), detail={"rule": ", ".join(weights)})
