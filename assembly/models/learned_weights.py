"""Learned weights are versions of a profile's priority weights, which were fitted to feedback.

Both tables are append-only: a version is switched on and off by later rows with the same number.
"""

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7


class LearnedWeights(models.Model):
    """One row is a version when it was learned (`proposed`), or when it was switched on or off.

    The profile is stored by name and version, so that the row outlives it. `own_weights` are the weights of the
    profile's text, `weights` the learned ones, both by measure. `contexts` is the number of contexts that were fitted,
    `held_out` the number of others, on which the recall of used items, 0 to 1, was measured with both weights.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        ON = "on", "On"
        OFF = "off", "Off"

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    profile = models.CharField(max_length=60)
    profile_version = models.PositiveIntegerField()
    version = models.PositiveIntegerField()
    """The number of the learned weights among those of the profile's name, from 1."""
    state = models.CharField(max_length=10, choices=State.choices)
    own_weights = models.JSONField()
    weights = models.JSONField()
    contexts = models.PositiveIntegerField()
    held_out = models.PositiveIntegerField()
    recall_before = models.FloatField(null=True)
    recall_after = models.FloatField(null=True)
    by_ref = models.CharField(max_length=80)
    by_name = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "learned_weights"
        indexes = [models.Index(fields=["profile", "-created", "-id"], name="learned_weights_newest")]
        constraints = [
            models.UniqueConstraint(
                fields=["profile", "version"], condition=Q(state="proposed"), name="learned_weights_version_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "on", "off"]), name="learned_weights_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.profile} {self.version} {self.state}"


class ShadowReport(models.Model):
    """The result of a shadow run of learned weights: what they would have changed in the newest contexts.

    `measured` contexts, which need not be among those, have feedback and were not trained on; the recalls are those of
    their used items, 0 to 1; None: there were none. `detail` holds the counts and the contexts that differ, as
    `assembly.learned_weights.shadow_run` writes them.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    profile = models.CharField(max_length=60)
    version = models.PositiveIntegerField()
    contexts = models.PositiveIntegerField()
    measured = models.PositiveIntegerField()
    recall_before = models.FloatField(null=True)
    recall_after = models.FloatField(null=True)
    detail = models.JSONField()

    class Meta:
        db_table = "learned_weight_reports"
        indexes = [models.Index(fields=["profile", "version", "-created"], name="shadow_report_newest")]

    def __str__(self) -> str:
        return f"{self.profile} {self.version}"

    @property
    def gain(self) -> float | None:
        """The recall after minus the recall before; None if nothing was measured."""
        if self.recall_before is None or self.recall_after is None:
            return None
        return self.recall_after - self.recall_before
