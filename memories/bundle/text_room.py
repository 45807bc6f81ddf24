"""What rooms of texts by their names have in common: one file for each, and one with what else there is to say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memories.bundle.marks import mark_of
from memories.bundle.rooms import Entry, Unit
from memories.importing import ImportRefused

ENDING = ".yaml"
NOT_AN_ADMIN = "Only an admin of the organisation may change this. Ask one to import it."


def entries_of_texts(
    folder: str, texts: Iterable[tuple[str, str]], said: Mapping[str, Any] | None = None
) -> Iterator[Entry]:
    """The texts, each under its name, then a file with their marks and what else is `said`; nothing without texts."""
    marks = dict[str, str]()
    for name, content in texts:
        marks[f"{name}{ENDING}"] = mark_of(content)
        yield Entry(f"{folder}/{name}{ENDING}", [content])
    if marks:
        whole = json.dumps({"marks": marks, **(said or {})}, indent=2, sort_keys=True, ensure_ascii=False)
        yield Entry(f"{folder}/{folder}.json", [whole + "\n"])


def names_in(unit: Unit) -> list[str]:
    """The texts in the unit, in order."""
    return sorted(within for within in unit.files if within.endswith(ENDING))


def said_of(unit: Unit) -> Mapping[str, Any]:
    """What the file beside the texts says; nothing where it is missing, or nobody can read it."""
    within = f"{unit.name}.json"
    if within not in unit.files:
        return {}
    try:
        said = json.loads(unit.contents.text(unit.files[within]))
    except (ImportRefused, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def marks_read(unit: Unit) -> Mapping[str, str]:
    """The marks of the texts as they were exported, by their names in the room."""
    marks = said_of(unit).get("marks")
    own = marks.items() if isinstance(marks, dict) else ()
    return {within: mark for within, mark in own if isinstance(mark, str)}
