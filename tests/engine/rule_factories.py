"""Rules by their parts, for tests of what they do."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from assembly.engine.rules import Actions, Boost, Condition, Rule, RuleFacts, Scope, Selector

FRIDAY = dt.datetime(2026, 11, 20, 16, 30, tzinfo=ZoneInfo("Europe/Berlin"))


def facts(**given: Any) -> RuleFacts:
    return RuleFacts(**{"at": FRIDAY, **given})


def rule(name: str = "r", scope: Scope = "everywhere", when: Condition | None = None, **then: Any) -> Rule:
    return Rule(name, 1, scope, when or Condition(), Actions(**then))


def selector(by: Any, value: str) -> tuple[Selector, ...]:
    return (Selector(by, value),)


def boost(by: Any, value: str, weight: float) -> tuple[Boost, ...]:
    return (Boost(Selector(by, value), weight),)
