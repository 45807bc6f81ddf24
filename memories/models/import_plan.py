"""An import plan is an uploaded archive with the changes that its import would make, shown to the requester first."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from config.http.encrypted_fields import EncryptedBytesField, EncryptedJSONField
from memories.models.job import Job


class ImportStatus(models.TextChoices):
    """The status of an import. PLANNING: its changes are being computed. SHOWN: they can be seen; nothing is written
    yet.
    """

    PLANNING = "planning", _("Reading")
    SHOWN = "shown", _("Pending review")
    RUNNING = "running", _("Importing")
    DONE = "done", _("Imported")
    REFUSED = "refused", _("Rejected")


class ImportPlan(models.Model):
    """An import plan holds an uploaded archive and the changes (`steps`) that its import would make.

    `aside` names the files that are no part of an archive. `chosen` lists the texts to import although they were also
    changed here. `outcome` holds the result by unit of the archive. `visibility` says which agents and teams the
    requester could see when the steps were computed (`agents.access`). Once the import is done or refused, the archive
    is deleted; `refusal` says why it was refused. What the archive has, and what is said of it, is encrypted.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    requested_by = models.CharField(max_length=80)
    file_name = models.CharField(max_length=200)
    archive = EncryptedBytesField()
    visibility = models.JSONField(default=dict)
    steps: Any = EncryptedJSONField(default=list)
    aside: Any = EncryptedJSONField(default=list)
    same = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=ImportStatus.choices, default=ImportStatus.SHOWN)
    chosen = models.JSONField(default=list)
    refusal = models.TextField(blank=True, default="")
    outcome: Any = EncryptedJSONField(default=dict)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "import_plans"
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=ImportStatus.values), name="import_plan_status_known")
        ]
        indexes = [models.Index(fields=["created"], name="import_plan_oldest")]
