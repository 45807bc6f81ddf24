"""These REST endpoints read the organisation's files for everybody, and write them for its admins and admin keys."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import NotFound
from config.http.etags import PreconditionFailed, etag, is_create_only
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, ONLY_CREATE, PAGE
from config.http.serializers import ExactText, Line, StrictSerializer
from teams.access import organisation_file_for, require_admin
from teams.api.serializers import (
    LEVEL_HELP,
    ContentSerializer,
    FileSerializer,
    LevelField,
    LevelledSerializer,
    NoteField,
    SignedSerializer,
    SlugField,
    VersionSerializer,
    page_serializer,
)
from teams.api.view import ApiView
from teams.level_changes import record_level, require_level
from teams.models import OrganisationFile
from teams.organisation.models import MAX_TITLE_CHARACTERS
from teams.organisation.services import (
    organisation_file_create,
    organisation_file_delete,
    organisation_file_rename,
)
from teams.principal import Action
from teams.versioned_text.api import VersionedView, VersionList
from teams.versioned_text.publication import check_publication
from teams.versioned_text.serializers import WITH, ComparisonSerializer, comparison_document
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, file_save

KEY = "Lower-case letters, digits and hyphens, as in brand-voice. It cannot be changed."


class OrganisationFileSummarySerializer(SignedSerializer):
    sensitivity = LevelField(help_text=LEVEL_HELP)
    key = serializers.CharField(source="file_key")
    title = serializers.CharField()
    updated_at = serializers.DateTimeField()


class OrganisationFileSerializer(FileSerializer):
    title = serializers.CharField()


class OrganisationFileCreateSerializer(LevelledSerializer):
    key = SlugField(help_text=KEY)
    title = Line(max_length=MAX_TITLE_CHARACTERS)
    content = ExactText(
        allow_blank=True,
        required=False,
        default="",
        max_length=MAX_FILE_CHARACTERS,
        help_text="Markdown, stored as sent.",
    )
    note = NoteField()


class OrganisationFileUpdateSerializer(StrictSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS)


class OrganisationFileVersionSerializer(VersionSerializer):
    title = serializers.CharField()


class OrganisationFileVersionContentSerializer(OrganisationFileVersionSerializer):
    content = serializers.CharField()


class OrganisationFileList(ApiView):
    @extend_schema(
        operation_id="organisation_files_list",
        summary="List organisation knowledge",
        parameters=PAGE,
        responses=page_serializer(OrganisationFileSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the organisation's files by key, without their texts."""
        files = OrganisationFile.objects.defer("content")
        return self.page(
            files, lambda file: dict(OrganisationFileSummarySerializer(file).data), ("file_key",), ascending=True
        )

    @extend_schema(
        operation_id="organisation_files_create",
        summary="Create organisation knowledge",
        parameters=[ETAG, LOCATION],
        request=OrganisationFileCreateSerializer,
        responses={201: OrganisationFileSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a file that all agents of the organisation may read. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        file = organisation_file_create(**self.validated(OrganisationFileCreateSerializer), principal=self.principal)
        headers = {"Location": f"/api/v1/organisation/files/{file.file_key}", "ETag": etag(file.version)}
        return Response(OrganisationFileSerializer(file).data, status.HTTP_201_CREATED, headers=headers)


class OrganisationFileDetail(VersionedView):
    document = OrganisationFileSerializer

    @extend_schema(
        operation_id="organisation_files_retrieve",
        parameters=[ETAG, IF_NONE_MATCH],
        responses=OrganisationFileSerializer,
    )
    def get(self, request: Request, key: str) -> Response:
        """Return the current version of a file of the organisation."""
        self.query()
        return self.answer_if_newer(organisation_file_for(self.principal, key))

    @extend_schema(
        operation_id="organisation_files_update",
        parameters=[ETAG, IF_MATCH, ONLY_CREATE],
        request=ContentSerializer,
        responses=OrganisationFileSerializer,
    )
    def put(self, request: Request, key: str) -> Response:
        """Save a new version; an unchanged text creates none. `POST /organisation/files` creates files."""
        self.query()
        file = organisation_file_for(self.principal, key, Action.EDIT)
        if is_create_only(request):
            raise PreconditionFailed("This file exists. Read it and send its ETag as If-Match.")
        expected = self.expected(file)
        facts = self.validated(ContentSerializer)
        check_publication(self.principal, file, facts["content"])
        require_level(self.principal, file, facts.get("sensitivity"))
        with transaction.atomic():
            saved = file_save(file=file, **facts, expected_version=expected, author=self.principal.author)
            record_level(self.principal, saved, file.sensitivity)
        return self.answer(saved)

    @extend_schema(
        operation_id="organisation_files_rename",
        parameters=[ETAG, IF_MATCH],
        request=OrganisationFileUpdateSerializer,
        responses=OrganisationFileSerializer,
    )
    def patch(self, request: Request, key: str) -> Response:
        """Change the title of a file, which creates a version. The key cannot be changed: programs know the file by
        it.
        """
        self.query()
        file = organisation_file_for(self.principal, key, Action.EDIT)
        expected = self.expected(file)
        facts = self.validated(OrganisationFileUpdateSerializer)
        return self.answer(
            organisation_file_rename(file=file, **facts, expected_version=expected, principal=self.principal)
        )

    @extend_schema(operation_id="organisation_files_delete", parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, key: str) -> Response:
        """Delete a file with its versions. Assemblies remain, as part of the audit trail."""
        self.query()
        file = organisation_file_for(self.principal, key, Action.MANAGE)
        self.check_if_match(file)
        organisation_file_delete(file=file, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OrganisationFileVersionList(VersionList):
    document = OrganisationFileVersionSerializer

    @extend_schema(
        operation_id="organisation_files_versions_list",
        parameters=PAGE,
        responses=page_serializer(OrganisationFileVersionSerializer),
    )
    def get(self, request: Request, key: str) -> Response:
        """Return the versions of the file, newest first, without their texts."""
        return self.page_of_versions(organisation_file_for(self.principal, key))


class OrganisationFileVersionDetail(ApiView):
    @extend_schema(
        operation_id="organisation_files_versions_retrieve", responses=OrganisationFileVersionContentSerializer
    )
    def get(self, request: Request, key: str, version: int) -> Response:
        """Return a version with its text."""
        self.query()
        found = organisation_file_for(self.principal, key).versions.filter(version=version).first()
        if found is None:
            raise NotFound(f"Version {version}")
        return Response(OrganisationFileVersionContentSerializer(found).data)


class OrganisationFileVersionCompare(ApiView):
    @extend_schema(
        operation_id="organisation_files_versions_compare", parameters=[WITH], responses=ComparisonSerializer
    )
    def get(self, request: Request, key: str, version: int) -> Response:
        """Return the difference between two versions, word by word."""
        query = self.query("with")
        file = organisation_file_for(self.principal, key)
        return Response(comparison_document(file, version, query.get("with", "")))
