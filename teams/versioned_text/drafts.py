"""Drafts are texts that a person has not published yet; discarded ones can be restored for seven days.

There is one draft per person and text, which nobody else sees. Saving a draft creates no version. Each save names the
revision of the draft that it is based on, so that two windows of one person do not overwrite each other.

There is one discarded text per person and text: the one that was discarded or replaced last.
"""

import datetime
import secrets
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from config.http.errors import DossierError
from teams.sealing.fields import SealedPersonalText
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, FileTooLarge, VersionedFile

OFFERED_FOR = datetime.timedelta(days=7)


class TextSetAside(models.Model):
    """A text that was a draft and was discarded or replaced. `about` and `based_on` are those of the draft."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="texts_set_aside")
    about = models.CharField(max_length=100)
    based_on = models.PositiveIntegerField()
    content = SealedPersonalText(blank=True)
    since = models.DateTimeField()

    class Meta:
        app_label = "teams"
        db_table = "texts_set_aside"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="text_set_aside_once")]


def discarded_text_of(person_id: UUID, about: str) -> TextSetAside | None:
    """Return the text that the person discarded in the last seven days."""
    recent = timezone.now() - OFFERED_FOR
    return TextSetAside.objects.filter(person_id=person_id, about=about, since__gt=recent).first()


@transaction.atomic
def discarded_text_create(*, person_id: UUID, about: str, content: str, based_on: int) -> None:
    """Store a discarded text unless it is empty, and delete those of the person that are older than seven days."""
    now = timezone.now()
    TextSetAside.objects.filter(person_id=person_id, since__lte=now - OFFERED_FOR).delete()
    if content.strip():
        TextSetAside.objects.update_or_create(
            person_id=person_id, about=about, defaults={"content": content, "based_on": based_on, "since": now}
        )


def discarded_text_delete(*, person_id: UUID, about: str) -> None:
    """Delete the discarded text of a person."""
    TextSetAside.objects.filter(person_id=person_id, about=about).delete()


_LARGEST_FIRST_REVISION = 2**30


class StaleDraft(DossierError):
    """The draft was saved in another window since. `current` is the draft as it is now, or None if it was deleted."""

    status = 412
    code = "stale_draft"
    title = "You edited this text in another window"

    def __init__(self, current: Any) -> None:
        self.current = current
        super().__init__(
            (
                "You edited this text in another window, so your draft was not saved from here. Your "
                "text is still in this window. Open the draft in another tab and merge them."
            ),
            current_revision=current.revision if current else 0,
        )


class Draft(models.Model):
    """The unpublished text of a person.

    `about` is the ref of the versioned text (`VersionedFile.about`), `based_on` the version that the draft started
    from, 0 if there was none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafts")
    about = models.CharField(max_length=100)
    based_on = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=1)
    content = SealedPersonalText(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "teams"
        db_table = "drafts"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="draft_once")]


def drafts_of(person_id: UUID) -> models.QuerySet[Draft]:
    """Return all drafts of a person, the newest first."""
    return Draft.objects.filter(person_id=person_id).order_by("-updated_at", "-id")


def draft_of(person_id: UUID, about: str) -> Draft | None:
    """Return the person's draft of a text."""
    return Draft.objects.filter(person_id=person_id, about=about).first()


@transaction.atomic
def draft_save(
    *, person_id: UUID, about: str, content: str, based_on: int, expected_revision: int, keeping: bool = False
) -> Draft:
    """Save a text as the person's draft; the same text creates no new revision.

    `expected_revision` is the revision of the draft that the text is based on, 0 if there was no draft. The previous
    text of the draft is stored as discarded if `keeping` is set, or if the text is now based on a newer version,
    because it was merged then. Raises StaleDraft if the draft was saved in another window since, and FileTooLarge.
    """
    if len(content) > MAX_FILE_CHARACTERS:
        raise FileTooLarge(len(content))
    draft = _lock_expected(person_id, about, expected_revision)
    if draft is None:
        return _draft_create(person_id, about, content, based_on)
    if draft.content != content and (keeping or based_on > draft.based_on):
        discarded_text_create(person_id=person_id, about=about, content=draft.content, based_on=draft.based_on)
    if (draft.content, draft.based_on) != (content, based_on):
        draft.content, draft.based_on, draft.revision = content, based_on, draft.revision + 1
        draft.save(force_update=True)
    return draft


@transaction.atomic
def draft_publish(
    *, person_id: UUID, about: str, expected_revision: int, save: Callable[[str, int], VersionedFile]
) -> tuple[VersionedFile, int]:
    """Publish the draft with the function `save`, and delete the draft.

    Returns the published text and the version that the draft was based on. Raises StaleDraft, and StaleVersion if
    another version was published since: the draft remains.
    """
    draft = _lock_expected(person_id, about, expected_revision)
    if draft is None:
        raise StaleDraft(None)
    saved = save(draft.content, draft.based_on)
    draft.delete()
    return saved, draft.based_on


@transaction.atomic
def draft_delete(*, person_id: UUID, about: str, expected_revision: int) -> None:
    """Delete a draft that equals the published text. Raises StaleDraft."""
    draft = _lock_expected(person_id, about, expected_revision)
    if draft:
        draft.delete()


@transaction.atomic
def draft_discard(*, person_id: UUID, about: str, content: str = "") -> None:
    """Discard the person's draft of a text, if there is one.

    `content` is stored as the discarded text if the person had continued to write, else the draft.
    """
    draft = _lock_draft(person_id, about)
    if draft:
        discarded_text_create(
            person_id=person_id, about=about, content=content or draft.content, based_on=draft.based_on
        )
        draft.delete()


@transaction.atomic
def draft_restore(*, person_id: UUID, about: str) -> Draft | None:
    """Make the discarded text the person's draft again; an existing draft becomes the discarded text.

    Returns the draft; None if there was no discarded text. Raises StaleDraft if another window created a draft at the
    same time.
    """
    draft, aside = _lock_draft(person_id, about), discarded_text_of(person_id, about)
    if aside is None:
        return None
    discarded_text_delete(person_id=person_id, about=about)
    if draft is None:
        return _draft_create(person_id, about, aside.content, aside.based_on)
    discarded_text_create(person_id=person_id, about=about, content=draft.content, based_on=draft.based_on)
    draft.content, draft.based_on, draft.revision = aside.content, aside.based_on, draft.revision + 1
    draft.save(force_update=True)
    return draft


@transaction.atomic
def drafts_delete(*, abouts: models.Q, readers: models.QuerySet[Any]) -> None:
    """Delete the drafts of texts that are about to be deleted, except those of their readers.

    After the deletion, it could not be checked any more who may read the texts.
    """
    Draft.objects.filter(abouts).exclude(person__in=readers).delete()


def _lock_draft(person_id: UUID, about: str) -> Draft | None:
    return Draft.objects.select_for_update(no_key=True).filter(person_id=person_id, about=about).first()


def _lock_expected(person_id: UUID, about: str, revision: int) -> Draft | None:
    draft = _lock_draft(person_id, about)
    if (draft.revision if draft else 0) != revision:
        raise StaleDraft(draft)
    return draft


def _draft_create(person_id: UUID, about: str, content: str, based_on: int) -> Draft:
    # A window that was left open since an earlier draft must not take this one for its own, so revisions never begin
    # at the same number.
    revision = 1 + secrets.randbelow(_LARGEST_FIRST_REVISION)
    try:
        with transaction.atomic():
            return Draft.objects.create(
                person_id=person_id, about=about, content=content, based_on=based_on, revision=revision
            )
    except IntegrityError:  # another window began the draft at the same moment
        raise StaleDraft(draft_of(person_id, about)) from None
