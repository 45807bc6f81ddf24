"""A rule is written as YAML here, both for forms and for archives."""

from collections.abc import Sequence
from typing import Any

import yaml

from assembly.engine.rules import Actions, Condition, Selector, TimeWindow

MAX_WIDTH = 1_000_000
"""The maximum width of a line in characters: a value is never wrapped."""
BLOCK_STYLES = ("|", ">")


def rule_yaml(description: str, when: Condition, then: Actions) -> str:
    """Return the rule as YAML, which is parsed to an equal description, condition and actions."""
    rule: dict[str, Any] = {}
    if description:
        rule["description"] = description
    if condition := _condition(when):
        rule["when"] = condition
    rule["then"] = _actions(then)
    return yaml.dump(rule, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=MAX_WIDTH)


def keep_layout(stored: str, content: str) -> str:
    """Return the stored YAML with the values of `content`; `content` itself if they differ in more than values.

    So the history of a rule shows one changed line for one changed value, however its author had indented the text.
    """
    edits: list[tuple[int, int, str]] = []
    old, new = (yaml.compose(text, Loader=yaml.SafeLoader) for text in (stored, content))
    if old is None or new is None or not _collect_edits(old, new, content, edits):
        return content
    for start, end, value in sorted(edits, reverse=True):
        stored = stored[:start] + value + stored[end:]
    return stored


def _collect_edits(old: yaml.Node, new: yaml.Node, content: str, edits: list[tuple[int, int, str]]) -> bool:
    """Collect the values that differ, with their places in the old text; return False if the structure differs."""
    if isinstance(old, yaml.ScalarNode) and isinstance(new, yaml.ScalarNode):
        if (old.tag, old.value) == (new.tag, new.value):
            return True
        value = content[new.start_mark.index : new.end_mark.index].rstrip()
        edits.append((old.start_mark.index, old.end_mark.index, value))
        return old.style not in BLOCK_STYLES
    if type(old) is not type(new) or len(old.value) != len(new.value):
        return False
    pairs = zip(old.value, new.value, strict=True)
    if isinstance(old, yaml.MappingNode):
        return all(
            was[0].value == now[0].value and _collect_edits(was[1], now[1], content, edits) for was, now in pairs
        )
    return all(_collect_edits(was, now, content, edits) for was, now in pairs)


def has_comments(text: str) -> bool:
    """Return whether the valid YAML has comments, which a form would lose."""
    end = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if "#" in text[end : token.start_mark.index] or _has_header_comment(token, text):
            return True
        end = max(end, token.end_mark.index)
    return "#" in text[end:]


def is_nested(when: Condition) -> bool:
    """Return whether the condition contains nested conditions."""
    return bool(when.all or when.any or when.never)


def _has_header_comment(token: yaml.Token, text: str) -> bool:
    """Return whether the token is a block text whose first line has a comment, like `> # comment`."""
    if not isinstance(token, yaml.ScalarToken) or token.style not in BLOCK_STYLES:
        return False
    return "#" in text[token.start_mark.index :].partition("\n")[0]


class _InlineList(list[str]):
    """A list that is written on one line: [auth, login]."""


class _PlainDumper(yaml.SafeDumper):
    """A YAML dumper that writes every value in full, without anchors, and weights as plain numbers."""

    def ignore_aliases(self, data: object) -> bool:
        """Return True: the text of a rule has no anchors."""
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
