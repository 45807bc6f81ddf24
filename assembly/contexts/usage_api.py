"""This REST endpoint lists the assemblies that considered a memory."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.engine.codes import DECISION_CODES
from assembly.models import Assembly, AssemblyFeedback
from assembly.records.feedback import ItemState, feedback_by_assembly, item_state
from assembly.records.usage import MemoryUse, memory_uses
from config.http.cursors import next_page_url, page_of
from config.http.late_reads import may_be_late
from config.http.openapi import PAGE
from memories.api.memories import FindOwner, memory_for
from teams.access import team_for
from teams.api.view import ApiView
from teams.principal import Action


class MemoryUseSerializer(serializers.Serializer[Any]):
    assembly_id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    included = serializers.BooleanField(help_text="Whether the memory is in its content.")
    ref = serializers.CharField(help_text="With the version that was considered.")
    code = serializers.ChoiceField(choices=DECISION_CODES)
    state = serializers.ChoiceField(
        choices=[str(state) for state in ItemState],
        help_text="How far it got: a candidate, included, said to be used, said to have helped.",
    )


class MemoryUsesSerializer(serializers.Serializer[Any]):
    included_count = serializers.IntegerField(help_text="Number of visible assemblies whose content includes it.")
    excluded_count = serializers.IntegerField(help_text="Number of visible assemblies that excluded it.")
    results = MemoryUseSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class MemoryUses(ApiView):
    find: FindOwner = staticmethod(team_for)

    @extend_schema(parameters=PAGE, responses=MemoryUsesSerializer)
    @may_be_late
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return the newest 1,000 assemblies that you may see and that considered any version of the memory."""
        query = self.query("cursor", "limit")
        memory = memory_for(self.find(self.principal, slug, Action.READ), id_)
        uses = memory_uses(memory, self.principal)
        found, cursor = page_of(uses.contexts, query)
        decided = uses.decisions_by_context(found)
        said = feedback_by_assembly([context.id for context in found])
        documents = [use_document(context, decided[context.id], said.get(context.id, ())) for context in found]
        following = next_page_url(request.path, query, cursor)
        return Response(
            {"included_count": uses.told, "excluded_count": uses.left_out, "results": documents, "next": following}
        )


def use_document(context: Assembly, use: MemoryUse, said: Iterable[AssemblyFeedback]) -> dict[str, Any]:
    """Return a context as JSON values with its decision about the memory, and what became of it by the feedback."""
    return {
        "assembly_id": context.id,
        "created_at": context.created,
        "agent": context.agent_slug,
        "team": context.team_slug or None,
        "topic": context.topic,
        "included": use.told,
        "ref": use.ref,
        "code": use.code,
        "state": str(item_state(use.ref, said, is_included=use.told)),
    }
