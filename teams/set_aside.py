"""Texts set aside: what a person's draft said before it was discarded or replaced. Offered back beside the editor.

One per person and text, the latest; whatever comes next in its place was set aside later.
"""

import datetime
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

OFFERED = datetime.timedelta(days=7)


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


def text_aside_of(person_id: UUID, about: str) -> TextSetAside | None:
    """The text that the person set aside in the last seven days."""
    recent = timezone.now() - OFFERED
    return TextSetAside.objects.filter(person_id=person_id, about=about, since__gt=recent).first()


@transaction.atomic
def text_set_aside(*, person_id: UUID, about: str, content: str, based_on: int) -> None:
    """Set a text aside, unless there is nothing in it. Those that are offered no longer go."""
    now = timezone.now()
    TextSetAside.objects.filter(person_id=person_id, since__lte=now - OFFERED).delete()
    if content.strip():
        TextSetAside.objects.update_or_create(
            person_id=person_id, about=about, defaults={"content": content, "based_on": based_on, "since": now}
        )


def text_aside_forget(*, person_id: UUID, about: str) -> None:
    """Throw away what the person set aside of one text."""
    TextSetAside.objects.filter(person_id=person_id, about=about).delete()
