"""A subject is a person about whom things are stored; a mention is a stored thing that names this person.

Names and identifiers of a subject are in these tables, and in those of corrections, alone: the activity log, jobs and
addresses have ids.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

MAX_SUBJECT_NAME_CHARACTERS = 200
MAX_SUBJECT_NOTE_CHARACTERS = 2_000
MAX_IDENTIFIER_CHARACTERS = 200
MAX_IDENTIFIERS = 50


class SubjectKind(models.TextChoices):
    """How the organisation has to do with the person."""

    CUSTOMER = "customer", _("Customer")
    VISITOR = "visitor", _("Visitor")
    COLLEAGUE = "colleague", _("Colleague")
    OTHER = "other", _("Other")


class IdentifierKind(models.TextChoices):
    """What an identifier is, which determines the spellings under which it is found."""

    NAME = "name", _("Name")
    EMAIL = "email", _("E-mail")
    PHONE = "phone", _("Phone")
    IBAN = "iban", _("IBAN")
    NATIONAL_ID = "national_id", _("National identity number")
    CUSTOMER_NUMBER = "customer_number", _("Customer number")
    USERNAME = "username", _("User name")
    OTHER = "other", _("Other")


class MentionStatus(models.TextChoices):
    """A mention is found by a scan; a person links it to the subject, or dismisses it."""

    FOUND = "found", _("To review")
    LINKED = "linked", _("Linked")
    DISMISSED = "dismissed", _("Not about them")


class Subject(models.Model):
    """A person. The current state is a row that changes; every saved state is a SubjectVersion.

    While `restricted_at` is set, no context and no search of an agent has what is linked. `erased_at` is set by the
    erasure, which leaves the row without the person's data.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=MAX_SUBJECT_NAME_CHARACTERS)
    kind = models.CharField(max_length=10, choices=SubjectKind.choices, default=SubjectKind.CUSTOMER)
    note = models.TextField(max_length=MAX_SUBJECT_NOTE_CHARACTERS, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=80)
    creator_name = models.CharField(max_length=200, blank=True, default="")
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.CharField(max_length=80)
    updater_name = models.CharField(max_length=200, blank=True, default="")
    restricted_at = models.DateTimeField(null=True)
    restricted_by = models.CharField(max_length=80, blank=True, default="")
    restricter_name = models.CharField(max_length=200, blank=True, default="")
    scanned_at = models.DateTimeField(null=True)
    """When the last finished scan began: what changed since is not searched yet."""
    erased_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subjects"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SubjectKind.values), name="subject_kind_known"),
            models.CheckConstraint(condition=Q(version__gte=1), name="subject_version_from_1"),
        ]
        indexes = [models.Index(fields=["name", "id"], name="subject_by_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        """The ref of the current version, like `subject:<uuid>@2`."""
        return f"subject:{self.id}@{self.version}"

    @property
    def is_restricted(self) -> bool:
        """Whether what is linked is withheld from contexts and searches."""
        return self.restricted_at is not None


class SubjectVersion(models.Model):
    """One saved state of a subject. `identifiers` is a list of objects with `kind` and `value`."""

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(Subject, models.DO_NOTHING, db_constraint=False, related_name="versions")
    version = models.PositiveIntegerField()
    name = models.CharField(max_length=MAX_SUBJECT_NAME_CHARACTERS)
    kind = models.CharField(max_length=10)
    note = models.TextField(blank=True, default="")
    identifiers: Any = models.JSONField(default=list)
    restricted = models.BooleanField(default=False)
    by_ref = models.CharField(max_length=80)
    by_name = models.CharField(max_length=200, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "subject_versions"
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["subject", "version"], name="subject_version_once")]


class SubjectIdentifier(models.Model):
    """Something that identifies the subject. `normalised` is equal for all spellings of the same value."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(
        Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="identifiers"
    )
    kind = models.CharField(max_length=20, choices=IdentifierKind.choices)
    value = models.CharField(max_length=MAX_IDENTIFIER_CHARACTERS)
    normalised = models.CharField(max_length=MAX_IDENTIFIER_CHARACTERS)

    class Meta:
        db_table = "subject_identifiers"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=IdentifierKind.values), name="subject_identifier_kind_known"),
            models.UniqueConstraint(fields=["subject", "kind", "normalised"], name="subject_identifier_once"),
        ]
        indexes = [models.Index(fields=["normalised"], name="subject_identifier_normalised")]

    def __str__(self) -> str:
        return self.value


class SubjectMention(models.Model):
    """A stored thing whose texts name the subject; `ref_kind` is the prefix of its refs, as in memory:<uuid>.

    `spellings` are the strings that were found in any version or draft of its texts, as they are written there.
    `pieces` are the ids of the pieces with these spellings that recorded contexts considered, and `contexts` is the
    number of contexts that included one of them, as of the last scan. A mention of kind `context` is a recorded context
    that names the subject itself: in its topic, or in something that is stored with it alone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(
        Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="mentions"
    )
    ref_kind = models.CharField(max_length=20)
    thing = models.UUIDField()
    agent_id = models.UUIDField(null=True)
    team_id = models.UUIDField(null=True)
    spellings = ArrayField(models.TextField(), default=list)
    status = models.CharField(max_length=10, choices=MentionStatus.choices, default=MentionStatus.FOUND)
    pieces = ArrayField(models.BigIntegerField(), default=list)
    contexts = models.PositiveIntegerField(default=0)
    scan = models.UUIDField(null=True)
    """The last scan that found it. What a scan of everything does not find again is deleted, unless it is decided."""
    found_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=80, blank=True, default="")
    decider_name = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "subject_mentions"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=MentionStatus.values), name="subject_mention_status_known"),
            models.UniqueConstraint(fields=["subject", "thing"], name="subject_mention_once"),
        ]
        indexes = [
            models.Index(fields=["subject", "status", "ref_kind", "id"], name="subject_mention_reviewed"),
            models.Index(fields=["thing"], name="subject_mention_of_thing"),
        ]

    @property
    def about(self) -> str:
        """The ref of the thing without a version."""
        return f"{self.ref_kind}:{self.thing}"


class WithheldThing(models.Model):
    """A thing whose sensitivity is withheld because a subject is restricted, and the sensitivity that it had before.

    It is linked to the subject, or a part of a linked thing.
    """

    id = models.BigAutoField(primary_key=True)
    subject = models.ForeignKey(
        Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="withheld_things"
    )
    table_name = models.CharField(max_length=40)
    thing = models.UUIDField()
    former_sensitivity = models.SmallIntegerField()

    class Meta:
        db_table = "withheld_things"
        constraints = [models.UniqueConstraint(fields=["subject", "thing"], name="withheld_thing_once")]
        indexes = [models.Index(fields=["thing"], name="withheld_thing_of_subjects")]
