"""team.json and agent.json: what Markdown cannot say of their owners, and the marks of what was exported with it.

What the folders of agents and teams have in common: texts, memories, and a file of settings.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.models import Agent
from config.http.serializers import StrictSerializer
from memories.archive.digests import State, mark_of, mark_of_facts, state_of
from memories.archive.memory_markdown import memory_written
from memories.archive.sections import Change, Entry, Unit
from memories.embeddings.active_model import SLOTS
from memories.imports.base import ImportRefused
from memories.imports.record_folder import checked
from memories.imports.workspace import MEMORY_FILE
from memories.services import Owner, memories_of
from teams.models import Team


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


ROWS_PER_STATEMENT = 500
TITLE = "# Memories\n"
NAMES: Mapping[type[Any], str] = {Agent: "agent", Team: "team"}


def owner_entries(
    owner: Owner, folder: str, texts: Iterable[tuple[str, str]], settings: Mapping[str, Any]
) -> Iterator[Entry]:
    """The files of one owner: its texts, then its memories, then its settings with the marks of all texts."""
    marks = dict[str, str]()
    for within, content in texts:
        marks[within] = mark_of(content)
        yield Entry(f"{folder}/{within}", [content])
    if memories_of(owner).exists():
        yield Entry(f"{folder}/{MEMORY_FILE}", _memory_pieces(owner))
    yield Entry(f"{folder}/{NAMES[type(owner)]}.json", settings_later(settings, marks))


def _memory_pieces(owner: Owner) -> Iterator[str]:
    yield TITLE
    for memory in in_order(memories_of(owner).defer(*SLOTS, "search"), "id"):
        yield "\n" + memory_written(memory)


def in_order(rows: Any, key: str) -> Iterator[Any]:
    """The rows by a column that is unique among them, some at a time, however many there are."""
    batch = list(rows.order_by(key)[:ROWS_PER_STATEMENT])
    while batch:
        yield from batch
        after = {f"{key}__gt": getattr(batch[-1], key)}
        batch = list(rows.filter(**after).order_by(key)[:ROWS_PER_STATEMENT])


def settings_change(
    *,
    unit: Unit,
    within: str,
    settings: Settings,
    here: Mapping[str, Any] | None,
    version: int,
    wanted: Mapping[str, Any],
) -> Iterator[Change]:
    """What importing the settings would do: `wanted` instead of what is `here`."""
    name = unit.path(within)
    if settings.reason:
        yield Change(name=name, what="settings", state=State.REFUSED, version=version, reason=settings.reason)
    if here is None or settings.reason or within not in unit.files:
        return
    state = state_of(exported=settings.mark, incoming=mark_of_facts(wanted), here=mark_of_facts(here))
    yield Change(
        name=name, what="settings", state=state, version=version, before=said(here), after=said(wanted), item=wanted
    )


def said(values: Mapping[str, Any]) -> str:
    """Settings as people read them, one per line."""
    plain = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    return "\n".join(f"{name}: {value}" for name, value in plain.items())
