"""This module exports the files of a team or an agent, and reads and writes their settings: team.json, agent.json.

A settings file holds the values that Markdown cannot hold, and the digests of all exported texts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from agents.models import Agent
from config.http.errors import Forbidden
from config.http.serializers import StrictSerializer
from memories.archive.digests import ImportState, state_of, text_digest, value_digest
from memories.archive.memory_markdown import format_memory
from memories.archive.sections import ArchiveEntry, ImportChange, ImportContext, ImportUnit
from memories.embeddings.active_model import SLOTS
from memories.imports.base import ImportRefused, parse_levels
from memories.imports.record_folder import validate_record
from memories.imports.workspace import MEMORY_FILE
from memories.services import Owner, memories_of
from teams.level_changes import record_level, require_level
from teams.models import Team
from teams.origin import Origin
from teams.principal import Author
from teams.sensitivity import DEFAULT_LEVEL, Sensitive, Sensitivity
from teams.versioned_text.versioned_file import FileType, VersionedFile, file_save


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
        """Return the origin and the sensitivity of a text by its name; an export names what is not internal."""
        exported = DEFAULT_LEVEL if within in self.marks else None
        return TextFacts(self.origins.get(within, Origin.PERSON), self.levels.get(within, exported))


@dataclass(frozen=True, slots=True)
class TextFacts:
    """These facts of an exported text are its origin and its sensitivity; None if the archive says nothing about it.

    In the plan of an import, None leaves the sensitivity as it is.
    """

    origin: Origin = Origin.PERSON
    sensitivity: int | None = None

    def planned(
        self, change: ImportChange, here: Any, *, is_untouched: bool = False
    ) -> "tuple[ImportChange, TextFacts]":
        """Return the change, which says what becomes of the sensitivity, and the facts to be stored.

        A text that is new here gets the sensitivity that the archive says, also one that nobody has written into yet
        (`is_untouched`). That of all others is raised, also if the text is the same, and never lowered.
        """
        said, left = self.sensitivity, replace(self, sensitivity=None)
        if said is None or change.state is ImportState.REFUSED:
            return change, left
        if here is None:  # an empty file of a new owner is there once the owner is
            is_empty = change.state is ImportState.SAME and said != DEFAULT_LEVEL
            return replace(change, state=ImportState.NEW) if is_empty else change, self
        level = min(here.sensitivity, Sensitivity.RESTRICTED)  # as it would be exported
        if said == level:
            return change, left
        if said < level and not (is_untouched and level == DEFAULT_LEVEL):
            return with_kept_level(change, said, here.sensitivity), left
        state = ImportState.CHANGED if change.state is ImportState.SAME else change.state
        becomes = f"It is {Sensitivity(level).word} here, and becomes {Sensitivity(said).word}."
        return replace(change, state=state, reason=f"{change.reason} {becomes}".strip()), self


NO_FACTS = TextFacts()


def with_kept_level(change: ImportChange, said: int, level: int) -> ImportChange:
    """Return the change of a text whose sensitivity in the archive (`said`) is lower than the one here.

    If nothing else differs, the text is listed as not possible. An export does not name internal texts, so for these
    it is not: perhaps they were raised here.
    """
    stays = (
        f"It stays {Sensitivity(level).word}, although it is {Sensitivity(said).word} in the archive: an import never "
        "makes a text less sensitive."
    )
    if change.state is not ImportState.SAME:
        return replace(change, reason=f"{change.reason} {stays}".strip())
    if said == DEFAULT_LEVEL:
        return change
    name, what, version = change.name, change.what, change.version
    return ImportChange(name=name, what=what, state=ImportState.REFUSED, version=version, reason=stays)


def text_save(
    *, file: FileType, change: ImportChange, facts: TextFacts, author: Author, context: ImportContext
) -> FileType:
    """Save a changed text as the next version of a file, with its sensitivity. Raises DossierError."""
    require_level(context.principal, file, facts.sensitivity)
    saved = file_save(
        file=file,
        content=change.after,
        expected_version=change.version or file.version,
        author=author,
        note=context.note,
        sensitivity=facts.sensitivity,
    )
    if facts.sensitivity is not None and isinstance(file, Sensitive):
        record_level(context.principal, saved, file.sensitivity)
    return saved


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
    levels = parse_levels(said.pop("sensitivity", {}), name)
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
