"""The fields of one mapping in a profile's text: each is read within its limits, and a fault names its line."""

import re
from collections.abc import Sequence

import yaml

from assembly.profiles.tree import UnreadableProfile, line_of, shown

WHOLE = re.compile(r"0|[1-9][0-9_]{0,11}")
NUMBER = re.compile(r"(?=[.0-9])(?:0|[1-9][0-9_]{0,11})?(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,3})?")
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
YES, NO = {"true", "yes", "on"}, {"false", "no", "off"}


class Fields:
    """A mapping whose keys are all known. Every method raises UnreadableProfile for what cannot be used."""

    def __init__(self, node: yaml.Node, known: Sequence[str], what: str) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise UnreadableProfile(line_of(node), f"{what} is written as lines of “key: value”.")
        self.line = line_of(node)
        self.what = what
        self.nodes: dict[str, yaml.Node] = {}
        for key, value in node.value:
            self.nodes[self._new_key(key, known)] = value

    def _new_key(self, node: yaml.Node, known: Sequence[str]) -> str:
        key = node.value if isinstance(node, yaml.ScalarNode) else "…"
        if key not in known:
            reason = f"“{shown(key)}” is not known here. {self.what} has: {', '.join(known)}."
            raise UnreadableProfile(line_of(node), reason)
        if key in self.nodes:
            raise UnreadableProfile(line_of(node), f"“{key}” stands here for the second time. Remove one of them.")
        return str(key)

    def line_of(self, key: str) -> int:
        """Where the value stands; where it is left out, where the mapping begins."""
        return line_of(self.nodes[key]) if key in self.nodes else self.line

    def fault(self, key: str, reason: str) -> UnreadableProfile:
        """What is wrong with a field, to be raised."""
        return UnreadableProfile(self.line_of(key), f"“{key}” {reason}")

    def text(self, key: str, most: int, default: str | None = None) -> str:
        """One line of at most that many characters, with something to read in it; needed unless it has a default."""
        if key not in self.nodes and default is not None:
            return default
        value = self._scalar(key, "str")
        if value is None:
            raise self.fault(key, "must be a text. Put it in quotes if it looks like a number, a date or yes or no.")
        if UNSEEN.search(value) or not value.strip() or len(value) > most:
            raise self.fault(key, f"must be one line with something to read in it, of at most {most} characters.")
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of the choices."""
        if key not in self.nodes and default is not None:
            return default
        value = self._scalar(key, "str")
        if value is None or value not in choices:
            raise self.fault(key, f"must be one of: {', '.join(choices)}.")
        return value

    def steps(self, key: str, steps: Sequence[str]) -> tuple[str, ...]:
        """A list of some of the steps, in their order; none where it is left out, null or empty."""
        if self._is_absent(key):
            return ()
        node = self.nodes[key]
        items = node.value if isinstance(node, yaml.SequenceNode) else [None]
        named = [item.value if isinstance(item, yaml.ScalarNode) else None for item in items]
        if named != [step for step in steps if step in named]:
            raise self.fault(key, f"must be a list of these, each once at most, in this order: {', '.join(steps)}.")
        return tuple(step for step in steps if step in named)

    def flag(self, key: str) -> bool:
        """Yes or no; no where it is left out."""
        if key not in self.nodes:
            return False
        value = (self._scalar(key, "bool") or "").lower()
        if value not in YES | NO:
            raise self.fault(key, "must be true or false.")
        return value in YES

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A whole number within the limits; None where it is left out or null."""
        if self._is_absent(key):
            return None
        value = self._scalar(key, "int") or ""
        number = int(value) if WHOLE.fullmatch(value) else -1
        if not least <= number <= most:
            raise self.fault(key, f"must be a whole number from {least:,} to {most:,}.")
        return number

    def number(self, key: str, most: int) -> float | None:
        """A number from 0 to the most; None where it is left out or null."""
        if self._is_absent(key):
            return None
        value = self._scalar(key, "int", "float") or ""
        number = float(value) if NUMBER.fullmatch(value) else -1.0
        if not 0 <= number <= most:
            raise self.fault(key, f"must be a number from 0 to {most:,}.")
        return number

    def nodes_of(self, key: str, most: int) -> list[yaml.Node]:
        """The items of a list that must be there, at least one."""
        node = self._required(key)
        if not isinstance(node, yaml.SequenceNode) or not 1 <= len(node.value) <= most:
            raise self.fault(key, f"must be a list of 1 to {most}, each begun with “- ”.")
        return list(node.value)

    def _is_absent(self, key: str) -> bool:
        return key not in self.nodes or self._scalar(key, "null") is not None

    def _required(self, key: str) -> yaml.Node:
        if key not in self.nodes:
            raise UnreadableProfile(self.line, f"“{key}” is missing. {self.what} needs it.")
        return self.nodes[key]

    def _scalar(self, key: str, *types: str) -> str | None:
        node = self._required(key)
        of_type = isinstance(node, yaml.ScalarNode) and node.tag.rpartition(":")[2] in types
        return str(node.value) if of_type else None
