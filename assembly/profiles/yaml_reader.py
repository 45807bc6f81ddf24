"""The YAML reader: nodes that know their line, and fields of a mapping that are checked within limits."""

import re
from collections.abc import Sequence
from typing import Any, cast

import yaml

from config.http.errors import Invalid

MAX_CHARACTERS = 100_000
MAX_DEPTH = 16
MAX_DISPLAY_CHARACTERS = 60  # characters of somebody's text that a message repeats


class UnreadableDocument(Invalid):
    """The text of a profile or a rule is invalid. `line` counts from 1; `reason` says what to change there."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__("content", f"Line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse_yaml(text: str) -> yaml.Node:
    """Return the root of the text's only YAML document.

    Raises UnreadableDocument for invalid YAML, and for more than plain data.
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableDocument(1, f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} fit.")
    try:
        root = _compose(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableDocument(line, "The line contains an invalid character. Type the line again.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = display_text(error.problem or error.context or "it cannot be read")
        raise UnreadableDocument(
            mark.line + 1 if mark else 1, f"This is no YAML: {problem}. Check spaces, colons and quotes."
        ) from None
    except (ValueError, OverflowError):  # from what an escape or a directive means: no such character, no such number
        raise UnreadableDocument(1, "The text has an escape or a number that means nothing. Write it out.") from None
    if root is None:
        raise UnreadableDocument(1, "The text is empty. Begin with the text of another one.")
    return root


def line_of(node: yaml.Node) -> int:
    """Return the line on which a node begins, from 1."""
    return int(node.start_mark.line) + 1


def line_at(text: str, line: int) -> str:
    """Return a line of the text for a page, "" if there is none."""
    lines = text.splitlines()
    return display_text(lines[line - 1].strip()) if line <= len(lines) else ""


def display_text(text: str) -> str:
    """Return a user's text for an error message: shortened, with invisible characters made visible."""
    seen = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return seen if len(seen) <= MAX_DISPLAY_CHARACTERS else f"{seen[:MAX_DISPLAY_CHARACTERS]}…"


def _compose(text: str) -> yaml.Node | None:
    loader = _PlainLoader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


class _PlainLoader(yaml.SafeLoader):
    """A YAML loader that refuses anchors, aliases, tags and deep nesting, which no such text needs and which make small
    texts large.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = cast("Any", self).peek_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise UnreadableDocument(line, "Anchors (&) and aliases (*) cannot be used. Write the values out.")
        if event.tag is not None:
            raise UnreadableDocument(line, "Tags (!) cannot be used. Leave the tag out.")
        if self.depth >= MAX_DEPTH:
            raise UnreadableDocument(line, f"This is nested more than {MAX_DEPTH} deep. Write it with fewer levels.")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


WHOLE_NUMBER = re.compile(r"0|[1-9][0-9_]{0,11}")
NUMBER = re.compile(r"(?=[.0-9])(?:0|[1-9][0-9_]{0,11})?(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,3})?")
INVISIBLE_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
YES, NO = {"true", "yes", "on"}, {"false", "no", "off"}


class YamlFields:
    """A mapping with known keys. Every method raises UnreadableDocument for invalid values."""

    def __init__(self, node: yaml.Node, known: Sequence[str], what: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise UnreadableDocument(line_of(node), f"{what} is written as lines of “key: value”.")
        self.line = line_of(node)
        self.what = what
        self.nodes: dict[str, yaml.Node] = {}
        for key, value in node.value:
            self.nodes[self._new_key(key, known)] = value

    def _new_key(self, node: yaml.Node, known: Sequence[str]) -> str:
        key = node.value if isinstance(node, yaml.ScalarNode) else "…"
        if key not in known:
            reason = f"“{display_text(key)}” is not known here. {self.what} has: {', '.join(known)}."
            raise UnreadableDocument(line_of(node), reason)
        if key in self.nodes:
            raise UnreadableDocument(line_of(node), f"“{key}” is used twice. Remove one of them.")
        return str(key)

    def line_of(self, key: str) -> int:
        """Return the line of the value; if it is missing, the line of the mapping."""
        return line_of(self.nodes[key]) if key in self.nodes else self.line

    def fault(self, key: str, reason: str) -> UnreadableDocument:
        """Return the error of a field, to be raised."""
        return UnreadableDocument(self.line_of(key), f"“{key}” {reason}")

    def text(self, key: str, most: int, default: str | None = None) -> str:
        """Return a line of at most `most` characters that is not only white space; required unless it has a default."""
        if key not in self.nodes and default is not None:
            return default
        value = self._scalar(key, "str")
        if value is None:
            raise self.fault(key, "must be a text. Put it in quotes if it looks like a number, a date or yes or no.")
        if INVISIBLE_CHARACTERS.search(value) or not value.strip() or len(value) > most:
            raise self.fault(key, f"must be one line with something to read in it, of at most {most} characters.")
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """Return one of the choices."""
        if key not in self.nodes and default is not None:
            return default
        value = self._scalar(key, "str")
        if value is None or value not in choices:
            raise self.fault(key, f"must be one of: {', '.join(choices)}.")
        return value

    def word(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of the choices; off and on are words here, though YAML takes them for truth values."""
        node = self.nodes.get(key)
        is_bare = isinstance(node, yaml.ScalarNode) and node.tag.endswith(":bool") and node.value in choices
        return str(node.value) if node is not None and is_bare else self.choice(key, choices, default)

    def optional_choice(self, key: str, choices: Sequence[str]) -> str | None:
        """Return one of the choices; None if it is missing or null."""
        return None if self._is_absent(key) else self.choice(key, choices)

    def steps(self, key: str, steps: Sequence[str]) -> tuple[str, ...]:
        """Return a list of some of the steps, in their order; an empty one if it is missing, null or empty."""
        if self._is_absent(key):
            return ()
        node = self.nodes[key]
        items = node.value if isinstance(node, yaml.SequenceNode) else [None]
        named = [item.value if isinstance(item, yaml.ScalarNode) else None for item in items]
        if named != [step for step in steps if step in named]:
            raise self.fault(key, f"must be a list of these, each once at most, in this order: {', '.join(steps)}.")
        return tuple(step for step in steps if step in named)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return yes or no; the default if it is missing."""
        if key not in self.nodes:
            return default
        value = (self._scalar(key, "bool") or "").lower()
        if value not in YES | NO:
            raise self.fault(key, "must be true or false.")
        return value in YES

    def whole(self, key: str, least: int, most: int) -> int | None:
        """Return a whole number within the limits; None if it is missing or null."""
        if self._is_absent(key):
            return None
        value = self._scalar(key, "int") or ""
        number = int(value) if WHOLE_NUMBER.fullmatch(value) else -1
        if not least <= number <= most:
            raise self.fault(key, f"must be a whole number from {least:,} to {most:,}.")
        return number

    def number(self, key: str, most: int) -> float | None:
        """Return a number from 0 to `most`; None if it is missing or null."""
        if self._is_absent(key):
            return None
        value = self._scalar(key, "int", "float") or ""
        number = float(value) if NUMBER.fullmatch(value) else -1.0
        if not 0 <= number <= most:
            raise self.fault(key, f"must be a number from 0 to {most:,}.")
        return number

    def nodes_of(self, key: str, most: int) -> list[yaml.Node]:
        """Return the items of a required list with at least one item."""
        node = self._required(key)
        if not isinstance(node, yaml.SequenceNode) or not 1 <= len(node.value) <= most:
            raise self.fault(key, f"must be a list of 1 to {most}, each begun with “- ”.")
        return list(node.value)

    def _is_absent(self, key: str) -> bool:
        return key not in self.nodes or self._scalar(key, "null") is not None

    def _required(self, key: str) -> yaml.Node:
        if key not in self.nodes:
            raise UnreadableDocument(self.line, f"“{key}” is missing. {self.what} needs it.")
        return self.nodes[key]

    def _scalar(self, key: str, *types: str) -> str | None:
        node = self._required(key)
        of_type = isinstance(node, yaml.ScalarNode) and node.tag.rpartition(":")[2] in types
        return str(node.value) if of_type else None
