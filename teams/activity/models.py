"""An entry of the activity log, which is never changed, and deleted when its time is over."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from teams.sealing.fields import SealedRecordJson, SealedRecordText

MAX_ACTIVITY_REASON_CHARACTERS = 1_000


class ActivityAction(models.TextChoices):
    """The kinds of administrative acts; a code is the kind of the target, a point and the verb."""

    PERSON_CREATED = "person.created", _("Account created")
    PERSON_CHANGED = "person.changed", _("Account changed")
    PERSON_PASSWORD = "person.password_reset", _("Password reset")
    PERSON_FACTOR = "person.second_factor_removed", _("Second factor removed")
    PERSON_SIGNED_OUT = "person.signed_out", _("Signed out by an admin")
    TEAM_CREATED = "team.created", _("Team created")
    TEAM_CHANGED = "team.changed", _("Team settings changed")
    TEAM_DELETED = "team.deleted", _("Team deleted")
    MEMBER_SET = "member.set", _("Role set")
    MEMBER_REMOVED = "member.removed", _("Member removed")
    ORGANISATION_FILE_CREATED = "organisation_file.created", _("Organisation knowledge created")
    ORGANISATION_FILE_RENAMED = "organisation_file.renamed", _("Organisation knowledge renamed")
    ORGANISATION_FILE_DELETED = "organisation_file.deleted", _("Organisation knowledge deleted")
    AGENT_CREATED = "agent.created", _("Agent created")
    AGENT_CHANGED = "agent.changed", _("Agent settings changed")
    AGENT_JOINED = "agent.team_added", _("Agent added to team")
    AGENT_LEFT = "agent.team_removed", _("Agent removed from team")
    AGENT_DELETED = "agent.deleted", _("Agent deleted")
    KEY_CREATED = "key.created", _("API key created")
    KEY_REVOKED = "key.revoked", _("API key revoked")
    KEY_GRANTED = "key.granted", _("API key access granted")
    KEY_WITHDRAWN = "key.withdrawn", _("API key access withdrawn")
    RETENTION_SET = "retention.set", _("Data retention set")
    RETENTION_CLEARED = "retention.cleared", _("Data retention removed")
    LIMITS_SET = "limits.set", _("Limits set")
    WEBHOOK_CREATED = "webhook.created", _("Webhook created")
    WEBHOOK_CHANGED = "webhook.changed", _("Webhook changed")
    WEBHOOK_SECRET = "webhook.secret_changed", _("Webhook secret changed")
    WEBHOOK_DELETED = "webhook.deleted", _("Webhook deleted")
    SOURCE_CREATED = "source.created", _("External source created")
    SOURCE_CHANGED = "source.changed", _("External source changed")
    SOURCE_DELETED = "source.deleted", _("External source deleted")
    PROFILE_TUNED = "profile.tuning_changed", _("Profile tuning changed")
    PROFILE_DELETED = "profile.deleted", _("Profile deleted")
    PROFILE_WEIGHTS_ON = "profile.weights_on", _("Learned weights switched on")
    PROFILE_WEIGHTS_OFF = "profile.weights_off", _("Learned weights switched off")
    KV_POLICY_SAVED = "kv_policy.saved", _("Storage policy saved")
    KV_POLICY_RESET = "kv_policy.reset", _("Storage policy reset")
    RULE_DELETED = "rule.deleted", _("Rule deleted")
    RECALL_TEST_DELETED = "recall_test.deleted", _("Recall test deleted")
    GUARD_SET = "publication_guard.set", _("Recall tests required for publishing")
    GUARD_REMOVED = "publication_guard.removed", _("Recall tests not required for publishing any more")
    MEMORY_DELETED = "memory.deleted", _("Memory deleted")
    CONFLICT_RESOLVED = "conflict.resolved", _("Conflict resolved")
    CONFLICT_REOPENED = "conflict.reopened", _("Conflict reopened")
    SENSITIVITY_CHANGED = "sensitivity.changed", _("Sensitivity changed")
    SUBJECT_CREATED = "subject.created", _("Subject created")
    SUBJECT_CHANGED = "subject.changed", _("Subject changed")
    SUBJECT_DELETED = "subject.deleted", _("Subject deleted")
    SUBJECT_REVIEWED = "subject.reviewed", _("Mentions of a subject reviewed")
    SUBJECT_RESTRICTED = "subject.restricted", _("Subject restricted")
    SUBJECT_RELEASED = "subject.released", _("Restriction of a subject lifted")
    SUBJECT_CORRECTED = "subject.corrected", _("Data of a subject corrected")
    CORRECTION_UNDONE = "subject.correction_undone", _("Correction of a subject undone")
    SUBJECT_ERASED = "subject.erased", _("Erasure of a subject started")
    LEGAL_HOLD_SET = "legal_hold.set", _("Legal hold set")
    LEGAL_HOLD_LIFTED = "legal_hold.lifted", _("Legal hold lifted")
    EXPORT_DOWNLOADED = "export.downloaded", _("Export downloaded")
    BUNDLE_DOWNLOADED = "bundle.downloaded", _("Audit bundle downloaded")
    IMPORT_BEGUN = "import.begun", _("Import started")


class Activity(models.Model):
    """An entry says who did what to what, when, from where, and why. `detail` has the new values by name, and under
    `before` the old ones; it has neither secrets nor names of teams other than those of `team_ids`.

    `team_ids` are the teams whose admins may read the entry, besides the organisation's admins; a team may be deleted
    since. `about` is the ref of the text whose title the entry has, without its version; empty for all others. If that
    text is above internal, the target and the detail are sealed under the key of the organisation, whose log it is:
    who reads the entry may read the text.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=80)
    """The ref of the principal, such as person:<id>."""
    actor_name = models.CharField(max_length=120, blank=True)
    action = models.CharField(max_length=40, choices=ActivityAction.choices)
    target = SealedRecordText(max_length=200, blank=True)
    """The name of what was changed."""
    team_ids = ArrayField(models.UUIDField(), default=list)
    detail: Any = SealedRecordJson(default=dict)
    about = models.CharField(max_length=80, blank=True, default="", db_default="")
    address = models.CharField(max_length=45, blank=True, null=True)  # noqa: DJ001 - unknown is not empty
    """The IP address of the client; empty for an act by a job or a command, None in entries from before there were
    addresses.
    """
    reason = models.CharField(max_length=MAX_ACTIVITY_REASON_CHARACTERS, blank=True, default="", db_default="")
    """Why, where a reason is demanded; else empty."""

    sealed_for: UUID | None = None
    """The owner of the key under which a new entry is sealed; None if it is not."""

    class Meta:
        db_table = "activities"
        ordering: ClassVar[list[str]] = ["-created", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created", "-id"], name="activities_newest"),
            GinIndex(fields=["team_ids"], name="activities_of_teams"),
            models.Index(fields=["about"], name="activities_about", condition=~models.Q(about="")),
        ]
