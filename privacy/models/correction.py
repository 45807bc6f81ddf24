"""A correction replaces a wrong value in what is linked to a subject; its results say what became of each thing."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from memories.models import Job
from privacy.models.subject import MAX_IDENTIFIER_CHARACTERS, IdentifierKind, Subject

MAX_CORRECTION_REASON_CHARACTERS = 500


class SubjectCorrection(models.Model):
    """Who corrected which value of a subject, and why. A job ends it if there are many things.

    `chosen` are the refs of the things with the versions that the person had seen, as in memory:<uuid>@3. If the wrong
    value was an identifier of the subject (`was_identifier`), it is still searched for, because histories and recorded
    contexts have it. `told` has the number of recorded contexts that told the wrong value (`contexts`), and the agents
    that requested them (`recipients`); None until that is counted.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(
        Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="corrections"
    )
    kind = models.CharField(max_length=20, choices=IdentifierKind.choices)
    wrong = models.CharField(max_length=MAX_IDENTIFIER_CHARACTERS)
    right = models.CharField(max_length=MAX_IDENTIFIER_CHARACTERS)
    reason = models.CharField(max_length=MAX_CORRECTION_REASON_CHARACTERS)
    was_identifier = models.BooleanField(default=False)
    chosen: Any = models.JSONField(default=list)
    told: Any = models.JSONField(null=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subject_corrections"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=IdentifierKind.values), name="subject_correction_kind_known")
        ]
        indexes = [models.Index(fields=["subject", "-created", "-id"], name="subject_correction_newest")]


class CorrectionStatus(models.TextChoices):
    """What became of a thing that was chosen to be corrected."""

    CORRECTED = "corrected", _("Corrected")
    CHANGED = "changed", _("Changed meanwhile")
    MISSING = "missing", _("Deleted meanwhile")
    UNCHANGED = "unchanged", _("Had nothing to correct")
    REFUSED = "refused", _("Refused")
    UNDONE = "undone", _("Undone")


class CorrectionResult(models.Model):
    """What became of one thing: the versions before and after, and how often the wrong value was replaced.

    `sealed_before` are the former values by column, encrypted, of a thing that has no versions of its own.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    correction = models.ForeignKey(
        SubjectCorrection, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="results"
    )
    ref_kind = models.CharField(max_length=20)
    thing = models.UUIDField()
    status = models.CharField(max_length=10, choices=CorrectionStatus.choices)
    version_before = models.PositiveIntegerField()
    version = models.PositiveIntegerField(null=True)
    places = models.PositiveIntegerField(default=0)
    detail = models.CharField(max_length=500, blank=True, default="")
    sealed_before = models.TextField(blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "subject_correction_results"
        ordering = ["ref_kind", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=CorrectionStatus.values), name="subject_correction_result_known"
            ),
            models.UniqueConstraint(fields=["correction", "thing"], name="subject_correction_result_once"),
        ]

    @property
    def about(self) -> str:
        """The ref of the thing without a version."""
        return f"{self.ref_kind}:{self.thing}"
