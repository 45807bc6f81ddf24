"""REST: assembling, reading what was assembled, replaying it."""

from functools import partial
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from assembly.access import assembly_for
from assembly.api.documents import assembly_document, decision_document, summary_document
from assembly.api.serializers import (
    AssemblyRequestSerializer,
    AssemblySerializer,
    AssemblySummarySerializer,
    DecisionSerializer,
    ReplaySerializer,
)
from assembly.models import Assembly
from assembly.replay import content_of, replay
from assembly.service import assemble
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION, PAGE
from teams.access import Action, team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView


class AssemblyList(ApiView):
    @extend_schema(
        operation_id="assemblies_list",
        parameters=[
            OpenApiParameter("agent", str, description="Only of the agent with this slug."),
            OpenApiParameter("team", str, description="Only of the team with this slug."),
            *PAGE,
        ],
        responses=page_serializer(AssemblySummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """The assemblies that you may see, newest first."""
        query = self.query("agent", "team", "cursor", "limit")
        assemblies = Assembly.objects.visible_to(self.principal)
        if "agent" in query:
            assemblies = assemblies.filter(agent_slug=query["agent"])
        if "team" in query:
            assemblies = assemblies.filter(team_slug=query["team"])
        return self.page(assemblies, summary_document, query=query)

    @extend_schema(
        parameters=[LOCATION],
        operation_id="assemblies_create",
        request=AssemblyRequestSerializer,
        responses={201: AssemblySerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Assemble the best context that fits the budget, and record it."""
        self.query()
        data = self.validated(AssemblyRequestSerializer)
        agent: Agent = agent_for(self.principal, data.pop("agent"), Action.READ)
        slug = data.pop("team")
        team = team_for(self.principal, slug) if slug is not None else None
        assembly, content = assemble(agent=agent, team=team, principal=self.principal, **data)
        document = assembly_document(assembly, list(assembly.decisions.order_by("position")), content)
        return Response(document, status.HTTP_201_CREATED, headers={"Location": f"/api/v1/assemblies/{assembly.id}"})


class AssemblyDetail(ApiView):
    @extend_schema(operation_id="assemblies_read", responses=AssemblySerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """An assembly as it was returned, rebuilt from its record."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        decisions = list(assembly.decisions.order_by("position"))
        return Response(assembly_document(assembly, decisions, content_of(assembly, decisions)))


class AssemblyDecisions(ApiView):
    @extend_schema(
        operation_id="assemblies_decisions",
        parameters=PAGE,
        responses=page_serializer(DecisionSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """What happened to each candidate, and why, in the order in which the engine decided."""
        query = self.query("cursor", "limit")
        assembly = assembly_for(self.principal, id_)
        labels = {section["key"]: section["label"] for section in assembly.sections}
        document = partial(decision_document, labels=labels)
        return self.page(assembly.decisions.all(), document, ("position",), query=query, ascending=True)


class AssemblyReplay(ApiView):
    @extend_schema(operation_id="assemblies_replay", request=None, responses=ReplaySerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Assemble again from the record alone, and compare byte for byte."""
        self.query()
        result = replay(assembly_for(self.principal, id_))
        return Response({"identical": result.identical, "sha256": result.sha256})
