"""This module creates, renames and deletes files of the organisation. A new text is saved as every file's is.

The callers check permissions with `teams.access.organisation_file_for`.
"""

from django.db import IntegrityError, transaction

from config.http.errors import Conflict, Invalid
from config.invisible_characters import clean_text
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.level_changes import require_level
from teams.models import OrganisationFile
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, file_create, lock_row, store_version


def clean_title(title: str) -> str:
    """Return the title as it is stored, without invisible characters. Raises Invalid if nothing is left."""
    clean = clean_text(title).strip()
    if not clean:
        raise Invalid("title", "Enter a title with visible characters.", "blank")
    return clean


@transaction.atomic
def organisation_file_create(
    *,
    key: str,
    title: str,
    content: str = "",
    principal: Principal,
    note: str = "",
    sensitivity: int = DEFAULT_LEVEL,
) -> OrganisationFile:
    """Create a file of the organisation, as its version 1.

    Raises Conflict if there is one with this key, and Invalid for a title without visible characters.
    """
    title = clean_title(title)
    new = OrganisationFile(file_key=key, title=title, content=content, sensitivity=sensitivity)
    require_level(principal, new, sensitivity)
    try:
        with transaction.atomic():
            file = file_create(file=new, author=principal.author, note=note)
    except IntegrityError:
        raise Conflict(f"There is a file “{key}” already. Choose another key.") from None
    activity_record(principal, ActivityAction.ORGANISATION_FILE_CREATED, title, detail={"key": key}, of=file)
    return file


@transaction.atomic
def organisation_file_rename(
    *, file: OrganisationFile, title: str, expected_version: int, principal: Principal, note: str = ""
) -> OrganisationFile:
    """Save the file with another title as a new version; the same title creates none. Raises StaleVersion.

    The default note says that the file was renamed. Raises Invalid for a title without visible characters.
    """
    title = clean_title(title)
    current = lock_row(file)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    if title == current.title:
        return current
    before, current.title = current.title, title
    detail = {"title": title, "before": {"title": before}}
    activity_record(principal, ActivityAction.ORGANISATION_FILE_RENAMED, title, detail=detail, of=current)
    return store_version(current, principal.author, note or f"Renamed to “{title}”")


@transaction.atomic
def organisation_file_delete(*, file: OrganisationFile, principal: Principal) -> None:
    """Delete a file with its history. Contexts remain, as part of the audit trail; people keep their drafts of it."""
    erase("organisation_files", file.id, principal)
    detail = {"key": file.file_key}
    activity_record(principal, ActivityAction.ORGANISATION_FILE_DELETED, file.title, detail=detail, of=file)
