"""REST endpoints of erasures and legal holds, for admin keys and admins of the organisation."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Conflict
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION, PAGE
from privacy.access import erasure_for, hold_for, subject_for
from privacy.erasure.holds import hold_lift, hold_set
from privacy.erasure.serializers import (
    ErasurePlanSerializer,
    ErasureSerializer,
    ErasureWriteSerializer,
    HoldSerializer,
    HoldWriteSerializer,
    erasure_document,
    hold_document,
    plan_document,
)
from privacy.erasure.services import erasure_plan, erasure_request
from privacy.models import HoldKind, LegalHold, SubjectErasure
from teams.access import require_admin
from teams.api.serializers import page_serializer
from teams.api.view import ApiView


class ErasureList(ApiView):
    @extend_schema(
        operation_id="erasures_list",
        summary="List erasures",
        parameters=PAGE,
        responses=page_serializer(ErasureSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return all erasures, the newest first. For organisation admins and admin keys, as all of this."""
        query = self.query("cursor", "limit")
        require_admin(self.principal)
        return self.page(SubjectErasure.objects.all(), erasure_document, ("number",), query=query)

    @extend_schema(
        operation_id="erasures_create",
        summary="Erase subject",
        parameters=[LOCATION],
        request=ErasureWriteSerializer,
        responses={202: ErasureSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Begin to erase a subject everywhere. It cannot be undone, nor stopped.

        A legal hold forbids it (409 `legal_hold`).
        """
        self.query()
        require_admin(self.principal)
        asked = self.validated(ErasureWriteSerializer)
        subject = subject_for(self.principal, asked["subject"])
        whole = asked.get("whole")
        seen, there = asked["expected_mentions"], len(erasure_plan(subject, whole).mentions)
        if seen != there:
            raise Conflict(f"{there:,} mentions are linked, not {seen:,}. Read the plan again; nothing was changed.")
        erasure = erasure_request(subject=subject, reason=asked["reason"], principal=self.principal, whole=whole)
        headers = {"Location": f"/api/v1/erasures/{erasure.id}"}
        return Response(erasure_document(erasure), status.HTTP_202_ACCEPTED, headers=headers)


class ErasureDetail(ApiView):
    @extend_schema(operation_id="erasures_read", summary="Get erasure", responses=ErasureSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return an erasure with its report, once it is finished."""
        self.query()
        return Response(erasure_document(erasure_for(self.principal, id_)))


class SubjectErasurePlan(ApiView):
    @extend_schema(
        operation_id="subjects_erasure_plan", summary="Get plan for erasure", responses=ErasurePlanSerializer
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return what the erasure of a subject would do, and a legal hold that forbids it."""
        self.query()
        return Response(plan_document(erasure_plan(subject_for(self.principal, id_))))


class HoldList(ApiView):
    @extend_schema(
        operation_id="legal_holds_list",
        summary="List legal holds",
        parameters=PAGE,
        responses=page_serializer(HoldSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return all legal holds, lifted ones included, the newest first."""
        query = self.query("cursor", "limit")
        require_admin(self.principal)
        return self.page(LegalHold.objects.all(), hold_document, ("created", "id"), query=query)

    @extend_schema(
        operation_id="legal_holds_create",
        summary="Set legal hold",
        parameters=[LOCATION],
        request=HoldWriteSerializer,
        responses={201: HoldSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Forbid that anything of a subject, a team or an agent is erased, deleted or pruned."""
        self.query()
        require_admin(self.principal)
        asked = self.validated(HoldWriteSerializer)
        hold = hold_set(
            kind=HoldKind(asked["kind"]), target=asked["target"], reason=asked["reason"], principal=self.principal
        )
        headers = {"Location": f"/api/v1/legal-holds/{hold.id}"}
        return Response(hold_document(hold), status.HTTP_201_CREATED, headers=headers)


class HoldDetail(ApiView):
    @extend_schema(operation_id="legal_holds_read", summary="Get legal hold", responses=HoldSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a legal hold."""
        self.query()
        return Response(hold_document(hold_for(self.principal, id_)))

    @extend_schema(operation_id="legal_holds_lift", summary="Lift legal hold", responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Lift a legal hold; it stays in the list."""
        self.query()
        hold_lift(hold=hold_for(self.principal, id_), principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)
