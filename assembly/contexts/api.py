"""These REST endpoints create, list, read, replay and extend assemblies."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from assembly.access import assembly_for
from assembly.contexts.documents import assembly_document, decision_document, summary_documents
from assembly.contexts.search.parameters import PARAMETERS, Parameter, require_context_query
from assembly.contexts.search.search import search_contexts
from assembly.contexts.search.sql import parse_cursor
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.contexts.serializers import (
    AppendSerializer,
    AssemblyRequestSerializer,
    AssemblySerializer,
    AssemblySummarySerializer,
    DecisionSerializer,
    ReplaySerializer,
    to_assembly_request,
)
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.append_event import assembly_append
from assembly.pipeline.services import assemble
from assembly.records.reader import content_of, load_record, replay
from config.http.cursors import encode_cursor, limit_of, next_page_url, page_of_sequence
from config.http.idempotency import idempotent
from config.http.late_reads import may_be_late
from config.http.openapi import LOCATION, PAGE
from teams.access import team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action


def created_response(answer: AssemblyResult) -> Response:
    """Return the response to a request that created an assembly: 201 with its document and location."""
    location = f"/api/v1/assemblies/{answer.assembly.id}"
    return Response(assembly_document(answer), status.HTTP_201_CREATED, headers={"Location": location})


def filter_parameter(name: str, parameter: Parameter) -> OpenApiParameter:
    """Return a filter of the list of assemblies as an OpenAPI parameter."""
    return OpenApiParameter(name, dict(parameter.schema), description=parameter.description)


class AssemblyList(ApiView):
    @extend_schema(
        operation_id="assemblies_list",
        summary="List assemblies",
        parameters=[*(filter_parameter(name, parameter) for name, parameter in PARAMETERS.items()), *PAGE],
        responses=page_serializer(AssemblySummarySerializer),
    )
    @may_be_late
    def get(self, request: Request) -> Response:
        """Return the assemblies that you may see, newest first. A page may have fewer rows than its limit: continue
        while `next` is given.
        """
        query = self.query(*PARAMETERS, "cursor", "limit")
        visible = VisibleOwners(self.principal)
        wanted, limit = require_context_query(query, visible), limit_of(query.get("limit", ""))
        page = search_contexts(visible=visible, wanted=wanted, after=parse_cursor(query.get("cursor", "")), limit=limit)
        following = next_page_url(request.path, query, encode_cursor(page.next)) if page.next else None
        return Response({"results": summary_documents(page.contexts), "next": following})

    @extend_schema(
        parameters=[LOCATION],
        operation_id="assemblies_create",
        summary="Assemble context",
        request=AssemblyRequestSerializer,
        responses={201: AssemblySerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Assemble the best context that fits the token budget, and record it."""
        self.query()
        data = self.validated(AssemblyRequestSerializer)
        agent: Agent = agent_for(self.principal, data.pop("agent"), Action.READ)
        slug = data.pop("team")
        team = team_for(self.principal, slug) if slug is not None else None
        return created_response(
            assemble(agent=agent, team=team, asked=to_assembly_request(data), principal=self.principal)
        )


class AssemblyDetail(ApiView):
    @extend_schema(operation_id="assemblies_read", summary="Get assembly", responses=AssemblySerializer)
    @may_be_late
    def get(self, request: Request, id_: UUID) -> Response:
        """Return an assembly as it was returned at first, rebuilt from its record."""
        self.query()
        told = load_record(assembly_for(self.principal, id_))
        return Response(assembly_document(AssemblyResult(told.assembly, content_of(told), told.decisions)))


class AssemblyDecisions(ApiView):
    @extend_schema(
        operation_id="assemblies_decisions",
        summary="List decisions of assembly",
        parameters=PAGE,
        responses=page_serializer(DecisionSerializer),
    )
    @may_be_late
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the decision about each candidate item with its reason, in the order in which the engine decided."""
        query = self.query("cursor", "limit")
        told = load_record(assembly_for(self.principal, id_))
        sections = {section.key: section for section in told.inputs.profile.sections}
        found, cursor = page_of_sequence([*enumerate(told.decided)], query)
        documents = [decision_document(one, place, sections[one.section], item) for place, (one, item) in found]
        return Response({"results": documents, "next": next_page_url(request.path, query, cursor)})


class AssemblyReplay(ApiView):
    @extend_schema(
        operation_id="assemblies_replay",
        summary="Verify assembly by replaying its record",
        request=None,
        responses=ReplaySerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Assemble the context again from its record alone, and compare both byte for byte."""
        self.query()
        result = replay(load_record(assembly_for(self.principal, id_)))
        return Response({"identical": result.identical, "sha256": result.sha256})


class AssemblyAppend(ApiView):
    @extend_schema(
        parameters=[LOCATION],
        operation_id="assemblies_append",
        summary="Append event to context",
        request=AppendSerializer,
        responses={201: AssemblySerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Create an assembly with an event at the beginning of a finished context. Where the budget is exceeded, the
        items with the lowest rank are excluded."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        agent = agent_for(self.principal, assembly.agent_slug, Action.WRITE)
        wishes = self.validated(AppendSerializer)
        facts, event_id = wishes.get("event"), wishes.get("event_id")
        return created_response(
            assembly_append(assembly=assembly, agent=agent, facts=facts, event_id=event_id, principal=self.principal)
        )
