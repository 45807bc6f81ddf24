"""This module changes one number in the YAML of a profile, as the draft that a remedy proposes; all else stays."""

from collections.abc import Mapping

import yaml

PROFILE_KEYS: Mapping[str, str] = {"threshold": "similarity_threshold"}
SECTION_KEYS: Mapping[str, str] = {"cap": "cap", "top_k": "top_k"}
"""The YAML keys of the numbers that can be changed, by the kind of the change: of the profile, and of a section."""
MAX_DIGITS = 12


def draft_with_change(content: str, *, kind: str, section: str, value: str) -> str | None:
    """Return the profile's YAML with one number changed; None if the kind, section or value is none of the profile's.

    `kind` is cap, top_k (of the section with this key) or threshold.
    """
    root = yaml.compose(content, Loader=yaml.SafeLoader)
    number = _number(value)
    if number is None or not isinstance(root, yaml.MappingNode):
        return None
    if kind in PROFILE_KEYS:
        return _with_value(content, root, PROFILE_KEYS[kind], number)
    node = _section(root, section)
    return _with_value(content, node, SECTION_KEYS[kind], number) if node and kind in SECTION_KEYS else None


def _number(text: str) -> str | None:
    """Return the text of a number that is not negative, without a point if it is whole; None for other texts."""
    try:
        number = float(text) if len(text) <= MAX_DIGITS and text.isascii() else -1.0
    except ValueError:
        return None
    if not 0 <= number < float(10**MAX_DIGITS):  # NaN is not, either
        return None
    return f"{number:g}" if number < 1 else str(int(number))


def _section(root: yaml.MappingNode, key: str) -> yaml.MappingNode | None:
    sections = _value(root, "sections")
    found = sections.value if isinstance(sections, yaml.SequenceNode) else []
    for node in found:
        if isinstance(node, yaml.MappingNode) and (named := _value(node, "key")) and named.value == key:
            return node
    return None


def _value(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    return next((value for name, value in node.value if name.value == key), None)


def _with_value(content: str, node: yaml.MappingNode, key: str, value: str) -> str:
    """Return the text with the key's value; a new key comes last in its mapping, in the mapping's style."""
    for name, old in node.value:
        if key == "cap" and name.value == "share":  # a section has one or the other
            return f"{content[: name.start_mark.index]}{key}: {value}{content[old.end_mark.index :]}"
    if (old := _value(node, key)) is not None:
        return content[: old.start_mark.index] + value + content[old.end_mark.index :]
    last = node.value[-1][1]
    if node.flow_style:
        at = last.end_mark.index
        return f"{content[:at]}, {key}: {value}{content[at:]}"
    first_key = node.value[0][0].start_mark
    end = content.find("\n", first_key.index)
    end = len(content) if end < 0 else end
    return f"{content[:end]}\n{' ' * first_key.column}{key}: {value}{content[end:]}"
