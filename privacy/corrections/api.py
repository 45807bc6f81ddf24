"""REST endpoints of corrections of subjects, for admin keys and admins of the organisation."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.idempotency import idempotent
from config.http.openapi import LOCATION, PAGE
from privacy.access import correction_for, subject_for
from privacy.corrections.correction_plan import correction_plan
from privacy.corrections.serializers import (
    CorrectionPlanSerializer,
    CorrectionSerializer,
    CorrectionUndoSerializer,
    CorrectionValueSerializer,
    CorrectionWriteSerializer,
    correction_document,
    plan_document,
)
from privacy.corrections.services import correction_create, correction_undo, valid_correction
from teams.api.serializers import page_serializer
from teams.api.view import ApiView


class CorrectionPlanView(ApiView):
    @extend_schema(
        operation_id="subjects_correction_plan",
        summary="Get plan for correction",
        request=CorrectionValueSerializer,
        responses=CorrectionPlanSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Return the linked things in whose texts a wrong value stands, in any spelling. Nothing is changed.

        It is a POST, so that no value is in an address.
        """
        self.query()
        subject = subject_for(self.principal, id_)
        value = valid_correction(**self.validated(CorrectionValueSerializer))
        return Response(plan_document(correction_plan(subject, value)))


class CorrectionList(ApiView):
    @extend_schema(
        operation_id="subjects_corrections_list",
        summary="List corrections of subject",
        parameters=PAGE,
        responses=page_serializer(CorrectionSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the corrections of a subject, the newest first, with the results of each."""
        query = self.query("cursor", "limit")
        rows = subject_for(self.principal, id_).corrections.prefetch_related("results")
        return self.page(rows, correction_document, query=query)

    @extend_schema(
        operation_id="subjects_corrections_create",
        summary="Correct data of subject",
        parameters=[LOCATION],
        request=CorrectionWriteSerializer,
        responses={201: CorrectionSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Replace a wrong value in things of the plan, each as its next version, and in the subject's identifiers.

        What was changed since the plan was read is not overwritten. More than 20 things are corrected by a job, which
        also counts the recorded contexts that told the wrong value.
        """
        self.query()
        subject = subject_for(self.principal, id_)
        asked = self.validated(CorrectionWriteSerializer)
        reason, things = asked.pop("reason"), asked.pop("things")
        correction = correction_create(
            subject=subject, value=valid_correction(**asked), reason=reason, things=things, principal=self.principal
        )
        headers = {"Location": f"/api/v1/subjects/{id_}/corrections/{correction.id}"}
        return Response(correction_document(correction), status.HTTP_201_CREATED, headers=headers)


class CorrectionDetail(ApiView):
    @extend_schema(
        operation_id="subjects_corrections_read", summary="Get correction of subject", responses=CorrectionSerializer
    )
    def get(self, request: Request, id_: UUID, correction_id: UUID) -> Response:
        """Return a correction with its results."""
        self.query()
        subject = subject_for(self.principal, id_)
        return Response(correction_document(correction_for(self.principal, subject, correction_id)))


class CorrectionUndo(ApiView):
    @extend_schema(
        operation_id="subjects_corrections_undo",
        summary="Undo correction of subject",
        request=CorrectionUndoSerializer,
        responses=CorrectionSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID, correction_id: UUID) -> Response:
        """Give corrected things the texts that they had before, as their next versions; 409 if one changed since."""
        self.query()
        correction = correction_for(self.principal, subject_for(self.principal, id_), correction_id)
        things = self.validated(CorrectionUndoSerializer)["things"]
        correction_undo(correction=correction, things=things, principal=self.principal)
        return Response(correction_document(correction))
