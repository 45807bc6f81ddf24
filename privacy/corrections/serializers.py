"""The documents of the endpoints of corrections."""

from typing import Any

from rest_framework import serializers

from config.http.serializers import Line, StrictSerializer
from privacy.corrections.correction_plan import MAX_PLANNED, CorrectionPlan, PlannedThing
from privacy.models import CorrectionResult, CorrectionStatus, IdentifierKind, SubjectCorrection
from privacy.models.correction import MAX_CORRECTION_REASON_CHARACTERS
from privacy.models.subject import MAX_IDENTIFIER_CHARACTERS
from privacy.subjects.serializers import IdentifierSerializer
from privacy.subjects.stored_texts import THING_KIND_NAMES
from teams.api.serializers import ActorSerializer, actor_document
from teams.sensitivity import LEVEL_NAMES

MAX_REF_CHARACTERS = 120


class CorrectionValueSerializer(StrictSerializer):
    kind = serializers.ChoiceField(choices=IdentifierKind.values, help_text="How the wrong value may be spelt.")
    wrong = Line(max_length=MAX_IDENTIFIER_CHARACTERS)
    right = Line(max_length=MAX_IDENTIFIER_CHARACTERS)


class CorrectionWriteSerializer(CorrectionValueSerializer):
    reason = Line(max_length=MAX_CORRECTION_REASON_CHARACTERS, help_text="It is in the notes of the new versions.")
    things = serializers.ListField(
        child=Line(max_length=MAX_REF_CHARACTERS),
        required=False,
        default=list,
        max_length=MAX_PLANNED,
        help_text="The refs of the plan that are to be corrected, as memory:<uuid>@3.",
    )


class CorrectionUndoSerializer(StrictSerializer):
    things = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MAX_PLANNED)


class SentenceChangeSerializer(serializers.Serializer[Any]):
    before = serializers.CharField()
    after = serializers.CharField()


class PlannedThingSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField(help_text="With the version that was read.")
    kind = serializers.ChoiceField(choices=THING_KIND_NAMES)
    title = serializers.CharField()
    owner = serializers.CharField(help_text="The agent or team; empty for the organisation.", allow_blank=True)
    sensitivity = serializers.ChoiceField(choices=LEVEL_NAMES)
    places = serializers.IntegerField(help_text="How often the wrong value stands in it.")
    sentences = SentenceChangeSerializer(many=True, help_text="The first three.")


class CorrectionPlanSerializer(serializers.Serializer[Any]):
    things = PlannedThingSerializer(many=True)
    has_more = serializers.BooleanField(help_text="Whether more than these 500 have it.")
    identifiers = IdentifierSerializer(many=True, help_text="Those of the subject that are corrected with it.")
    drafts = serializers.IntegerField(help_text="Unpublished texts with it, which their authors correct.")


class CorrectionResultSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=THING_KIND_NAMES)
    thing = serializers.UUIDField()
    status = serializers.ChoiceField(choices=CorrectionStatus.values)
    version_before = serializers.IntegerField(help_text="The version that was chosen.")
    version = serializers.IntegerField(allow_null=True, help_text="The new one; of a changed thing, its newest.")
    places = serializers.IntegerField()
    detail = serializers.CharField(allow_blank=True, help_text="Why it was refused.")


class RecipientSerializer(serializers.Serializer[Any]):
    agent = serializers.UUIDField()
    name = serializers.CharField()
    contexts = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class ToldSerializer(serializers.Serializer[Any]):
    contexts = serializers.IntegerField(help_text="Recorded contexts that told the wrong value.")
    recipients = RecipientSerializer(many=True, help_text="The agents that got them.")


class CorrectionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=IdentifierKind.values)
    wrong = serializers.CharField()
    right = serializers.CharField()
    reason = serializers.CharField()
    was_identifier = serializers.BooleanField(help_text="Whether an identifier of the subject was corrected, too.")
    chosen = serializers.IntegerField(help_text="How many things were chosen.")
    results = CorrectionResultSerializer(many=True, help_text="Of those that are dealt with.")
    told = ToldSerializer(allow_null=True, help_text="null: not counted yet.")
    job = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    requested_by = ActorSerializer()
    finished_at = serializers.DateTimeField(allow_null=True)


def plan_document(plan: CorrectionPlan) -> dict[str, Any]:
    """Return what a correction would change as the API shows it."""
    return {
        "things": [_planned_document(planned) for planned in plan.things],
        "has_more": plan.has_more,
        "identifiers": [{"kind": kind, "value": value} for kind, value in plan.identifiers],
        "drafts": plan.drafts,
    }


def _planned_document(planned: PlannedThing) -> dict[str, Any]:
    return {
        "ref": planned.ref,
        "kind": planned.thing.kind.name,
        "title": planned.thing.title,
        "owner": planned.thing.owner,
        "sensitivity": planned.thing.row.level.word,
        "places": planned.places,
        "sentences": [sentence.document() for sentence in planned.sentences],
    }


def correction_document(correction: SubjectCorrection) -> dict[str, Any]:
    """Return a correction as the API shows it; its results are loaded, or one query more."""
    return {
        "id": correction.id,
        "kind": correction.kind,
        "wrong": correction.wrong,
        "right": correction.right,
        "reason": correction.reason,
        "was_identifier": correction.was_identifier,
        "chosen": len(correction.chosen),
        "results": [_result_document(result) for result in correction.results.all()],
        "told": correction.told,
        "job": correction.job_id,
        "created_at": correction.created,
        "requested_by": actor_document(correction.requested_by, correction.requester_name),
        "finished_at": correction.finished_at,
    }


def _result_document(result: CorrectionResult) -> dict[str, Any]:
    return {
        "kind": result.ref_kind,
        "thing": result.thing,
        "status": result.status,
        "version_before": result.version_before,
        "version": result.version,
        "places": result.places,
        "detail": result.detail,
    }
