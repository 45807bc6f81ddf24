"""The parser reads a rule from its YAML, in the form of the seed "Context Assembly", with more conditions."""

import datetime as dt
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

import yaml

from assembly.engine.query_signals import Intent
from assembly.engine.rules import WEEKDAYS, Actions, Boost, Condition, Rule, Scope, Selector, SelectorKind, TimeWindow
from assembly.profiles.yaml_reader import YamlFields, parse_yaml

CONDITION_FIELDS = ("task_contains", "agent", "team", "profile", "intent", "between", "all", "any", "not")
BETWEEN = ("from", "until", "weekdays", "hours")
HOURS = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_WORDS = 100
MAX_WORD_CHARACTERS = 200
MAX_PARTS = 20


def parse_condition(node: yaml.Node, what: str) -> Condition:
    """Return the condition in the node. Raises UnreadableDocument, which names the line."""
    fields = YamlFields(node, CONDITION_FIELDS, what)
    return Condition(
        task_contains=_parse_words(fields, "task_contains"),
        agent=_parse_words(fields, "agent"),
        team=_parse_words(fields, "team"),
        profile=_parse_words(fields, "profile"),
        intent=_parse_choices(fields, "intent", get_args(Intent)),
        between=_parse_window(fields),
        all=_parse_parts(fields, "all"),
        any=_parse_parts(fields, "any"),
        never=parse_condition(fields.nodes["not"], "“not”") if "not" in fields.nodes else None,
    )


def scalar_text(node: yaml.Node) -> str:
    """Return the text of a scalar as it was written; "" for a list, a mapping or nothing."""
    is_value = isinstance(node, yaml.ScalarNode) and not node.tag.endswith(":null")
    return str(node.value).strip() if is_value else ""


def _parse_parts(fields: YamlFields, key: str) -> tuple[Condition, ...]:
    if key not in fields.nodes:
        return ()
    return tuple(parse_condition(node, f"Each of “{key}”") for node in fields.nodes_of(key, MAX_PARTS))


def _parse_words(fields: YamlFields, key: str) -> tuple[str, ...]:
    """Return a list of words, which may be written as a single word."""
    if key not in fields.nodes:
        return ()
    one = scalar_text(fields.nodes[key])
    words = (one,) if one else tuple(scalar_text(node) for node in fields.nodes_of(key, MAX_WORDS))
    if not all(0 < len(word) <= MAX_WORD_CHARACTERS and word.isprintable() for word in words):
        raise fields.fault(key, f"must be words of 1 to {MAX_WORD_CHARACTERS} characters each.")
    return words


def _parse_choices(fields: YamlFields, key: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(word.lower() for word in _parse_words(fields, key))
    if not set(words) <= set(choices):
        raise fields.fault(key, f"must be of: {', '.join(choices)}.")
    return words


def _parse_window(fields: YamlFields) -> TimeWindow | None:
    if "between" not in fields.nodes:
        return None
    window = YamlFields(fields.nodes["between"], BETWEEN, "“between”")
    if not window.nodes:
        raise fields.fault("between", f"needs at least one of: {', '.join(BETWEEN)}.")
    first, last = _parse_date(window, "from"), _parse_date(window, "until")
    if first and last and first > last:
        raise window.fault("until", "must not be before “from”.")
    opens, closes = _parse_hours(window)
    return TimeWindow(first, last, _parse_choices(window, "weekdays", WEEKDAYS), opens, closes)


def _parse_date(fields: YamlFields, key: str) -> dt.date | None:
    if key not in fields.nodes:
        return None
    written = scalar_text(fields.nodes[key])
    try:
        if DATE.fullmatch(written):
            return dt.date.fromisoformat(written)
    except ValueError:
        pass
    raise fields.fault(key, "must be a day of the calendar, as in 2026-12-24.")


def _parse_hours(fields: YamlFields) -> tuple[dt.time | None, dt.time | None]:
    if "hours" not in fields.nodes:
        return None, None
    found = HOURS.fullmatch(scalar_text(fields.nodes["hours"]))
    opens, closes = (
        (dt.time(int(found[1]), int(found[2])), dt.time(int(found[3]), int(found[4]))) if found else (None, None)
    )
    if opens == closes:
        raise fields.fault("hours", "must be two different times of day, as in 09:00-17:30.")
    return opens, closes


RULE_FIELDS = ("description", "when", "then")
ACTIONS = ("always_include", "boost", "exclude")
SELECTORS: tuple[SelectorKind, ...] = get_args(SelectorKind)
LOADABLE = tuple(by for by in SELECTORS if by != "source")
"""The selectors of always_include. Sources are not among them, because profiles select sources."""
MAX_DESCRIPTION_CHARACTERS = 300
MAX_SELECTORS = 50
MAX_VALUE_CHARACTERS = 500
MAX_WEIGHT = 10


@dataclass(frozen=True, slots=True)
class DescribedRule:
    """A rule with its description."""

    rule: Rule
    description: str


def parse_rule(text: str, *, name: str, version: int, scope: Scope, sources: Collection[str]) -> DescribedRule:
    """Return the rule in the text. Raises UnreadableDocument, which is Invalid("content", "Line 3: …")."""
    root = YamlFields(parse_yaml(text), RULE_FIELDS, "A rule")
    description = root.text("description", MAX_DESCRIPTION_CHARACTERS, default="")
    when = parse_condition(root.nodes["when"], "“when”") if "when" in root.nodes else Condition()
    return DescribedRule(Rule(name, version, scope, when, _parse_actions(root, sources)), description)


def _parse_actions(root: YamlFields, sources: Collection[str]) -> Actions:
    if "then" not in root.nodes:
        raise root.fault("then", f"is missing. It says what the rule does: {', '.join(ACTIONS)}.")
    then = YamlFields(root.nodes["then"], ACTIONS, "“then”")
    if not then.nodes:
        raise root.fault("then", f"needs at least one of: {', '.join(ACTIONS)}.")
    return Actions(
        always_include=tuple(_parse_item(node, LOADABLE, sources) for node in _action_nodes(then, "always_include")),
        boost=tuple(_parse_boost(node, sources) for node in _action_nodes(then, "boost")),
        exclude=tuple(_parse_item(node, SELECTORS, sources) for node in _action_nodes(then, "exclude")),
    )


def _action_nodes(then: YamlFields, action: str) -> list[yaml.Node]:
    return then.nodes_of(action, MAX_SELECTORS) if action in then.nodes else []


def _parse_item(node: yaml.Node, known: tuple[SelectorKind, ...], sources: Collection[str]) -> Selector:
    return _parse_selector(YamlFields(node, known, "An item here"), known, sources)


def _parse_boost(node: yaml.Node, sources: Collection[str]) -> Boost:
    fields = YamlFields(node, (*SELECTORS, "weight"), "An item here")
    weight = fields.number("weight", MAX_WEIGHT)
    if weight is None:
        raise fields.fault("weight", f"is missing. It multiplies the score: a number from 0 to {MAX_WEIGHT}.")
    return Boost(_parse_selector(fields, SELECTORS, sources), weight)


def _parse_selector(fields: YamlFields, known: tuple[SelectorKind, ...], sources: Collection[str]) -> Selector:
    given = [by for by in known if by in fields.nodes]
    if len(given) != 1:
        key = given[-1] if given else known[0]
        raise fields.fault(key, f"must be the only key: each item has exactly one of: {', '.join(known)}.")
    by, value = given[0], scalar_text(fields.nodes[given[0]])
    if by == "source" and value not in sources:
        raise fields.fault(by, f"must be one of: {', '.join(sources)}.")
    if not 0 < len(value) <= MAX_VALUE_CHARACTERS or not value.isprintable():
        raise fields.fault(by, f"must be one line of 1 to {MAX_VALUE_CHARACTERS} characters.")
    return Selector(by, value)
