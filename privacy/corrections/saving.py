"""A corrected thing is saved by the service of its kind, as its next version.

The text is trusted as much as before: who corrects one value of what an agent wrote does not answer for the rest.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.postgres.fields import ArrayField

from config.http.errors import Invalid
from memories.models import Document, Memory, Thread
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.services import agent_item_update, memory_update
from memories.services.document import document_update
from memories.services.item_hooks import thread_update
from memories.services.memory import facts_of
from teams.models import OrganisationFile
from teams.organisation.services import organisation_file_rename
from teams.origin import Origin
from teams.principal import Principal
from teams.versioned_text.versioned_file import VersionedFile, file_save

ITEM_SERVICES: Mapping[type[Any], Any] = {Document: document_update, Thread: thread_update}


def thing_save(*, row: Any, expected_version: int, changes: Mapping[str, Any], note: str, principal: Principal) -> int:
    """Save the changed columns of a thing, and return its new version.

    Raises StaleVersion, Invalid for a value that is too long or has a secret, and what else its service raises.
    """
    _check_lengths(row, changes)
    by = principal.relaying(row.origin)
    if isinstance(row, Memory):
        saved: Any = memory_update(
            memory=row,
            expected_version=expected_version,
            facts=replace(facts_of(row), text=changes.get("text", row.text), origin=Origin(row.origin)),
            superseded_by=row.superseded_by,
            retired_because=changes.get("retired_because"),
            note=note,
            principal=by,
        )
    elif isinstance(row, VersionedFile):
        saved = _file_save(row, expected_version, changes, note, by)
    else:
        update = ITEM_SERVICES.get(type(row), agent_item_update)
        saved = update(thing=row, expected_version=expected_version, changes=changes, principal=by)
    version: int = saved.version
    return version


def _file_save(file: Any, expected: int, changes: Mapping[str, Any], note: str, by: Principal) -> Any:
    if isinstance(file, OrganisationFile) and "title" in changes:
        file = organisation_file_rename(
            file=file, title=changes["title"], expected_version=expected, principal=by, note=note
        )
        expected = file.version
    if "content" not in changes:
        return file
    return file_save(file=file, content=changes["content"], expected_version=expected, author=by.author, note=note)


def _check_lengths(row: Any, changes: Mapping[str, Any]) -> None:
    """Raise Invalid for a value that does not fit into its column."""
    for column, value in changes.items():
        field = row._meta.get_field(column)  # noqa: SLF001 - Django's documented introspection
        item = field.base_field if isinstance(field, ArrayField) else field
        most = MAX_TEXT_CHARACTERS if isinstance(row, Memory) and column == "text" else item.max_length
        for text in value if isinstance(value, list) else [value]:
            if most and isinstance(text, str) and len(text) > most:
                raise Invalid(column, f"It would have {len(text):,} characters; the maximum is {most:,}. Shorten it.")
