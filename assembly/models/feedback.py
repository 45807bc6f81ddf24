"""Feedback on contexts, their measured quality, and the tunings of profiles that follow from both are stored here."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from assembly.models.proposal import MAX_NOTE_CHARACTERS

MAX_REF_CHARACTERS = 160
UNIT = (0, 1)


class AssemblyFeedback(models.Model):
    """What somebody said about a context: measures of 0 to 1, and refs of items that helped or that did not.

    It is deleted only together with its context. `moved_memories` are the ids of the memories whose credibility it
    moved; None in rows that are older than the column.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    assembly = models.UUIDField()
    given_by = models.CharField(max_length=80)
    giver_name = models.CharField(max_length=200, blank=True)
    coherence = models.FloatField(null=True)
    completeness = models.FloatField(null=True)
    contradiction_rate = models.FloatField(null=True)
    satisfaction = models.FloatField(null=True)
    used = ArrayField(models.CharField(max_length=MAX_REF_CHARACTERS), default=list)
    useless = ArrayField(models.CharField(max_length=MAX_REF_CHARACTERS), default=list)
    note = models.CharField(max_length=MAX_NOTE_CHARACTERS, blank=True, default="")
    moved_memories = ArrayField(models.UUIDField(), null=True)

    class Meta:
        db_table = "assembly_feedback"
        indexes = [models.Index(fields=["assembly", "created"], name="feedback_of_assembly")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    coherence__range=UNIT, completeness__range=UNIT, contradiction_rate__range=UNIT,
                    satisfaction__range=UNIT,
                ),
                name="feedback_unit_ranges",
            ),
        ]  # fmt: skip


class AssemblyQuality(models.Model):
    """The measured quality of a context for an agent, by which profiles are tuned. Deleted together with its context.

    An answer from the cache has no row but that of its first record. `profile_name` is that of the context; None: not
    known (see `assembly.engine.quality`).
    """

    assembly = models.UUIDField(primary_key=True)
    profile_name = models.CharField(max_length=60)
    source_coverage = models.FloatField()
    completeness = models.FloatField()
    contradiction_rate = models.FloatField()
    coherence_score = models.FloatField(null=True)
    quality_achieved = models.FloatField(null=True)

    class Meta:
        db_table = "assembly_quality"
        indexes = [models.Index(fields=["profile_name", "-assembly"], name="quality_of_profile")]


class TuningChange(models.TextChoices):
    """What changed a tuning."""

    CONTRADICTIONS = "contradictions", "Too many contradictions"
    CLEAN = "clean", "No more contradictions"
    COMPLETENESS = "completeness", "Named entities were missing"
    COHERENCE = "coherence", "Items did not fit together"
    RESET = "reset", "Reset"
    OFF = "off", "Switched off"
    ON = "on", "Switched on"


class ProfileTuning(models.Model):
    """A version of the tuning of a profile: the values after a change, and the change.

    `conflict_sensitivity` and `entity_share` are factors, `coherence_weight` is what is added to the weight, as a share
    of all weights. `before` and `after` are the values of the changed parameter; `mean` is the mean over the contexts
    in `evidence` that led to the change. An admin's change has none of these.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    profile_name = models.CharField(max_length=60)
    version = models.PositiveIntegerField()
    change = models.CharField(max_length=20, choices=TuningChange.choices)
    is_on = models.BooleanField()
    conflict_sensitivity = models.FloatField()
    entity_share = models.FloatField()
    coherence_weight = models.FloatField()
    before = models.FloatField(null=True)
    after = models.FloatField(null=True)
    mean = models.FloatField(null=True)
    evidence = ArrayField(models.UUIDField(), default=list)
    changed_by = models.CharField(max_length=80)
    changer_name = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "profile_tunings"
        constraints = [
            models.UniqueConstraint(fields=["profile_name", "version"], name="tuning_version_once"),
            models.CheckConstraint(condition=models.Q(change__in=TuningChange.values), name="tuning_change_known"),
            models.CheckConstraint(
                condition=models.Q(conflict_sensitivity__range=(1, 2), entity_share__range=(1, 2)),
                name="tuning_within_bounds",
            ),
        ]


class TuningWindow(models.Model):
    """The place where the next window of a profile begins: after this id, of the last context that was evaluated, or of
    the moment of the last change.
    """

    profile_name = models.CharField(max_length=60, primary_key=True)
    assembly = models.UUIDField()

    class Meta:
        db_table = "tuning_windows"
