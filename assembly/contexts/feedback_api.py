"""This REST endpoint takes feedback on an assembly, and lists it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.models import AssemblyFeedback
from assembly.models.feedback import MAX_REF_CHARACTERS
from assembly.models.proposal import MAX_NOTE_CHARACTERS
from assembly.records.feedback import MAX_REFS, FeedbackFacts, GivenFeedback, feedback_create, feedback_of
from config.http.idempotency import idempotent
from config.http.openapi import PAGE
from config.http.serializers import ExactText, Fraction, StrictSerializer
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView


def _refs(help_text: str) -> serializers.ListField:
    child = ExactText(max_length=MAX_REF_CHARACTERS)
    return serializers.ListField(child=child, max_length=MAX_REFS, required=False, help_text=help_text)


class FeedbackCreateSerializer(StrictSerializer):
    coherence = Fraction(required=False, help_text="How well the items fitted together.")
    completeness = Fraction(required=False, help_text="How much of what was needed was included.")
    contradiction_rate = Fraction(required=False, help_text="Share of the items that contradicted each other.")
    satisfaction = Fraction(required=False, help_text="How well the context served. From 0.5 on, used items helped.")
    used = _refs("Refs of included items that were used, with or without version.")
    useless = _refs("Refs of included items that were of no use.")
    note = ExactText(max_length=MAX_NOTE_CHARACTERS, required=False, allow_blank=True)


class ListedFeedbackSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    assembly_id = serializers.UUIDField()
    given_by = ActorSerializer()
    coherence = serializers.FloatField(allow_null=True)
    completeness = serializers.FloatField(allow_null=True)
    contradiction_rate = serializers.FloatField(allow_null=True)
    satisfaction = serializers.FloatField(allow_null=True)
    used = serializers.ListField(child=serializers.CharField(), help_text="With versions.")
    useless = serializers.ListField(child=serializers.CharField(), help_text="With versions.")
    note = serializers.CharField()


class FeedbackSerializer(ListedFeedbackSerializer):
    credibilities = serializers.DictField(
        child=serializers.FloatField(), help_text="Memories of which the credibility moved: the new values by id."
    )


def listed_feedback_document(feedback: AssemblyFeedback) -> dict[str, Any]:
    """Return stored feedback as JSON values."""
    names = ("id", "coherence", "completeness", "contradiction_rate", "satisfaction", "used", "useless", "note")
    facts = {
        **{name: getattr(feedback, name) for name in names},
        "created_at": feedback.created,
        "assembly_id": feedback.assembly,
        "given_by": actor_document(feedback.given_by, feedback.giver_name),
    }
    return dict(ListedFeedbackSerializer(facts).data)


def feedback_document(given: GivenFeedback) -> dict[str, Any]:
    """Return new feedback as JSON values, with the credibilities that it moved."""
    moved = {str(id_): value for id_, value in given.credibilities.items()}
    return {**listed_feedback_document(given.feedback), "credibilities": moved}


class AssemblyFeedbackList(ApiView):
    @extend_schema(
        operation_id="assemblies_feedback_list",
        summary="List feedback on assembly",
        parameters=PAGE,
        responses=page_serializer(ListedFeedbackSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the feedback on an assembly that you may read, newest first."""
        return self.page(feedback_of(assembly_for(self.principal, id_)), listed_feedback_document)

    @extend_schema(
        operation_id="assemblies_feedback",
        summary="Give feedback on assembly",
        request=FeedbackCreateSerializer,
        responses={201: FeedbackSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Say what the assembly was worth. For its agent's key, and for people who may write for its agent and team."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        facts = FeedbackFacts(**self.validated(FeedbackCreateSerializer))
        given = feedback_create(assembly=assembly, facts=facts, principal=self.principal)
        return Response(feedback_document(given), status.HTTP_201_CREATED)
