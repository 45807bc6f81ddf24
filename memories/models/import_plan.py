"""What somebody is about to import: the archive, and what was shown of it before anything is written."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from memories.models.job import Job


class ImportStatus(models.TextChoices):
    """Of an import. planning: what it would change is still being found out; shown: nothing is written yet."""

    PLANNING = "planning", _("Being read")
    SHOWN = "shown", _("Not imported yet")
    RUNNING = "running", _("Being imported")
    DONE = "done", _("Imported")
    REFUSED = "refused", _("Not possible")


class ImportPlan(models.Model):
    """`steps` are what was shown, `aside` names what is no part of an archive, `chosen` what is taken although it was
    changed here; `outcome` holds, by unit, what came of it. The archive goes once it is done, or
    refused: then `refusal` says why. `visibility` says which agents and teams the requester saw when the steps were
    made (`agents.access`).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    requested_by = models.CharField(max_length=80)
    file_name = models.CharField(max_length=200)
    archive = models.BinaryField()
    visibility = models.JSONField(default=dict)
    steps = models.JSONField(default=list)
    aside = models.JSONField(default=list)
    same = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=ImportStatus.choices, default=ImportStatus.SHOWN)
    chosen = models.JSONField(default=list)
    refusal = models.TextField(blank=True, default="")
    outcome = models.JSONField(default=dict)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "import_plans"
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=ImportStatus.values), name="import_plan_status_known")
        ]
        indexes = [models.Index(fields=["created"], name="import_plan_oldest")]
