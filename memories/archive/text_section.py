"""Versioned texts in an archive: how each stands to the one that is here, and taking it over.

What rooms of texts by their names have in common: one file for each, and one with what else there is to say.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.db import IntegrityError, transaction

from config.http.cpu_budget import TooCostly, TookTooLong
from config.http.errors import DossierError
from memories.archive.digests import ImportState, state_of, text_digest
from memories.archive.sections import ArchiveEntry, ImportChange, ImportUnit, SkippedChange
from memories.imports.base import BYTE_ORDER_MARK, Advance, ImportRefused, UnreadableText
from teams.versioned_text.versioned_file import VersionedFile


def text_change(unit: ImportUnit, within: str, what: str, here: VersionedFile | None, exported: str) -> ImportChange:
    """What importing that text would do. `exported` is its mark, "" where there is none."""
    name = unit.path(within)
    version = here.version if here else 0
    try:
        after = unit.contents.text(unit.files[within])
    except UnreadableText as fault:
        return ImportChange(name=name, what=what, state=ImportState.REFUSED, version=version, reason=fault.detail)
    if exported == text_digest(BYTE_ORDER_MARK + after):
        after = BYTE_ORDER_MARK + after  # it was exported so; no editor added it
    mark = text_digest(here.content) if here else None
    state = state_of(exported=exported, incoming=text_digest(after), here=mark)
    return ImportChange(
        name=name, what=what, state=state, version=version, before=here.content if here else "", after=after
    )


def with_refusal(change: ImportChange, reason: str) -> ImportChange:
    """The same change, refused for that reason; what would change nothing stays as it is."""
    if change.state in {ImportState.SAME, ImportState.REFUSED}:
        return change
    return ImportChange(
        name=change.name, what=change.what, state=ImportState.REFUSED, version=change.version, reason=reason
    )


def attempt_all(changes: Mapping[str, Callable[[], object]], advance: Advance = bool) -> list[SkippedChange]:
    """Do what stands by each name, one by one; what fails leaves the others as they are. Returns what failed."""
    left = []
    for name, do in changes.items():
        try:
            with transaction.atomic():
                do()
        except (TooCostly, TookTooLong):
            raise  # all that follows would end so, too
        except DossierError as error:
            left.append(SkippedChange(name, error.detail))
        except IntegrityError:
            left.append(SkippedChange(name, "It does not fit to what is here. Look at both and correct it by hand."))
        advance(1)
    return left


ENDING = ".yaml"
NOT_AN_ADMIN = "Only an admin of the organisation may change this. Ask one to import it."


def text_entries(
    folder: str, texts: Iterable[tuple[str, str]], said: Mapping[str, Any] | None = None
) -> Iterator[ArchiveEntry]:
    """The texts, each under its name, then a file with their marks and what else is `said`; nothing without texts."""
    marks = dict[str, str]()
    for name, content in texts:
        marks[f"{name}{ENDING}"] = text_digest(content)
        yield ArchiveEntry(f"{folder}/{name}{ENDING}", [content])
    if marks:
        whole = json.dumps({"marks": marks, **(said or {})}, indent=2, sort_keys=True, ensure_ascii=False)
        yield ArchiveEntry(f"{folder}/{folder}.json", [whole + "\n"])


def text_names(unit: ImportUnit) -> list[str]:
    """The texts in the unit, in order."""
    return sorted(within for within in unit.files if within.endswith(ENDING))


def load_metadata(unit: ImportUnit) -> Mapping[str, Any]:
    """What the file beside the texts says; nothing where it is missing, or nobody can read it."""
    within = f"{unit.name}.json"
    if within not in unit.files:
        return {}
    try:
        said = json.loads(unit.contents.text(unit.files[within]))
    except (ImportRefused, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def load_digests(unit: ImportUnit) -> Mapping[str, str]:
    """The marks of the texts as they were exported, by their names in the room."""
    marks = load_metadata(unit).get("marks")
    own = marks.items() if isinstance(marks, dict) else ()
    return {within: mark for within, mark in own if isinstance(mark, str)}
