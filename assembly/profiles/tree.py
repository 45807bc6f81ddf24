"""YAML as a tree of nodes that know their line: plain data alone, as profiles and rules are written."""

from typing import Any, cast

import yaml

from config.http.errors import Invalid

MAX_CHARACTERS = 100_000
MAX_DEPTH = 16
MAX_SHOWN = 60  # characters of somebody's text that a message repeats


class UnreadableProfile(Invalid):
    """The text of a profile or a rule cannot be used. `line` counts from 1; `reason` says what to change there."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__("content", f"Line {line}: {reason}")
        self.line = line
        self.reason = reason


def tree_of(text: str) -> yaml.Node:
    """The root of the text's one document. Raises UnreadableProfile for what is no YAML, or more than plain data."""
    if len(text) > MAX_CHARACTERS:
        raise UnreadableProfile(1, f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} fit.")
    try:
        root = _composed(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableProfile(line, "Here is a character that no text can hold. Type the line anew.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = shown(error.problem or error.context or "it cannot be read")
        raise UnreadableProfile(
            mark.line + 1 if mark else 1, f"This is no YAML: {problem}. Check spaces, colons and quotes."
        ) from None
    except (ValueError, OverflowError):  # from what an escape or a directive means: no such character, no such number
        raise UnreadableProfile(1, "The text has an escape or a number that means nothing. Write it out.") from None
    if root is None:
        raise UnreadableProfile(1, "The text is empty. Begin with the text of another one.")
    return root


def line_of(node: yaml.Node) -> int:
    """The line on which a node begins, from 1."""
    return int(node.start_mark.line) + 1


def line_numbered(text: str, line: int) -> str:
    """A line of the text as a page may show it, "" where there is none."""
    lines = text.splitlines()
    return shown(lines[line - 1].strip()) if line <= len(lines) else ""


def shown(text: str) -> str:
    """Somebody's text as a message may repeat it: short, and nothing in it but what can be seen."""
    seen = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return seen if len(seen) <= MAX_SHOWN else f"{seen[:MAX_SHOWN]}…"


def _composed(text: str) -> yaml.Node | None:
    loader = _PlainLoader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


class _PlainLoader(yaml.SafeLoader):
    """Refuses what no such text needs, and what makes small texts large: anchors, aliases, tags, deep nesting."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = cast("Any", self).peek_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise UnreadableProfile(line, "Anchors (&) and aliases (*) cannot be used. Write the values out.")
        if event.tag is not None:
            raise UnreadableProfile(line, "Tags (!) cannot be used. Leave the tag out.")
        if self.depth >= MAX_DEPTH:
            raise UnreadableProfile(line, f"This is nested more than {MAX_DEPTH} deep. Write it with fewer levels.")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node
