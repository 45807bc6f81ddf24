"""A rule has a condition on the request, and then includes, boosts or excludes items.

Source: "The rule engine" of the seed "Context Assembly" (the librarian's), with the conditions that people expect.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Scope = Literal["agent", "team", "everywhere"]
"""The agents a rule applies to, the narrowest scope first."""

SelectorKind = Literal["path", "kg_entity", "memory_kind", "tag", "source"]
"""The property by which a selector matches items."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """The facts of a request that conditions test; `at` is the local time of the agent."""

    at: dt.datetime
    task: str = ""
    intent: str = ""
    agent: str = ""
    team: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A time window: days from `first` to `last`, both included, on these weekdays, from `opens` until before `closes`.

    If `closes` is not later than `opens`, the hours continue past midnight. A missing value does not limit.
    """

    first: dt.date | None = None
    last: dt.date | None = None
    weekdays: tuple[str, ...] = ()
    opens: dt.time | None = None
    closes: dt.time | None = None

    def holds(self, at: dt.datetime) -> bool:
        """Return whether the moment is in the window, by the moment's own time zone."""
        day = at.date()
        return (
            (self.first is None or self.first <= day)
            and (self.last is None or day <= self.last)
            and (not self.weekdays or WEEKDAYS[day.weekday()] in self.weekdays)
            and self._open(at.time())
        )

    def _open(self, time: dt.time) -> bool:
        if self.opens is None or self.closes is None:
            return True
        if self.opens < self.closes:
            return self.opens <= time < self.closes
        return time >= self.opens or time < self.closes


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that holds if each of its given parts holds; without any part, it always holds."""

    task_contains: tuple[str, ...] = ()
    """Words or phrases, one of which the task must contain as whole words, in any case."""
    agent: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    intent: tuple[str, ...] = ()
    between: TimeWindow | None = None
    all: tuple["Condition", ...] = ()
    any: tuple["Condition", ...] = ()
    never: "Condition | None" = None
    """A condition that must not hold; `not` in a rule's text."""

    def holds(self, facts: RuleFacts) -> bool:
        """Return whether the condition holds for the facts."""
        named = ((self.agent, facts.agent), (self.team, facts.team), (self.profile, facts.profile))
        return (
            all(not names or name in names for names, name in (*named, (self.intent, facts.intent)))
            and (not self.task_contains or any(_contains_words(facts.task, words) for words in self.task_contains))
            and (self.between is None or self.between.holds(facts.at))
            and all(part.holds(facts) for part in self.all)
            and (not self.any or any(part.holds(facts) for part in self.any))
            and (self.never is None or not self.never.holds(facts))
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector of items: by a path or glob, an entity's name, a memory's kind, a tag, or the source of the items."""

    by: SelectorKind
    value: str


@dataclass(frozen=True, slots=True)
class Boost:
    """A factor for the scores of the selected items; a weight below 1 lowers them."""

    selector: Selector
    weight: float


@dataclass(frozen=True, slots=True)
class Actions:
    """The items that a rule always includes, boosts or excludes when its condition holds."""

    always_include: tuple[Selector, ...] = ()
    boost: tuple[Boost, ...] = ()
    exclude: tuple[Selector, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One version of a rule: its condition (`when`) and its actions (`then`)."""

    name: str
    version: int
    scope: Scope
    when: Condition
    then: Actions

    @property
    def label(self) -> str:
        """The name and version by which decisions refer to the rule: security@3."""
        return f"{self.name}@{self.version}"

    def to_dict(self) -> dict[str, Any]:
        """Return a rule that fired as JSON-safe data for a record; its condition is omitted, because it held."""
        return {"name": self.name, "version": self.version, "scope": self.scope, "then": asdict(self.then)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Rule":
        """Return the rule that to_dict described, with a condition that always holds."""
        then = data["then"]
        actions = Actions(
            always_include=tuple(Selector(**selector) for selector in then["always_include"]),
            boost=tuple(Boost(Selector(**boost["selector"]), boost["weight"]) for boost in then["boost"]),
            exclude=tuple(Selector(**selector) for selector in then["exclude"]),
        )
        return cls(data["name"], data["version"], data["scope"], Condition(), actions)


def fired_rules(rules: Iterable[Rule], facts: RuleFacts) -> tuple[Rule, ...]:
    """Return the rules whose condition holds, the narrowest scope first, within a scope by name."""
    return sorted_rules([rule for rule in rules if rule.when.holds(facts)])


def sorted_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules sorted by scope, the narrowest first, and within a scope by name."""
    return tuple(sorted(rules, key=lambda rule: (SCOPES.index(rule.scope), rule.name)))


def _contains_words(text: str, words: str) -> bool:
    """Return whether the text contains the words as whole words, in any case, with any white space between them."""
    pattern = r"\s+".join(re.escape(word) for word in words.casefold().split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", text.casefold()) is not None
