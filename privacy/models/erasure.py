"""An erasure removes a person's data everywhere, in steps; a legal hold forbids it."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

MAX_ERASURE_REASON_CHARACTERS = 1_000


class ErasureState(models.TextChoices):
    """Where an erasure is. Nothing can be undone from the state `running` on."""

    RUNNING = "running", _("Running")
    BLOCKED = "blocked", _("Blocked")
    FINISHED = "finished", _("Finished")


class SubjectErasure(models.Model):
    """The erasure of one subject, by value, because the subject's own data goes with it.

    `whole` are the refs (`memory:<uuid>`) of things that are deleted, `spared` those that are not about the person;
    everywhere else, only the spellings are replaced. `sealed_spellings` is the encrypted JSON list of what is looked
    for; it is emptied at the end. `steps` are the names of the steps that are done, with what each of them found.
    `vectors` are the hashes of the embeddings that were erased. `keys_due` is when the keys of deleted recorded texts
    are destroyed, if the erasure has only to wait for that. `report` says place by place what was found and
    destroyed, and `sha256` is its hash; see `privacy.erasure.report`. The database refuses to delete an erasure, and
    to change one that is finished.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    number = models.PositiveIntegerField(unique=True)
    subject_id = models.UUIDField(db_index=True)
    created = models.DateTimeField(auto_now_add=True)
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True, default="")
    reason = models.CharField(max_length=MAX_ERASURE_REASON_CHARACTERS)
    state = models.CharField(max_length=10, choices=ErasureState.choices, default=ErasureState.RUNNING)
    blocked_because = models.CharField(max_length=500, blank=True, default="")
    job_id = models.UUIDField(null=True)
    whole: Any = models.JSONField(default=list)
    spared: Any = models.JSONField(default=list)
    sealed_spellings = models.TextField(blank=True, default="")
    steps: Any = models.JSONField(default=dict)
    vectors: Any = models.JSONField(default=list)
    report: Any = models.JSONField(null=True)
    keys_due = models.DateTimeField(null=True)
    repeats: Any = models.JSONField(null=True)
    """The `number` and `completed_at` of the erasure that this one repeats in a database that was restored."""
    sha256 = models.BinaryField(max_length=32, null=True)
    completed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subject_erasures"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ErasureState.values), name="subject_erasure_state_known"),
            models.UniqueConstraint(
                fields=["subject_id"], condition=~Q(state=ErasureState.FINISHED), name="subject_erasure_one_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"Erasure {self.number}"


class HoldKind(models.TextChoices):
    """What a legal hold protects: a subject, or everything of a team or an agent."""

    SUBJECT = "subject", _("Subject")
    TEAM = "team", _("Team")
    AGENT = "agent", _("Agent")


class LegalHold(models.Model):
    """A reason why nothing of a subject, a team or an agent may be erased or deleted; in force until it is lifted."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=10, choices=HoldKind.choices)
    target = models.UUIDField()
    reason = models.CharField(max_length=MAX_ERASURE_REASON_CHARACTERS)
    created = models.DateTimeField(auto_now_add=True)
    set_by = models.CharField(max_length=80)
    setter_name = models.CharField(max_length=200, blank=True, default="")
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.CharField(max_length=80, blank=True, default="")
    lifter_name = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "legal_holds"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=HoldKind.values), name="legal_hold_kind_known"),
            models.UniqueConstraint(
                fields=["kind", "target"], condition=Q(lifted_at=None), name="legal_hold_once_at_a_time"
            ),
        ]
