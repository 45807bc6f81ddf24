"""Versioned texts are files of agents and teams, and daily logs. This module saves them and their versions.

A versioned text is one current row and one append-only row per version. Every save names the version that it is based
on; a save based on an older version is refused, so no text is lost silently.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from django.db import models, transaction
from django.dispatch import Signal
from uuid_utils.compat import uuid7

from config.http.errors import DossierError, NotFound
from config.invisible_characters import clean_text
from teams.origin import Origin, least_trusted
from teams.principal import Author
from teams.sealing.fields import SealedText
from teams.secret_scanning.handling import SecretHandling, storable_text
from teams.sensitivity import Sensitive, Sensitivity

MAX_FILE_CHARACTERS = 1_000_000
MAX_NOTE_CHARACTERS = 200

FileType = TypeVar("FileType", bound="VersionedFile")
RowType = TypeVar("RowType", bound=models.Model)

file_saved = Signal()  # sender: the model; file: the VersionedFile as it is now


class StaleVersion(DossierError):
    """Another version was saved since. `current` is the text as it is now."""

    status = 412
    code = "stale_version"
    title = "Someone saved a newer version"

    def __init__(self, current: Any, expected: int) -> None:
        self.current = current
        super().__init__(
            f"You started from version {expected}; version {current.version} is the newest. "
            "Nothing was changed. Read it, bring your text up to date and save again.",
            current_version=current.version,
        )


class FileTooLarge(DossierError):
    """The text would be longer than the limit of a file."""

    status = 422
    code = "file_too_large"
    title = "The text is too long"

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"The text would have {characters:,} characters; the maximum is {MAX_FILE_CHARACTERS:,}. "
            "Nothing was changed. Shorten it or move a part of it elsewhere."
        )


class Signed(models.Model):
    """The author of the current state: `user` or `system` as in the seed, and which person or key; and its origin."""

    updated_by = models.CharField(max_length=10, default="system")
    editor_ref = models.CharField(max_length=80, blank=True, default="")
    editor_name = models.CharField(max_length=200, blank=True, default="")
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.PERSON, db_default=Origin.PERSON)

    class Meta:
        abstract = True

    def signed_by(self, author: Author, *, rewritten: bool = True) -> None:
        """Set the author of the state that is about to be saved, and its origin if it says something else than before.

        What a person rewrites is the person's. What anybody else rewrites is trusted no more than it was before.
        """
        self.credited_to(author)
        if self._state.adding or (rewritten and author.origin != Origin.PERSON):
            self.origin = least_trusted(self.origin, author.origin)
        elif rewritten:
            self.origin = author.origin

    def credited_to(self, author: Author) -> None:
        """Set the author, and leave the origin as it is."""
        self.updated_by, self.editor_ref, self.editor_name = author.updated_by, author.ref, author.name


class VersionedFile(Signed):
    """The current state of a text that keeps its history; `versions` holds every state it ever had."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    content = SealedText(default="", blank=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    versions: Any  # each subclass has a version table of its own, related under this name

    class Meta:
        abstract = True

    @property
    def ref(self) -> str:
        """The ref of the current version, like `team_file:<uuid>@7`."""
        raise NotImplementedError

    @property
    def secret_handling(self) -> str:
        """What happens to the text if a secret is found in it: what its agent or team says, and else it is refused."""
        owner = getattr(self, "agent", None) or getattr(self, "team", None)
        return owner.secret_handling if owner else SecretHandling.REFUSE

    @property
    def about(self) -> str:
        """The ref of the text without a version, like `team_file:<uuid>`."""
        return self.ref.partition("@")[0]

    def as_version(self, note: str = "") -> "Version":
        """Return the current state as an unsaved row of the version table, with the author's note."""
        version: Version = self.versions.model(
            file=self,
            version=self.version,
            content=self.content,
            sha256=hashlib.sha256(self.content.encode()).hexdigest(),
            updated_by=self.updated_by,
            editor_ref=self.editor_ref,
            editor_name=self.editor_name,
            origin=self.origin,
            note=clean_text(note),
        )
        if isinstance(self, Sensitive) and isinstance(version, Sensitive):
            # A restriction that is lifted again is not part of the history.
            version.sensitivity = min(self.sensitivity, Sensitivity.RESTRICTED)
        return version


class Version(Signed):
    """An immutable saved state. The database refuses to change or delete it."""

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField()
    content = SealedText()
    sha256 = models.CharField(max_length=64)
    note = SealedText(max_length=MAX_NOTE_CHARACTERS, blank=True, default="", db_default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["-version"]


@transaction.atomic
def file_create(*, file: FileType, author: Author, note: str = "") -> FileType:
    """Store a new file as its version 1. Raises IntegrityError if its owner has the file already, and Invalid for a
    text with a secret.
    """
    file.content = storable_text(file.content, file, "content")
    return file_insert(file=file, author=author, note=storable_text(note, file, "note"))


@transaction.atomic
def file_insert(*, file: FileType, author: Author, note: str = "") -> FileType:
    """Store a new file as its version 1, its text as it is. Raises IntegrityError if its owner has it already."""
    file.signed_by(author)
    file.save(force_insert=True)
    file.as_version(note).save(force_insert=True)
    file_saved.send(sender=type(file), file=file)
    return file


@transaction.atomic
def files_insert(*, files: Sequence[VersionedFile], author: Author) -> None:
    """Store new files of one kind as their version 1, their texts as they are, in two statements for all of them.

    Raises IntegrityError if an owner has one of the files already. The files are not to be saved again: their models
    do not hear of it.
    """
    if not files:
        return
    for file in files:
        file.signed_by(author)
    kind = type(files[0])
    kind._base_manager.bulk_create(files)  # noqa: SLF001
    versions = [file.as_version() for file in files]
    type(versions[0])._base_manager.bulk_create(versions)  # noqa: SLF001
    for file in files:
        file_saved.send(sender=kind, file=file)


@transaction.atomic
def file_save(
    *,
    file: FileType,
    content: str,
    expected_version: int,
    author: Author,
    note: str = "",
    sensitivity: int | None = None,
) -> FileType:
    """Save a new version of a file that is based on `expected_version`; an identical text creates none, unless it gets
    another sensitivity. Who may set that is checked before.

    The note is the author's summary of the change.

    Returns the file as it is stored now. Raises StaleVersion if another version was saved since, and Invalid for a text
    with a secret.
    """
    current = lock_row(file)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    text = storable_text(content, current, "content")
    if sensitivity is not None and isinstance(current, Sensitive) and current.sensitivity != sensitivity:
        current.sensitivity = sensitivity
        if text == current.content:
            return store_version(current, author, note, origin=Origin(current.origin))
    return _store_version(current, text, author, note)


@transaction.atomic
def file_append(*, file: FileType, paragraph: str, author: Author) -> FileType:
    """Append a paragraph, as given, after a blank line. No version is expected, so the call is never stale.

    The whole has the origin of its least trusted part.
    """
    current = lock_row(file)
    separator = "\n\n" if current.content else ""
    whole = f"{current.content}{separator}{storable_text(paragraph, current)}"
    return _store_version(current, whole, author, origin=least_trusted(current.origin, author.origin))


def author_of_text(author: Author, versions: "models.QuerySet[Any]", text: str) -> Author:
    """Return the author of the text of a new version: who restores the text of an earlier one did not write it."""
    if author.origin != Origin.PERSON:
        return author
    same = versions.filter(sha256=hashlib.sha256(text.encode()).hexdigest()).order_by("-version")
    earlier = same.values_list("origin", flat=True).first()
    return author.limited_to(earlier) if earlier else author


def lock_row(row: RowType) -> RowType:
    """Return the newest state of the row, locked against other writers until the transaction ends. Raises NotFound."""
    rows = type(row)._default_manager.select_for_update(no_key=True)  # noqa: SLF001
    current = rows.filter(pk=row.pk).first()
    if current is None:
        raise NotFound
    return current


def _store_version(
    file: FileType, content: str, author: Author, note: str = "", *, origin: Origin | None = None
) -> FileType:
    """Save the text as the next version, with the given origin or that of a text which its author rewrote."""
    if content == file.content:
        return file
    if len(content) > MAX_FILE_CHARACTERS:
        raise FileTooLarge(len(content))
    file.content = content
    return store_version(file, author, note, origin=origin)


def store_version(file: FileType, author: Author, note: str = "", *, origin: Origin | None = None) -> FileType:
    """Store the changed state of a locked row as its next version, with the given origin or that of its text.

    Raises Invalid for a note with a secret.
    """
    note = storable_text(note, file, "note")
    file.version += 1
    if origin is None:
        file.signed_by(author_of_text(author, file.versions.all(), file.content))
    else:
        file.signed_by(author)
        file.origin = origin
    file.save(force_update=True)
    file.as_version(note).save(force_insert=True)
    file_saved.send(sender=type(file), file=file)
    return file
