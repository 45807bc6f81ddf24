"""From a rule's text to the rule. The form is the one of the seed "Context Assembly", with more conditions."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

import yaml

from assembly.engine.rules import Actions, Boost, By, Condition, Rule, Scope, Selector
from assembly.profiles.fields import Fields
from assembly.profiles.tree import tree_of
from assembly.rules.conditions import condition_read, scalar

KNOWN = ("description", "when", "then")
ACTIONS = ("always_include", "boost", "exclude")
SELECTORS: tuple[By, ...] = get_args(By)
LOADABLE = tuple(by for by in SELECTORS if by != "source")
"""By what always_include can find things: a source as a whole is what profiles are for."""
MAX_DESCRIPTION_CHARACTERS = 300
MAX_SELECTORS = 50
MAX_VALUE_CHARACTERS = 500
MAX_WEIGHT = 10


@dataclass(frozen=True, slots=True)
class Described:
    """A rule with the words that say what it is for."""

    rule: Rule
    description: str


def rule_read(text: str, *, name: str, version: int, scope: Scope, sources: Collection[str]) -> Described:
    """The rule that the text describes. Raises UnreadableProfile, which is Invalid("content", "Line 3: …")."""
    root = Fields(tree_of(text), KNOWN, "A rule")
    description = root.text("description", MAX_DESCRIPTION_CHARACTERS, default="")
    when = condition_read(root.nodes["when"], "“when”") if "when" in root.nodes else Condition()
    return Described(Rule(name, version, scope, when, _actions(root, sources)), description)


def _actions(root: Fields, sources: Collection[str]) -> Actions:
    if "then" not in root.nodes:
        raise root.fault("then", f"is missing. It says what the rule does: {', '.join(ACTIONS)}.")
    then = Fields(root.nodes["then"], ACTIONS, "“then”")
    if not then.nodes:
        raise root.fault("then", f"needs at least one of: {', '.join(ACTIONS)}.")
    return Actions(
        always_include=tuple(_item(node, LOADABLE, sources) for node in _nodes(then, "always_include")),
        boost=tuple(_boost(node, sources) for node in _nodes(then, "boost")),
        exclude=tuple(_item(node, SELECTORS, sources) for node in _nodes(then, "exclude")),
    )


def _nodes(then: Fields, action: str) -> list[yaml.Node]:
    return then.nodes_of(action, MAX_SELECTORS) if action in then.nodes else []


def _item(node: yaml.Node, known: tuple[By, ...], sources: Collection[str]) -> Selector:
    return _selector(Fields(node, known, "An item here"), known, sources)


def _boost(node: yaml.Node, sources: Collection[str]) -> Boost:
    fields = Fields(node, (*SELECTORS, "weight"), "An item here")
    weight = fields.number("weight", MAX_WEIGHT)
    if weight is None:
        raise fields.fault("weight", f"is missing. It multiplies the score: a number from 0 to {MAX_WEIGHT}.")
    return Boost(_selector(fields, SELECTORS, sources), weight)


def _selector(fields: Fields, known: tuple[By, ...], sources: Collection[str]) -> Selector:
    given = [by for by in known if by in fields.nodes]
    if len(given) != 1:
        key = given[-1] if given else known[0]
        raise fields.fault(key, f"must stand alone: each item has exactly one of: {', '.join(known)}.")
    by, value = given[0], scalar(fields.nodes[given[0]])
    if by == "source" and value not in sources:
        raise fields.fault(by, f"must be one of: {', '.join(sources)}.")
    if not 0 < len(value) <= MAX_VALUE_CHARACTERS or not value.isprintable():
        raise fields.fault(by, f"must be one line of 1 to {MAX_VALUE_CHARACTERS} characters.")
    return Selector(by, value)
