"""A job is work done in the background. Its row is authoritative; a Celery message only wakes a worker."""

from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent


class JobStatus(models.TextChoices):
    """The status of a job. PARKED: given up after too many attempts."""

    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    PARKED = "parked", "Given up"


class Job(models.Model):
    """A job runs the function registered for `kind` with `arguments` (JSON), in the background.

    `steps_done` of `steps` are its progress. The worker that runs the job locks the row, and owns the job until
    `leased_until`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(
        Agent, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="+"
    )
    kind = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=JobStatus.choices, default=JobStatus.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    steps_done = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    requested_by = models.CharField(max_length=80, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "jobs"
        constraints = [models.CheckConstraint(condition=models.Q(status__in=JobStatus.values), name="job_status_known")]
        indexes = [
            models.Index(fields=["-created", "-id"], name="job_newest"),
            models.Index(fields=["agent", "-created", "-id"], name="job_agent_newest"),
            models.Index(
                fields=["leased_until"], condition=models.Q(status__in=["queued", "running"]), name="job_waiting"
            ),
        ]
