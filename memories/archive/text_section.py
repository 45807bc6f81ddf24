"""This module compares versioned texts of an archive with the stored ones, and exports sections of named texts.

Such a section, like rules/, has a file for each text and a JSON file with their digests and other values.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from django.db import IntegrityError, transaction

from config.http.cpu_budget import TooCostly, TookTooLong
from config.http.errors import DossierError
from memories.archive.digests import ImportState, state_of, text_digest
from memories.archive.sections import ArchiveEntry, ImportChange, ImportContext, ImportUnit, SkippedChange
from memories.imports.base import Advance, ImportRefused, UnreadableText
from teams.principal import Principal
from teams.versioned_text.versioned_file import VersionedFile


def text_change(unit: ImportUnit, within: str, what: str, here: VersionedFile | None, exported: str) -> ImportChange:
    """Return the change that importing the text would make. `exported` is its digest when exported, "" if unknown."""
    name = unit.path(within)
    version = here.version if here else 0
    try:
        after = unit.contents.text(unit.files[within])
    except UnreadableText as fault:
        return ImportChange(name=name, what=what, state=ImportState.REFUSED, version=version, reason=fault.detail)
    mark = text_digest(here.content) if here else None
    state = state_of(exported=exported, incoming=text_digest(after), here=mark)
    return ImportChange(
        name=name, what=what, state=state, version=version, before=here.content if here else "", after=after
    )


def with_refusal(change: ImportChange, reason: str) -> ImportChange:
    """Return the change as refused for this reason; one that is refused or changes nothing is returned as it is."""
    if change.state in {ImportState.SAME, ImportState.REFUSED}:
        return change
    return ImportChange(
        name=change.name, what=change.what, state=ImportState.REFUSED, version=change.version, reason=reason
    )


def attempt_all(changes: Mapping[str, Callable[[], object]], advance: Advance = bool) -> list[SkippedChange]:
    """Call each function in its own transaction, and return the changes that failed; others are not affected."""
    left = []
    for name, do in changes.items():
        try:
            with transaction.atomic():
                do()
        except (TooCostly, TookTooLong):
            raise  # all that follow would fail, too
        except DossierError as error:
            left.append(SkippedChange(name, error.detail))
        except IntegrityError:
            left.append(SkippedChange(name, "It does not fit to what is here. Look at both and correct it by hand."))
        advance(1)
    return left


ENDING = ".yaml"
MAX_DOCUMENTS = 500
"""The most files of such a section in an archive that is uploaded, unless the section has its own limit."""
NOT_AN_ADMIN = "Only an admin of the organisation may change this. Ask one to import it."


def text_entries(
    folder: str, texts: Iterable[tuple[str, str]], said: Mapping[str, Any] | None = None, *, ending: str = ENDING
) -> Iterator[ArchiveEntry]:
    """Yield an entry for each text, then one with their digests and the values `said`; nothing without texts.

    `ending` is the ending of the names of the texts.
    """
    marks = dict[str, str]()
    for name, content in texts:
        marks[f"{name}{ending}"] = text_digest(content)
        yield ArchiveEntry(f"{folder}/{name}{ending}", [content])
    if marks:
        whole = json.dumps({"marks": marks, **(said or {})}, indent=2, sort_keys=True, ensure_ascii=False)
        yield ArchiveEntry(f"{folder}/{folder}.json", [whole + "\n"])


def load_metadata(unit: ImportUnit) -> Mapping[str, Any]:
    """Return the values in the section's JSON file; none where it is missing or unreadable."""
    within = f"{unit.name}.json"
    if within not in unit.files:
        return {}
    try:
        said = json.loads(unit.contents.text(unit.files[within]))
    except (ImportRefused, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def load_digests(unit: ImportUnit) -> Mapping[str, str]:
    """Return the digests of the exported texts, by their names in the section."""
    marks = load_metadata(unit).get("marks")
    own = marks.items() if isinstance(marks, dict) else ()
    return {within: mark for within, mark in own if isinstance(mark, str)}


class DocumentSection(ABC):
    """An archive section with one file per document, which only admins of the organisation can import."""

    folder: ClassVar[str]
    ending: ClassVar[str] = ENDING
    """The ending of the names of its files."""
    has_units = False
    max_files = MAX_DOCUMENTS
    is_for_admins: ClassVar[bool] = True
    """Whether only admins of the organisation import it; else each change says whether the principal may."""

    @abstractmethod
    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        """Return a function that takes a file name of the unit and its exported digest, and returns the change."""

    @abstractmethod
    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        """Store the document with that name, as the change has it."""

    def accepts_file(self, within: str) -> bool:
        return "/" not in within and (within.endswith(self.ending) or within == f"{self.folder}.json")

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        (unit,) = units
        change_of, marks = self.change_of(unit, principal), load_digests(unit)
        names = {within for within in unit.files if within.endswith(self.ending)} - {f"{self.folder}.json"}
        is_allowed = principal.is_admin or not self.is_for_admins
        for within in sorted(names):
            change = change_of(within, marks.get(within, ""))
            yield unit, change if is_allowed else with_refusal(change, NOT_AN_ADMIN)

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: ImportContext
    ) -> list[SkippedChange]:
        names = {change.name: change.name.rpartition("/")[2].removesuffix(self.ending) for change in changes}
        saves = {change.name: partial(self.save, names[change.name], change, import_context) for change in changes}
        return attempt_all(saves, import_context.advance)


def refuse_unreadable(change: ImportChange, fault_of: Callable[[str], DossierError | None]) -> ImportChange:
    """Return the change; as refused, with the reason, where its text would be stored and `fault_of` finds an error."""
    is_stored = change.state in {ImportState.NEW, ImportState.CHANGED}
    fault = fault_of(change.after) if is_stored else None
    return replace(change, state=ImportState.REFUSED, reason=fault.detail) if fault else change
