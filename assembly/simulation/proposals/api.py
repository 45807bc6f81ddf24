"""REST endpoints that create, list, read, rerun, decide and delete proposals."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.models import Proposal
from assembly.models.proposal import MAX_NOTE_CHARACTERS
from assembly.simulation.proposals.services import (
    proposal_create,
    proposal_decide,
    proposal_delete,
    proposal_for,
    proposal_rerun,
)
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.api import (
    OverridesSerializer,
    WhatIfSerializer,
    what_if_document,
)
from assembly.simulation.what_if.services import WHAT_IF_BASES
from config.http.errors import Invalid, NotFound
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION, PAGE
from config.http.serializers import ExactText, StrictSerializer
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView

DECISIONS = [Proposal.Status.ACCEPTED.value, Proposal.Status.DISMISSED.value]


class ProposalCreateSerializer(StrictSerializer):
    assembly_id = serializers.UUIDField(error_messages={"invalid": "Use the id of an assembly."})
    overrides = OverridesSerializer(help_text="What should be different, as `what-if` takes it.")
    note = ExactText(max_length=MAX_NOTE_CHARACTERS, required=False, allow_blank=True, default="", help_text="Why.")


class ProposalDecisionSerializer(StrictSerializer):
    status = serializers.ChoiceField(choices=DECISIONS)


class ProposalSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    created_by = ActorSerializer()
    assembly_id = serializers.UUIDField(help_text="The context on which it was simulated; it may have been deleted.")
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    overrides = serializers.DictField()
    note = serializers.CharField(allow_blank=True)
    basis = serializers.ChoiceField(choices=list(WHAT_IF_BASES))
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()
    added = serializers.IntegerField(help_text="Items.")
    removed = serializers.IntegerField(help_text="Items.")
    status = serializers.ChoiceField(choices=Proposal.Status.values)
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = ActorSerializer(allow_null=True)


def proposal_document(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as JSON."""
    names = ("id", "note", "basis", "tokens_before", "tokens_after", "status")
    return {
        **{name: getattr(proposal, name) for name in names},
        "created_at": proposal.created,
        "created_by": actor_document(proposal.proposed_by, proposal.proposer_name),
        "assembly_id": proposal.assembly_id,
        "overrides": proposal.wishes,
        "added": proposal.came_in,
        "removed": proposal.went,
        "agent": proposal.agent_slug,
        "team": proposal.team_slug or None,
        "decided_at": proposal.decided,
        "decided_by": actor_document(proposal.decided_by, proposal.decider_name) if proposal.decided else None,
    }


class ProposalList(ApiView):
    @extend_schema(
        operation_id="proposals_list",
        summary="List proposals",
        parameters=[
            OpenApiParameter("agent", str, description="Only of the agent with this slug."),
            OpenApiParameter("status", str, enum=Proposal.Status.values, description="Only those."),
            *PAGE,
        ],
        responses=page_serializer(ProposalSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the proposals for contexts that you may see, newest first."""
        query = self.query("agent", "status", "cursor", "limit")
        found = Proposal.objects.visible_to(self.principal)
        if "agent" in query:
            found = found.filter(agent_slug=query["agent"])
        if "status" in query:
            if query["status"] not in Proposal.Status.values:
                raise Invalid("status", f"Use one of: {', '.join(Proposal.Status.values)}.")
            found = found.filter(status=query["status"])
        return self.page(found, proposal_document, query=query)

    @extend_schema(
        operation_id="proposals_create",
        summary="Create proposal",
        parameters=[LOCATION],
        request=ProposalCreateSerializer,
        responses={201: ProposalSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Save a proposal: overrides that were simulated on a recorded context, for an admin to decide on."""
        self.query()
        asked = self.validated(ProposalCreateSerializer)
        assembly = assembly_for(self.principal, asked["assembly_id"])
        proposal, _ = proposal_create(
            assembly=assembly,
            wishes=Overrides.from_dict(asked["overrides"]),
            note=asked["note"],
            principal=self.principal,
        )
        location = f"/api/v1/proposals/{proposal.id}"
        return Response(proposal_document(proposal), status.HTTP_201_CREATED, headers={"Location": location})


class ProposalDetail(ApiView):
    @extend_schema(operation_id="proposals_read", summary="Get proposal", responses=ProposalSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a proposal, with what it changed when it was created."""
        self.query()
        return Response(proposal_document(proposal_for(self.principal, id_)))

    @extend_schema(operation_id="proposals_delete", summary="Delete proposal", responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Delete a proposal. For its author, and for users who may decide on it."""
        self.query()
        proposal_delete(proposal=proposal_for(self.principal, id_), principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProposalDecision(ApiView):
    @extend_schema(
        operation_id="proposals_decide",
        summary="Accept or dismiss proposal",
        request=ProposalDecisionSerializer,
        responses=ProposalSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Accept or dismiss an open proposal. Accepting does not apply it: edit the file, the profile or the rule."""
        self.query()
        proposal = proposal_for(self.principal, id_)
        wanted = self.validated(ProposalDecisionSerializer)["status"]
        return Response(proposal_document(proposal_decide(proposal=proposal, status=wanted, principal=self.principal)))


class ProposalRerun(ApiView):
    @extend_schema(
        operation_id="proposals_rerun", summary="Run proposal again", request=None, responses=WhatIfSerializer
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Return what the proposal would change today. Nothing is stored."""
        self.query()
        found = proposal_rerun(proposal_for(self.principal, id_))
        if found is None:
            raise NotFound("The context of this suggestion was deleted, so it")
        return Response(WhatIfSerializer(what_if_document(found, with_content=False)).data)
