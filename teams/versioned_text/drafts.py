"""Texts set aside: what a person's draft said before it was discarded or replaced. Offered back beside the editor.

One per person and text, the latest; whatever comes next in its place was set aside later.

Drafts: what a person has written and not yet published. One per person and text; nobody else sees it.

A draft is kept while its author types and makes no version. Each save of a draft names the revision of the draft that
it goes on from, so that two windows of one person do not overwrite each other unseen.
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
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, FileTooLarge, VersionedFile

OFFERED_FOR = datetime.timedelta(days=7)


class TextSetAside(models.Model):
    """A text that was a draft. `about` and `based_on` are those of the draft."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="texts_set_aside")
    about = models.CharField(max_length=100)
    based_on = models.PositiveIntegerField()
    content = models.TextField(blank=True)
    since = models.DateTimeField()

    class Meta:
        app_label = "teams"
        db_table = "texts_set_aside"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="text_set_aside_once")]


def discarded_text_of(person_id: UUID, about: str) -> TextSetAside | None:
    """The text that the person set aside in the last seven days."""
    recent = timezone.now() - OFFERED_FOR
    return TextSetAside.objects.filter(person_id=person_id, about=about, since__gt=recent).first()


@transaction.atomic
def discarded_text_create(*, person_id: UUID, about: str, content: str, based_on: int) -> None:
    """Set a text aside, unless there is nothing in it. Those that are offered no longer go."""
    now = timezone.now()
    TextSetAside.objects.filter(person_id=person_id, since__lte=now - OFFERED_FOR).delete()
    if content.strip():
        TextSetAside.objects.update_or_create(
            person_id=person_id, about=about, defaults={"content": content, "based_on": based_on, "since": now}
        )


def discarded_text_delete(*, person_id: UUID, about: str) -> None:
    """Throw away what the person set aside of one text."""
    TextSetAside.objects.filter(person_id=person_id, about=about).delete()


_LARGEST_FIRST_REVISION = 2**30


class StaleDraft(DossierError):
    """The person went on with this draft in another window. `current` is the draft as it stands, or None if it went."""

    status = 412
    code = "stale_draft"
    title = "You went on writing in another window"

    def __init__(self, current: Any) -> None:
        self.current = current
        super().__init__(
            "You went on with this text in another window, so it was not saved as your draft from here. "
            "Your text is still in this window. Open the draft beside it and bring the two together.",
            current_revision=current.revision if current else 0,
        )


class Draft(models.Model):
    """A text in the making. `about` names the versioned text (`VersionedFile.about`), `based_on` the version that it
    was made from: 0 where there is none yet."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafts")
    about = models.CharField(max_length=100)
    based_on = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=1)
    content = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "teams"
        db_table = "drafts"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="draft_once")]


def drafts_of(person_id: UUID) -> models.QuerySet[Draft]:
    """All drafts of a person, the newest first."""
    return Draft.objects.filter(person_id=person_id).order_by("-updated_at", "-id")


def draft_of(person_id: UUID, about: str) -> Draft | None:
    """The person's draft of one text."""
    return Draft.objects.filter(person_id=person_id, about=about).first()


@transaction.atomic
def draft_save(
    *, person_id: UUID, about: str, content: str, based_on: int, expected_revision: int, keeping: bool = False
) -> Draft:
    """Keep a text as the person's draft; the same text again makes no revision.

    `expected_revision` is the draft's revision that the text goes on from, 0 where there was no draft. What the draft
    said before is set aside where the person asks for that (`keeping`), and where the text is now made from a newer
    version: then it is another text, brought together from two. Raises StaleDraft when the draft went on elsewhere,
    and FileTooLarge.
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
    """Make a version of the draft, which is gone then; `save` stores it.

    Returns the text as it is stored now, and the version that the draft was made from. Raises StaleDraft, and
    StaleVersion when somebody published meanwhile: the draft stays.
    """
    draft = _lock_expected(person_id, about, expected_revision)
    if draft is None:
        raise StaleDraft(None)
    saved = save(draft.content, draft.based_on)
    draft.delete()
    return saved, draft.based_on


@transaction.atomic
def draft_delete(*, person_id: UUID, about: str, expected_revision: int) -> None:
    """Forget a draft that says what is published anyway. Raises StaleDraft."""
    draft = _lock_expected(person_id, about, expected_revision)
    if draft:
        draft.delete()


@transaction.atomic
def draft_discard(*, person_id: UUID, about: str, content: str = "") -> None:
    """Forget the person's draft of one text, if there is one. What it said is set aside, or, where the person had
    written on since, what it would say."""
    draft = _lock_draft(person_id, about)
    if draft:
        discarded_text_create(
            person_id=person_id, about=about, content=content or draft.content, based_on=draft.based_on
        )
        draft.delete()


@transaction.atomic
def draft_restore(*, person_id: UUID, about: str) -> Draft | None:
    """Make a draft of the text that the person set aside; the draft there is, is set aside instead.

    Returns the draft; None where nothing was set aside. Raises StaleDraft where a window made one meanwhile.
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
    """Forget the drafts of texts that are about to be deleted, of people who may not read the texts any more: nobody
    could tell afterwards that they may not. Drafts of the readers stay theirs."""
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
