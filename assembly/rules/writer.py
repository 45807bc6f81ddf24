"""From a rule to its text: what a form produces is the same YAML that others type."""

from collections.abc import Sequence
from typing import Any

import yaml

from assembly.engine.rules import Actions, Condition, Selector, TimeWindow

MAX_WIDTH = 1_000_000
"""Characters of a line: one value stands on one line, however long."""
BLOCK_STYLES = ("|", ">")


def rule_yaml(description: str, when: Condition, then: Actions) -> str:
    """The rule as YAML, which `rule_read` reads back to an equal description, condition and actions."""
    rule: dict[str, Any] = {}
    if description:
        rule["description"] = description
    if condition := _condition(when):
        rule["when"] = condition
    rule["then"] = _actions(then)
    return yaml.dump(rule, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=MAX_WIDTH)


def has_comments(text: str) -> bool:
    """Whether the text, which is readable YAML, says something beside its values, which a form would not keep."""
    end = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if "#" in text[end : token.start_mark.index] or _has_header_comment(token, text):
            return True
        end = max(end, token.end_mark.index)
    return "#" in text[end:]


def is_nested(when: Condition) -> bool:
    """Whether there are conditions within the condition."""
    return bool(when.all or when.any or when.never)


def _has_header_comment(token: yaml.Token, text: str) -> bool:
    """Of a text of several lines, which begins with a line like `> # comment`."""
    if not isinstance(token, yaml.ScalarToken) or token.style not in BLOCK_STYLES:
        return False
    return "#" in text[token.start_mark.index :].partition("\n")[0]


class _InlineList(list[str]):
    """A list that stands on one line: [auth, login]."""


class _PlainDumper(yaml.SafeDumper):
    """Writes every value out where it stands, and weights as plain numbers."""

    def ignore_aliases(self, data: object) -> bool:
        """Anchors are no part of a rule's text."""
        return True


def _represent_inline_list(dumper: yaml.SafeDumper, words: _InlineList) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", words, flow_style=True)


def _represent_number(dumper: yaml.SafeDumper, number: float) -> yaml.Node:
    if number.is_integer():
        return dumper.represent_int(int(number))
    return dumper.represent_float(number)


_PlainDumper.add_representer(_InlineList, _represent_inline_list)
_PlainDumper.add_representer(float, _represent_number)


def _condition(when: Condition) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key in ("task_contains", "agent", "team", "profile", "intent"):
        if words := getattr(when, key):
            written[key] = _InlineList(words)
    if when.between:
        written["between"] = _window(when.between)
    for key, parts in (("all", when.all), ("any", when.any)):
        if parts:
            written[key] = [_condition(part) for part in parts]
    if when.never:
        written["not"] = _condition(when.never)
    return written


def _window(window: TimeWindow) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if window.first:
        written["from"] = window.first.isoformat()
    if window.last:
        written["until"] = window.last.isoformat()
    if window.weekdays:
        written["weekdays"] = _InlineList(window.weekdays)
    if window.opens is not None and window.closes is not None:
        written["hours"] = f"{window.opens:%H:%M}-{window.closes:%H:%M}"
    return written


def _actions(then: Actions) -> dict[str, Any]:
    written = {
        "always_include": _items(then.always_include),
        "boost": [{boost.selector.by: boost.selector.value, "weight": float(boost.weight)} for boost in then.boost],
        "exclude": _items(then.exclude),
    }
    return {action: items for action, items in written.items() if items}


def _items(selectors: Sequence[Selector]) -> list[dict[str, str]]:
    return [{selector.by: selector.value} for selector in selectors]
