"""Versioned texts: files of agents and teams, and daily logs. Saving, and the versions that saving leaves behind.

A versioned text is one current row and one append-only row per version. Every save names the version it was based on;
a save based on an older one is refused, so no text is ever lost silently.
"""

import hashlib
from typing import Any, TypeVar

from django.db import models, transaction
from django.dispatch import Signal
from uuid_utils.compat import uuid7

from config.http.errors import DossierError, NotFound
from teams.principal import Author

MAX_FILE_CHARACTERS = 1_000_000
MAX_NOTE_CHARACTERS = 200

FileType = TypeVar("FileType", bound="VersionedFile")
RowType = TypeVar("RowType", bound=models.Model)

file_saved = Signal()  # sender: the model; file: the VersionedFile as it is now


class StaleVersion(DossierError):
    """Somebody saved in between. `current` is the text as it stands now."""

    status = 412
    code = "stale_version"
    title = "Somebody saved a newer version"

    def __init__(self, current: Any, expected: int) -> None:
        self.current = current
        super().__init__(
            f"You started from version {expected}; version {current.version} is the newest. "
            "Nothing was changed. Read it, bring your text up to date and save again.",
            current_version=current.version,
        )


class FileTooLarge(DossierError):
    """A file would grow beyond what any context could hold."""

    status = 422
    code = "file_too_large"
    title = "This text is too long"

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"The text would have {characters:,} characters; a file holds at most {MAX_FILE_CHARACTERS:,}. "
            "Nothing was changed. Shorten it or move a part of it elsewhere."
        )


class Signed(models.Model):
    """Says who made its current state: `user` or `system` as in the seed, and which person or key besides."""

    updated_by = models.CharField(max_length=10, default="system")
    editor_ref = models.CharField(max_length=80, blank=True, default="")
    editor_name = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        abstract = True

    def signed_by(self, author: Author) -> None:
        """Note who makes the state that is about to be saved."""
        self.updated_by, self.editor_ref, self.editor_name = author.updated_by, author.ref, author.name


class VersionedFile(Signed):
    """The current state of a text that keeps its history; `versions` holds every state it ever had."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    content = models.TextField(default="", blank=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    versions: Any  # each subclass has a version table of its own, related under this name

    class Meta:
        abstract = True

    @property
    def ref(self) -> str:
        """What names its current version: `team_file:<uuid>@7`."""
        raise NotImplementedError

    @property
    def about(self) -> str:
        """What names the text, whichever version it is of: `team_file:<uuid>`."""
        return self.ref.partition("@")[0]

    def as_version(self, note: str = "") -> "Version":
        """The current state as an unsaved row of the version table, with what its author says of it."""
        version: Version = self.versions.model(
            file_id=self.id,
            version=self.version,
            content=self.content,
            sha256=hashlib.sha256(self.content.encode()).hexdigest(),
            updated_by=self.updated_by,
            editor_ref=self.editor_ref,
            editor_name=self.editor_name,
            note=note,
        )
        return version


class Version(Signed):
    """One immutable saved state. The database refuses to change or delete it."""

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField()
    content = models.TextField()
    sha256 = models.CharField(max_length=64)
    note = models.CharField(max_length=MAX_NOTE_CHARACTERS, blank=True, default="", db_default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["-version"]


@transaction.atomic
def file_create(*, file: FileType, author: Author, note: str = "") -> FileType:
    """Store a new file as its version 1. Raises IntegrityError if its owner has it already."""
    file.signed_by(author)
    file.save(force_insert=True)
    file.as_version(note).save(force_insert=True)
    file_saved.send(sender=type(file), file=file)
    return file


@transaction.atomic
def file_save(*, file: FileType, content: str, expected_version: int, author: Author, note: str = "") -> FileType:
    """Save a new version of a file, made from `expected_version`; identical text makes none.

    The note says in the author's words what changed.

    Returns the file as it is stored now. Raises StaleVersion when somebody saved in between.
    """
    current = lock_row(file)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    return _store_version(current, content, author, note)


@transaction.atomic
def file_append(*, file: FileType, paragraph: str, author: Author) -> FileType:
    """Add a paragraph at the end, after a blank line, exactly as given; no version is expected, so none is stale."""
    current = lock_row(file)
    separator = "\n\n" if current.content else ""
    return _store_version(current, f"{current.content}{separator}{paragraph}", author)


def lock_row(row: RowType) -> RowType:
    """The row's newest state, held against other writers until the transaction ends. Raises NotFound."""
    rows = type(row)._default_manager.select_for_update(no_key=True)  # noqa: SLF001
    current = rows.filter(pk=row.pk).first()
    if current is None:
        raise NotFound
    return current


def _store_version(file: FileType, content: str, author: Author, note: str = "") -> FileType:
    if content == file.content:
        return file
    if len(content) > MAX_FILE_CHARACTERS:
        raise FileTooLarge(len(content))
    file.content = content
    file.version += 1
    file.signed_by(author)
    file.save(force_update=True)
    file.as_version(note).save(force_insert=True)
    file_saved.send(sender=type(file), file=file)
    return file
