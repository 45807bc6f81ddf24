"""Presence is who has the editor of a text open now. An open editor reports it every 20 seconds."""

import datetime
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

PRESENCE_TIMEOUT = datetime.timedelta(seconds=60)
MAX_NAMES = 5


class Presence(models.Model):
    """When the editor of a person and text last reported. The table is unlogged: it is empty after a crash."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="presences")
    about = models.CharField(max_length=100, db_index=True)
    seen = models.DateTimeField()

    class Meta:
        app_label = "teams"
        db_table = "presences"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="presence_once")]


def presence_note(*, person_id: UUID, about: str) -> None:
    """Store that the person has the editor of this text open."""
    Presence.objects.bulk_create(
        [Presence(person_id=person_id, about=about, seen=timezone.now())],
        update_conflicts=True,
        unique_fields=["person", "about"],
        update_fields=["seen"],
    )


def presence_end(*, person_id: UUID, about: str) -> None:
    """Store that the person closed the editor."""
    Presence.objects.filter(person_id=person_id, about=about).delete()


def others_editing(person_id: UUID, about: str) -> list[str]:
    """Return the names of the other people who have the editor of this text open, at most five."""
    present = Presence.objects.filter(about=about, seen__gt=timezone.now() - PRESENCE_TIMEOUT).exclude(
        person_id=person_id
    )
    return [str(row.person) for row in present.select_related("person").order_by("person__name", "id")[:MAX_NAMES]]
