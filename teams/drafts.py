"""Drafts: what a person has written and not yet published. One per person and text; nobody else sees it.

A draft is kept while its author types and makes no version. Each save of a draft names the revision of the draft that
it goes on from, so that two windows of one person do not overwrite each other unseen.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, models, transaction
from uuid_utils.compat import uuid7

from config.http.errors import DossierError
from teams.files import MAX_FILE_CHARACTERS, FileTooLarge


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
def draft_save(*, person_id: UUID, about: str, content: str, based_on: int, expected_revision: int) -> Draft:
    """Keep a text as the person's draft; the same text again makes no revision.

    `expected_revision` is the draft's revision that the text goes on from, 0 where there was no draft. Raises
    StaleDraft when the draft went on elsewhere, and FileTooLarge.
    """
    if len(content) > MAX_FILE_CHARACTERS:
        raise FileTooLarge(len(content))
    draft = Draft.objects.select_for_update(no_key=True).filter(person_id=person_id, about=about).first()
    if (draft.revision if draft else 0) != expected_revision:
        raise StaleDraft(draft)
    if draft is None:
        return _draft_create(person_id, about, content, based_on)
    if (draft.content, draft.based_on) != (content, based_on):
        draft.content, draft.based_on, draft.revision = content, based_on, draft.revision + 1
        draft.save(force_update=True)
    return draft


def _draft_create(person_id: UUID, about: str, content: str, based_on: int) -> Draft:
    try:
        with transaction.atomic():
            return Draft.objects.create(person_id=person_id, about=about, content=content, based_on=based_on)
    except IntegrityError:  # another window began the draft at the same moment
        raise StaleDraft(draft_of(person_id, about)) from None


def draft_discard(*, person_id: UUID, about: str) -> None:
    """Forget the person's draft of one text, if there is one."""
    Draft.objects.filter(person_id=person_id, about=about).delete()
