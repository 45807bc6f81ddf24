"""This module exports the files of a team or an agent, and reads and writes their settings: team.json, agent.json.

A settings file holds the values that Markdown cannot hold, and the digests of all exported texts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agents.models import Agent
from config.http.errors import Forbidden
from config.http.serializers import StrictSerializer
from memories.archive.digests import ImportState, state_of, text_digest, value_digest
from memories.archive.memory_markdown import format_memory
from memories.archive.sections import ArchiveEntry, ImportChange, ImportUnit
from memories.embeddings.active_model import SLOTS
from memories.imports.base import ImportRefused
from memories.imports.record_folder import validate_record
from memories.imports.workspace import MEMORY_FILE
from memories.services import Owner, memories_of
from teams.level_changes import require_level
from teams.models import Team
from teams.origin import Origin
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_WORDS, Sensitive
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
    levels: Mapping[str, int] = field(default_factory=dict)
    """The sensitivities of texts that are not internal, by their names."""
    reason: str = ""
    """The reason why the file cannot be used; then its other values are empty."""

    def facts_of(self, within: str) -> "TextFacts":
        """Return the origin and the sensitivity of a text by its name."""
        return TextFacts(self.origins.get(within, Origin.PERSON), self.levels.get(within))


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Where an exported text comes from, and its sensitivity; None for an internal one, or if the archive has none."""

    origin: Origin = Origin.PERSON
    sensitivity: int | None = None

    def level_for(self, file: VersionedFile, principal: Principal) -> int | None:
        """Return the level that an import gives the file: an import raises, and never lowers. Raises Forbidden."""
        if self.sensitivity is None or not isinstance(file, Sensitive) or self.sensitivity <= file.sensitivity:
            return None
        require_level(principal, file, self.sensitivity)
        return self.sensitivity


NO_FACTS = TextFacts()


def readable(files: Any) -> Any:
    """Return the only file of these that the importer may read. Raises Forbidden."""
    file = files.first()
    if file is None:
        raise Forbidden("It is above your clearance. Nothing was changed.")
    return file


def format_settings(
    values: Mapping[str, Any],
    marks: Mapping[str, str],
    origins: Mapping[str, str],
    levels: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the text of a settings file: JSON with sorted keys, one value per line."""
    said = {**values, "mark": value_digest(values), "marks": marks, **({"origins": origins} if origins else {})}
    said |= {"sensitivity": levels} if levels else {}
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def format_settings_lazily(
    values: Mapping[str, Any], marks: Mapping[str, str], origins: Mapping[str, str], levels: Mapping[str, str]
) -> Iterator[str]:
    """Yield the text of a settings file, formatted only when it is read: the digests are complete by then."""
    yield format_settings(values, marks, origins, levels)


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
    levels = _parse_levels(said.pop("sensitivity", {}), name)
    values = validate_record(serializer(), said, name)
    own = marks.items() if isinstance(marks, dict) else ()
    texts = {key: value for key, value in own if isinstance(value, str)}
    return OwnerSettings(values, mark if isinstance(mark, str) else "", texts, _parse_origins(origins, name), levels)


def _parse_origins(stored: Any, name: str) -> dict[str, Origin]:
    """Return the origins of texts by their names. Raises ImportRefused for an unknown one."""
    own = stored.items() if isinstance(stored, dict) else ()
    if unknown := [within for within, origin in own if origin not in Origin.values]:
        known = ", ".join(Origin.values)
        raise ImportRefused(f"{name}: the origin of {unknown[0][:80]} is none of {known}. Correct it.")
    return {within: Origin(origin) for within, origin in own}


def _parse_levels(stored: Any, name: str) -> dict[str, int]:
    """Return the sensitivities of texts by their names. Raises ImportRefused for an unknown one."""
    own = stored.items() if isinstance(stored, dict) else ()
    if unknown := [within for within, word in own if not isinstance(word, str) or word not in LEVEL_WORDS]:
        known = ", ".join(LEVEL_WORDS)
        raise ImportRefused(f"{name}: the sensitivity of {unknown[0][:80]} is none of {known}. Correct it.")
    return {within: LEVEL_WORDS[word] for within, word in own}


ROWS_PER_STATEMENT = 500
TITLE = "# Memories\n"
NAMES: Mapping[type[Any], str] = {Agent: "agent", Team: "team"}


def owner_entries(
    owner: Owner, folder: str, texts: Iterable[tuple[str, VersionedFile]], settings: Mapping[str, Any]
) -> Iterator[ArchiveEntry]:
    """Yield the files of one owner: its texts, its memories, and its settings with digests and origins of the texts."""
    marks, origins, levels = dict[str, str](), dict[str, str](), dict[str, str]()
    for within, text in texts:
        marks[within] = text_digest(text.content)
        if text.origin != Origin.PERSON:
            origins[within] = text.origin
        if isinstance(text, Sensitive) and text.sensitivity != DEFAULT_LEVEL:
            levels[within] = text.level.export_word
        yield ArchiveEntry(f"{folder}/{within}", [text.content])
    if memories_of(owner).exists():
        yield ArchiveEntry(f"{folder}/{MEMORY_FILE}", _memory_file_chunks(owner))
    yield ArchiveEntry(f"{folder}/{NAMES[type(owner)]}.json", format_settings_lazily(settings, marks, origins, levels))


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
