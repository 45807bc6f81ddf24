"""What rules find candidates by: the same labels from every source."""

from collections.abc import Iterable, Mapping
from typing import Any

Labels = dict[str, tuple[str, ...]]


def path_labels(path: str) -> Labels:
    """Of a document, its pieces, or a file, whose path is its key: GOALS."""
    return {"path": (path,)}


def memory_labels(kind: str) -> Labels:
    return {"memory_kind": (kind,)}


def entity_labels(names: Iterable[str], properties: Mapping[str, Any]) -> Labels:
    """By all its names, and by the property `tags`, a text or a list of texts."""
    tags = properties.get("tags", ())
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return {"kg_entity": tuple(names), **tag_labels(tag for tag in listed if isinstance(tag, str))}


def pattern_labels(keywords: Iterable[str]) -> Labels:
    """A pattern's keywords are its tags."""
    return tag_labels(keywords)


def tag_labels(tags: Iterable[str]) -> Labels:
    """No label where there is no tag."""
    found = tuple(tags)
    return {"tag": found} if found else {}
