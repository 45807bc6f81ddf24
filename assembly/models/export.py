"""Lists of contexts can be downloaded as files; long ones are prepared in the background."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from config.http.encrypted_fields import EncryptedBytesField
from memories.models import Job


class ContextFile(models.Model):
    """A requested file of a list of contexts: `parameters` are those of the list. It is stored for a day.

    `visibility` says which agents and teams the requester could see when the rows were read (`agents.access`).
    """

    class Format(models.TextChoices):
        CSV = "csv", _("CSV, for spreadsheets")
        JSON = "json", _("JSON, for programs")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    requested_by = models.CharField(max_length=80)
    parameters = models.JSONField()
    visibility = models.JSONField(default=dict)
    format = models.CharField(max_length=4, choices=Format.choices)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "context_files"
        constraints = [
            models.CheckConstraint(condition=models.Q(format__in=["csv", "json"]), name="context_file_format_known")
        ]
        indexes = [models.Index(fields=["created"], name="context_file_oldest")]


class ContextFilePart(models.Model):
    """Some rows of a ContextFile, stored so that an interrupted job can resume; the next part begins after `place`.

    The content is encrypted.
    """

    file = models.ForeignKey(ContextFile, models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    content = EncryptedBytesField()
    rows = models.PositiveIntegerField()
    place = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "context_file_parts"
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="context_file_part_once")]
