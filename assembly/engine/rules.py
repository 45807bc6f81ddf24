"""Rules: when something is asked for, some things are always included, some weigh more or less, some stay out.

Source: "The rule engine" of the seed "Context Assembly" (the librarian's), with the conditions that people expect.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Scope = Literal["agent", "team", "everywhere"]
"""Whom a rule is for, the narrowest first."""

SelectorKind = Literal["path", "kg_entity", "memory_kind", "tag", "source"]
"""By what a selector finds its items."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What conditions ask about. `at` is the moment as the clock shows it where the agent works."""

    at: dt.datetime
    task: str = ""
    intent: str = ""
    agent: str = ""
    team: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A time: days from `first` to `last`, both included, on these weekdays, from `opens` until before `closes`.

    Hours that close before they open go on after midnight. What is not given does not limit.
    """

    first: dt.date | None = None
    last: dt.date | None = None
    weekdays: tuple[str, ...] = ()
    opens: dt.time | None = None
    closes: dt.time | None = None

    def holds(self, at: dt.datetime) -> bool:
        """Whether the moment is within, by its own clock."""
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
    """Holds where each of its parts holds that is given; with no part, always."""

    task_contains: tuple[str, ...] = ()
    """Any of these words or phrases, whatever their case, as whole words."""
    agent: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    intent: tuple[str, ...] = ()
    between: TimeWindow | None = None
    all: tuple["Condition", ...] = ()
    any: tuple["Condition", ...] = ()
    never: "Condition | None" = None
    """Must not hold: `not` in a rule's text."""

    def holds(self, facts: RuleFacts) -> bool:
        """Whether it is as the condition says."""
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
    """Names items: by a path or glob, an entity's name, a memory's kind, a tag, or the source that they come from."""

    by: SelectorKind
    value: str


@dataclass(frozen=True, slots=True)
class Boost:
    """Multiplies the score of what it selects; a weight below 1 makes it count less."""

    selector: Selector
    weight: float


@dataclass(frozen=True, slots=True)
class Actions:
    """What a rule does when it fires."""

    always_include: tuple[Selector, ...] = ()
    boost: tuple[Boost, ...] = ()
    exclude: tuple[Selector, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One version of a rule."""

    name: str
    version: int
    scope: Scope
    when: Condition
    then: Actions

    @property
    def label(self) -> str:
        """How decisions name it: security@3."""
        return f"{self.name}@{self.version}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: what it does, for a record of one that fired. Why it fired is decided, so `when` is left out."""
        return {"name": self.name, "version": self.version, "scope": self.scope, "then": asdict(self.then)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Rule":
        """The fired rule that to_dict described: its condition holds."""
        then = data["then"]
        actions = Actions(
            always_include=tuple(Selector(**selector) for selector in then["always_include"]),
            boost=tuple(Boost(Selector(**boost["selector"]), boost["weight"]) for boost in then["boost"]),
            exclude=tuple(Selector(**selector) for selector in then["exclude"]),
        )
        return cls(data["name"], data["version"], data["scope"], Condition(), actions)


def fired_rules(rules: Iterable[Rule], facts: RuleFacts) -> tuple[Rule, ...]:
    """Those whose condition holds, the narrowest scope first, within a scope by name."""
    return sorted_rules([rule for rule in rules if rule.when.holds(facts)])


def sorted_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The narrowest scope first, within a scope by name."""
    return tuple(sorted(rules, key=lambda rule: (SCOPES.index(rule.scope), rule.name)))


def _contains_words(text: str, words: str) -> bool:
    """Whether the words stand in the text as whole words, with any white space between them."""
    pattern = r"\s+".join(re.escape(word) for word in words.casefold().split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", text.casefold()) is not None
