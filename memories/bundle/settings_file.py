"""team.json and agent.json: what Markdown cannot say of their owners, and the marks of what was exported with it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from config.http.api import StrictSerializer
from memories.bundle.marks import mark_of_facts
from memories.bundle.rooms import Unit
from memories.importing import ImportRefused
from memories.records.reading import checked


@dataclass(frozen=True, slots=True)
class Settings:
    """What the file says. `mark` is the one of `values` as exported, `marks` are those of texts by their names."""

    values: Mapping[str, Any] = field(default_factory=dict)
    mark: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    """Why it cannot be used; then nothing of it counts."""


def settings_written(values: Mapping[str, Any], marks: Mapping[str, str]) -> str:
    """The file's text: JSON with its keys in order, one value per line."""
    said = {**values, "mark": mark_of_facts(values), "marks": marks}
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def settings_later(values: Mapping[str, Any], marks: Mapping[str, str]) -> Iterator[str]:
    """The same, made when it is asked for: once all marks are there."""
    yield settings_written(values, marks)


def settings_read(unit: Unit, within: str, serializer: type[StrictSerializer]) -> Settings:
    """What the unit's file says; nothing where there is none."""
    if within not in unit.files:
        return Settings()
    try:
        return _read(unit.contents.text(unit.files[within]), serializer, unit.path(within))
    except ImportRefused as fault:
        return Settings(reason=fault.detail)


def _read(text: str, serializer: type[StrictSerializer], name: str) -> Settings:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise ImportRefused(f"{name} is no JSON. Export it again, or remove the file.") from None
    if not isinstance(said, dict):
        raise ImportRefused(f"{name}: this is no JSON object. Export it again, or remove the file.")
    mark, marks = said.pop("mark", ""), said.pop("marks", {})
    values = checked(serializer(), said, name)
    own = marks.items() if isinstance(marks, dict) else ()
    texts = {key: value for key, value in own if isinstance(value, str)}
    return Settings(values, mark if isinstance(mark, str) else "", texts)
