"""Presence: who has the editor of a text open just now. An open editor says so every 20 seconds."""

import datetime
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

PRESENCE_TIMEOUT = datetime.timedelta(seconds=60)
MAX_NAMES = 5


class Presence(models.Model):
    """When a person's editor of a text was last heard of. The table is unlogged: after a crash it is empty."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="presences")
    about = models.CharField(max_length=100, db_index=True)
    seen = models.DateTimeField()

    class Meta:
        app_label = "teams"
        db_table = "presences"
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="presence_once")]


def presence_note(*, person_id: UUID, about: str) -> None:
    """The person's editor of this text is open now."""
    Presence.objects.bulk_create(
        [Presence(person_id=person_id, about=about, seen=timezone.now())],
        update_conflicts=True,
        unique_fields=["person", "about"],
        update_fields=["seen"],
    )


def presence_end(*, person_id: UUID, about: str) -> None:
    """The person closed the editor."""
    Presence.objects.filter(person_id=person_id, about=about).delete()


def others_editing(person_id: UUID, about: str) -> list[str]:
    """The names of the others who have the editor of this text open, five at most."""
    present = Presence.objects.filter(about=about, seen__gt=timezone.now() - PRESENCE_TIMEOUT).exclude(
        person_id=person_id
    )
    return [str(row.person) for row in present.select_related("person").order_by("person__name", "id")[:MAX_NAMES]]
