"""This module exports the files of a team or an agent, and reads and writes their settings: team.json, agent.json.

A settings file holds the values that Markdown cannot hold, and the digests of all exported texts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.models import Agent
from config.http.serializers import StrictSerializer
from memories.archive.digests import ImportState, state_of, text_digest, value_digest
from memories.archive.memory_markdown import format_memory
from memories.archive.sections import ArchiveEntry, ImportChange, ImportUnit
from memories.embeddings.active_model import SLOTS
from memories.imports.base import ImportRefused
from memories.imports.record_folder import validate_record
from memories.imports.workspace import MEMORY_FILE
from memories.services import Owner, memories_of
from teams.models import Team
from teams.origin import Origin
from teams.versioned_text.versioned_file import VersionedFile


@dataclass(frozen=True, slots=True)
class OwnerSettings:
    """The content of a settings file. `mark` is the digest of `values` when exported, `marks` those of the texts.

    `origins` are those of texts that do not come from a person, by their names.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    mark: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    reason: str = ""
    """The reason why the file cannot be used; then its other values are empty."""


def format_settings(values: Mapping[str, Any], marks: Mapping[str, str], origins: Mapping[str, str]) -> str:
    """Return the text of a settings file: JSON with sorted keys, one value per line."""
    said = {**values, "mark": value_digest(values), "marks": marks, **({"origins": origins} if origins else {})}
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def format_settings_lazily(
    values: Mapping[str, Any], marks: Mapping[str, str], origins: Mapping[str, str]
) -> Iterator[str]:
    """Yield the text of a settings file, formatted only when it is read: the digests are complete by then."""
    yield format_settings(values, marks, origins)


def load_settings(unit: ImportUnit, within: str, serializer: type[StrictSerializer]) -> OwnerSettings:
    """Return the settings in the unit's file; empty settings where there is no such file."""
    if within not in unit.files:
        return OwnerSettings()
    try:
        return _parse_settings(unit.contents.text(unit.files[within]), serializer, unit.path(within))
    except ImportRefused as fault:
        return OwnerSettings(reason=fault.detail)


def _parse_settings(text: str, serializer: type[StrictSerializer], name: str) -> OwnerSettings:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise ImportRefused(f"{name} is no JSON. Export it again, or remove the file.") from None
    if not isinstance(said, dict):
        raise ImportRefused(f"{name}: this is no JSON object. Export it again, or remove the file.")
    mark, marks, origins = said.pop("mark", ""), said.pop("marks", {}), said.pop("origins", {})
    values = validate_record(serializer(), said, name)
    own = marks.items() if isinstance(marks, dict) else ()
    texts = {key: value for key, value in own if isinstance(value, str)}
    return OwnerSettings(values, mark if isinstance(mark, str) else "", texts, _parse_origins(origins, name))


def _parse_origins(stored: Any, name: str) -> dict[str, Origin]:
    """Return the origins of texts by their names. Raises ImportRefused for an unknown one."""
    own = stored.items() if isinstance(stored, dict) else ()
    if unknown := [within for within, origin in own if origin not in Origin.values]:
        known = ", ".join(Origin.values)
        raise ImportRefused(f"{name}: the origin of {unknown[0][:80]} is none of {known}. Correct it.")
    return {within: Origin(origin) for within, origin in own}


ROWS_PER_STATEMENT = 500
TITLE = "# Memories\n"
NAMES: Mapping[type[Any], str] = {Agent: "agent", Team: "team"}


def owner_entries(
    owner: Owner, folder: str, texts: Iterable[tuple[str, VersionedFile]], settings: Mapping[str, Any]
) -> Iterator[ArchiveEntry]:
    """Yield the files of one owner: its texts, its memories, and its settings with digests and origins of the texts."""
    marks, origins = dict[str, str](), dict[str, str]()
    for within, text in texts:
        marks[within] = text_digest(text.content)
        if text.origin != Origin.PERSON:
            origins[within] = text.origin
        yield ArchiveEntry(f"{folder}/{within}", [text.content])
    if memories_of(owner).exists():
        yield ArchiveEntry(f"{folder}/{MEMORY_FILE}", _memory_file_chunks(owner))
    yield ArchiveEntry(f"{folder}/{NAMES[type(owner)]}.json", format_settings_lazily(settings, marks, origins))


def _memory_file_chunks(owner: Owner) -> Iterator[str]:
    yield TITLE
    for memory in iterate_in_order(memories_of(owner).defer(*SLOTS, "search"), "id"):
        yield "\n" + format_memory(memory)


def iterate_in_order(rows: Any, key: str) -> Iterator[Any]:
    """Yield the rows in the order of a unique column, loading a batch at a time."""
    batch = list(rows.order_by(key)[:ROWS_PER_STATEMENT])
    while batch:
        yield from batch
        after = {f"{key}__gt": getattr(batch[-1], key)}
        batch = list(rows.filter(**after).order_by(key)[:ROWS_PER_STATEMENT])


def settings_change(
    *,
    unit: ImportUnit,
    within: str,
    settings: OwnerSettings,
    here: Mapping[str, Any] | None,
    version: int,
    wanted: Mapping[str, Any],
) -> Iterator[ImportChange]:
    """Yield the change that an import makes to the settings: from the stored values `here` to `wanted`.

    Yields a refusal where the file cannot be read, and nothing where it is missing.
    """
    name = unit.path(within)
    if settings.reason:
        yield ImportChange(
            name=name, what="settings", state=ImportState.REFUSED, version=version, reason=settings.reason
        )
    if here is None or settings.reason or within not in unit.files:
        return
    state = state_of(exported=settings.mark, incoming=value_digest(wanted), here=value_digest(here))
    yield ImportChange(
        name=name,
        what="settings",
        state=state,
        version=version,
        before=settings_summary(here),
        after=settings_summary(wanted),
        item=wanted,
    )


def settings_summary(values: Mapping[str, Any]) -> str:
    """Return the settings as text for people, one per line."""
    plain = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    return "\n".join(f"{name}: {value}" for name, value in plain.items())
