"""The documents of the endpoints of erasures and legal holds."""

from typing import Any

from rest_framework import serializers

from config.http.serializers import ExactText, StrictSerializer
from privacy.erasure.services import ErasurePlan
from privacy.models import ErasureState, HoldKind, LegalHold, SubjectErasure
from privacy.models.erasure import MAX_ERASURE_REASON_CHARACTERS
from teams.api.serializers import ActorSerializer, actor_document

MAX_CHOSEN = 10_000


class ErasureWriteSerializer(StrictSerializer):
    subject = serializers.UUIDField()
    reason = ExactText(max_length=MAX_ERASURE_REASON_CHARACTERS, help_text="Stays in the report; without the name.")
    whole = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=MAX_CHOSEN,
        help_text="Mentions whose things are deleted. Default: memories, events, entities and relations.",
    )
    expected_mentions = serializers.IntegerField(
        min_value=0, help_text="Number of linked mentions that you have seen; another number is refused."
    )


class ErasureSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    subject = serializers.UUIDField()
    state = serializers.ChoiceField(choices=ErasureState.values)
    blocked_because = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()
    requested_by = ActorSerializer()
    created_at = serializers.DateTimeField()
    keys_due_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the keys of deleted recorded texts are destroyed, if the erasure has only to wait for that.",
    )
    completed_at = serializers.DateTimeField(allow_null=True)
    sha256 = serializers.CharField(allow_blank=True, help_text="Of the report as canonical JSON, which a seal holds.")
    report = serializers.DictField(allow_null=True)
    repeats = serializers.DictField(
        allow_null=True,
        help_text="Number and completion of the erasure that it repeats, because an older backup was restored.",
    )


class PlannedMentionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    ref = serializers.CharField()
    whole = serializers.BooleanField()
    may_be_whole = serializers.BooleanField()


class ErasurePlanSerializer(serializers.Serializer[Any]):
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Linked things by kind.")
    mentions = PlannedMentionSerializer(many=True)
    unreviewed = serializers.IntegerField()
    spellings = serializers.IntegerField()
    hold = serializers.UUIDField(allow_null=True)


class HoldWriteSerializer(StrictSerializer):
    kind = serializers.ChoiceField(choices=HoldKind.values)
    target = serializers.UUIDField(help_text="The id of the subject, team or agent.")
    reason = ExactText(max_length=MAX_ERASURE_REASON_CHARACTERS)


class HoldSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=HoldKind.values)
    target = serializers.UUIDField()
    reason = serializers.CharField()
    set_by = ActorSerializer()
    created_at = serializers.DateTimeField()
    lifted_at = serializers.DateTimeField(allow_null=True)


def erasure_document(erasure: SubjectErasure) -> dict[str, Any]:
    """Return the erasure as a JSON-safe document."""
    return {
        "id": erasure.id,
        "number": erasure.number,
        "subject": erasure.subject_id,
        "state": erasure.state,
        "blocked_because": erasure.blocked_because,
        "reason": erasure.reason,
        "requested_by": actor_document(erasure.requested_by, erasure.requester_name),
        "created_at": erasure.created,
        "keys_due_at": erasure.keys_due,
        "completed_at": erasure.completed_at,
        "sha256": bytes(erasure.sha256 or b"").hex(),
        "report": erasure.report,
        "repeats": erasure.repeats,
    }


def plan_document(plan: ErasurePlan) -> dict[str, Any]:
    """Return what an erasure would do as a JSON-safe document."""
    mentions = [
        {"id": one.mention.id, "ref": one.mention.about, "whole": one.is_whole, "may_be_whole": one.may_be_whole}
        for one in plan.mentions
    ]
    hold = plan.hold.id if plan.hold else None
    return {
        "counts": plan.counts,
        "mentions": mentions,
        "unreviewed": plan.unreviewed,
        "spellings": plan.spellings,
        "hold": hold,
    }


def hold_document(hold: LegalHold) -> dict[str, Any]:
    """Return the hold as a JSON-safe document."""
    return {
        "id": hold.id,
        "kind": hold.kind,
        "target": hold.target,
        "reason": hold.reason,
        "set_by": actor_document(hold.set_by, hold.setter_name),
        "created_at": hold.created,
        "lifted_at": hold.lifted_at,
    }
