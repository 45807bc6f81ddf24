"""REST endpoints of subjects, for admin keys and admins of the organisation."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Invalid
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from config.http.serializers import FastJSONRenderer
from memories.api.archive import ZIP, ZipRenderer
from memories.archive.zip_file import file_response
from privacy.access import subject_file_for, subject_for
from privacy.models import MentionStatus, Subject
from privacy.subjects.export import file_name, note_download, subject_file_create, written_content
from privacy.subjects.presentation import status_counts_of
from privacy.subjects.scan import subject_scan_create
from privacy.subjects.serializers import (
    MentionDecisionSerializer,
    MentionsDecidedSerializer,
    MentionSerializer,
    RestrictionSerializer,
    ScanSerializer,
    SubjectFileSerializer,
    SubjectResultsSerializer,
    SubjectSearchSerializer,
    SubjectSerializer,
    SubjectVersionSerializer,
    SubjectWriteSerializer,
    facts_from,
    file_document,
    mention_document,
    scan_document,
    subject_document,
    version_document,
)
from privacy.subjects.services import (
    mentions_decide,
    subject_create,
    subject_delete,
    subject_restrict,
    subject_update,
)
from privacy.subjects.stored_texts import THING_KINDS
from privacy.subjects.subject_search import subjects_found
from teams.access import require_admin
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.versioned_text.api import VersionedView

CONTENT: Any = {(200, ZIP): OpenApiTypes.BINARY}


def _documents(subjects: Iterable[Subject]) -> list[dict[str, Any]]:
    """Return the documents of subjects whose identifiers are loaded; one query for the counts of mentions."""
    rows = list(subjects)
    counts = status_counts_of(rows)
    return [subject_document(subject, counts[subject.id]) for subject in rows]


class SubjectList(ApiView):
    @extend_schema(
        operation_id="subjects_list",
        summary="List subjects",
        parameters=PAGE,
        responses=page_serializer(SubjectSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return all subjects by name. For organisation admins and admin keys, as all of this."""
        query = self.query("cursor", "limit")
        require_admin(self.principal)
        rows = Subject.objects.prefetch_related("identifiers")
        found, cursor = page_of(rows, query, ("name", "id"), ascending=True)
        return Response({"results": _documents(found), "next": next_page_url(request.path, query, cursor)})

    @extend_schema(
        operation_id="subjects_create",
        summary="Create subject",
        parameters=[ETAG, LOCATION],
        request=SubjectWriteSerializer,
        responses={201: SubjectSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a subject, and begin to search for what mentions it."""
        self.query()
        require_admin(self.principal)
        facts = facts_from(self.validated(SubjectWriteSerializer))
        subject = subject_create(facts=facts, principal=self.principal)
        headers = {"Location": f"/api/v1/subjects/{subject.id}", "ETag": etag(subject.version)}
        return Response(_documents([subject])[0], status.HTTP_201_CREATED, headers=headers)


class SubjectSearch(ApiView):
    @extend_schema(
        operation_id="subjects_search",
        summary="Search subjects",
        request=SubjectSearchSerializer,
        responses=SubjectResultsSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return at most 100 subjects whose name has these words, or with this identifier, however it is spelt.

        It is a POST, so that no name is in an address.
        """
        self.query()
        require_admin(self.principal)
        asked = self.validated(SubjectSearchSerializer)["query"]
        return Response({"results": _documents(subjects_found(asked).prefetch_related("identifiers"))})


class SubjectDetail(VersionedView):
    document = SubjectSerializer

    def document_of(self, thing: Subject) -> dict[str, Any]:
        return _documents([thing])[0]

    @extend_schema(
        operation_id="subjects_read",
        summary="Get subject",
        parameters=[ETAG, IF_NONE_MATCH],
        responses=SubjectSerializer,
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a subject with its identifiers, and the numbers of its mentions."""
        self.query()
        return self.answer_if_newer(subject_for(self.principal, id_))

    @extend_schema(
        operation_id="subjects_save",
        summary="Save subject",
        parameters=[ETAG, IF_MATCH],
        request=SubjectWriteSerializer,
        responses=SubjectSerializer,
    )
    def put(self, request: Request, id_: UUID) -> Response:
        """Save the next version of a subject; other identifiers begin another search."""
        self.query()
        subject = subject_for(self.principal, id_)
        expected = self.expected(subject)
        facts = facts_from(self.validated(SubjectWriteSerializer))
        return self.answer(
            subject_update(subject=subject, facts=facts, expected_version=expected, principal=self.principal)
        )

    @extend_schema(
        operation_id="subjects_delete", summary="Delete subject", parameters=[IF_MATCH], responses={204: None}
    )
    def delete(self, request: Request, id_: UUID) -> Response:
        """Delete a subject with its identifiers, mentions and history. The things that mention it stay as they are."""
        self.query()
        subject = subject_for(self.principal, id_)
        self.check_if_match(subject)
        subject_delete(subject=subject, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SubjectVersionList(ApiView):
    @extend_schema(
        operation_id="subjects_versions_list",
        summary="List versions of subject",
        parameters=PAGE,
        responses=page_serializer(SubjectVersionSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the versions of a subject, newest first."""
        query = self.query("cursor", "limit")
        subject = subject_for(self.principal, id_)
        return self.page(subject.versions.all(), version_document, ("version",), query=query)


class SubjectMentionList(ApiView):
    @extend_schema(
        operation_id="subjects_mentions_list",
        summary="List mentions of subject",
        parameters=[
            OpenApiParameter("status", str, enum=MentionStatus.values, description="Only those."),
            OpenApiParameter("kind", str, enum=list(THING_KINDS), description="Only things of this kind."),
            *PAGE,
        ],
        responses=page_serializer(MentionSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return what mentions a subject, by kind."""
        query = self.query("status", "kind", "cursor", "limit")
        rows = subject_for(self.principal, id_).mentions.all()
        if "status" in query:
            rows = rows.filter(status=_known("status", query["status"], MentionStatus.values))
        if "kind" in query:
            rows = rows.filter(ref_kind=_known("kind", query["kind"], list(THING_KINDS)))
        return self.page(rows, mention_document, ("ref_kind", "id"), query=query, ascending=True)

    @extend_schema(
        operation_id="subjects_mentions_decide",
        summary="Decide on mentions of subject",
        request=MentionDecisionSerializer,
        responses=MentionsDecidedSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Link mentions to the subject, dismiss them, or put them back to be reviewed. Ids of others are ignored."""
        self.query()
        subject = subject_for(self.principal, id_)
        asked = self.validated(MentionDecisionSerializer)
        decided = MentionStatus(asked["status"])
        changed = mentions_decide(subject=subject, mentions=asked["mentions"], status=decided, principal=self.principal)
        return Response({"changed": changed})


class SubjectScanList(ApiView):
    @extend_schema(
        operation_id="subjects_scan",
        summary="Search for mentions of subject",
        request=None,
        responses={202: ScanSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Begin to search all stored texts for a subject. Its own job does that when identifiers change, and daily."""
        self.query()
        subject = subject_for(self.principal, id_)
        scan = subject_scan_create(subject=subject, principal=self.principal)
        return Response(scan_document(scan), status.HTTP_202_ACCEPTED)


class SubjectRestriction(ApiView):
    @extend_schema(
        operation_id="subjects_restrict",
        summary="Restrict subject",
        request=RestrictionSerializer,
        responses=SubjectSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Withhold all that is linked to a subject from contexts and searches, or lift the restriction."""
        self.query()
        subject = subject_for(self.principal, id_)
        restricted = self.validated(RestrictionSerializer)["restricted"]
        return Response(
            _documents([subject_restrict(subject=subject, restricted=restricted, principal=self.principal)])[0]
        )


class SubjectFileList(ApiView):
    @extend_schema(
        operation_id="subjects_files_create",
        summary="Write file about subject",
        request=None,
        responses={201: SubjectFileSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Write a ZIP file with all that is linked to a subject in every version, the contexts that told any of it, and
        what else is stored about the person.

        A large one is written by a job. It is deleted after a day.
        """
        self.query()
        subject = subject_for(self.principal, id_)
        file = subject_file_create(subject=subject, principal=self.principal)
        return Response(file_document(file), status.HTTP_201_CREATED)


class SubjectFileDetail(ApiView):
    @extend_schema(
        operation_id="subjects_files_read", summary="Get file about subject", responses=SubjectFileSerializer
    )
    def get(self, request: Request, id_: UUID, file_id: UUID) -> Response:
        """Return whether a file about a subject is written."""
        self.query()
        return Response(file_document(subject_file_for(self.principal, subject_for(self.principal, id_), file_id)))


class SubjectFileContent(ApiView):
    renderer_classes = [FastJSONRenderer, ZipRenderer]

    @extend_schema(operation_id="subjects_files_download", summary="Download file about subject", responses=CONTENT)
    def get(self, request: Request, id_: UUID, file_id: UUID) -> HttpResponseBase:
        """Download a file about a subject, which is recorded."""
        self.query()
        file = subject_file_for(self.principal, subject_for(self.principal, id_), file_id)
        if file.finished_at is None:
            raise Conflict("The file is not written yet. Try again in a moment.")
        note_download(file, self.principal)
        return file_response(BytesIO(written_content(file)), file_name(file), ZIP)


def _known(name: str, value: str, known: list[str]) -> str:
    """Return the value of a parameter. Raises Invalid for an unknown one."""
    if value not in known:
        raise Invalid(name, f"Use one of: {', '.join(known)}.")
    return value
