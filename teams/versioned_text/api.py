"""These base classes serve versioned texts with ETag, If-Match and history, for files of teams and of agents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import NotFound
from config.http.etags import PreconditionFailed, etag, expected_version, has_current_version, is_create_only
from config.http.notes import add_notes
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, ONLY_CREATE, PAGE
from teams.access import require_change_allowed, team_for
from teams.api.serializers import (
    ContentSerializer,
    FileSerializer,
    VersionContentSerializer,
    VersionSerializer,
    page_serializer,
)
from teams.api.view import ApiView
from teams.level_changes import record_level, require_level
from teams.models import TeamFile
from teams.principal import Action, Principal
from teams.services import team_files_provision
from teams.versioned_text.publication import check_publication
from teams.versioned_text.serializers import WITH, ComparisonSerializer, comparison_document
from teams.versioned_text.versioned_file import StaleVersion, file_save


class VersionedView(ApiView):
    """An endpoint of one versioned resource. `document_of` formats it, also in answers to stale requests."""

    document: ClassVar[type[serializers.Serializer[Any]]]

    def document_of(self, thing: Any) -> dict[str, Any]:
        return dict(self.document(thing).data)

    def answer(self, thing: Any, status_code: int = status.HTTP_200_OK, **headers: str) -> Response:
        """Return a response with the resource and its ETag."""
        response = Response(self.document_of(thing), status_code, headers={"ETag": etag(thing.version), **headers})
        return add_notes(self.request._request, response)  # noqa: SLF001 - as DRF names it

    def answer_if_newer(self, thing: Any) -> Response:
        """Return a response with the resource; 304 if the client has its newest version."""
        if has_current_version(self.request, thing.version):
            return Response(status=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag(thing.version)})
        return self.answer(thing)

    def expected(self, current: Any) -> int:
        """Return the current version, which If-Match must name. Raises PreconditionRequired and StaleVersion."""
        expected = expected_version(self.request, current.version)
        if expected != current.version:
            raise StaleVersion(current, expected)
        return expected

    def check_if_match(self, current: Any) -> None:
        """Check If-Match if it was sent; DELETE does not require it. Raises StaleVersion."""
        if "If-Match" in self.request.headers:
            self.expected(current)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, StaleVersion):
            exc.extra["current"] = self.document_of(exc.current)
        return super().handle_exception(exc)


class VersionList(ApiView):
    """The history of one versioned resource, newest version first."""

    document: ClassVar[type[serializers.Serializer[Any]]]

    def page_of_versions(self, thing: Any) -> Response:
        return self.page(thing.versions.all(), lambda version: dict(self.document(version).data), ("version",))


@dataclass(frozen=True, slots=True)
class FileOwners:
    """The owners whose files an endpoint serves: how to find an owner, its files, and how to create missing files."""

    find: Callable[[Principal, str, Action], Any]
    keys: tuple[str, ...]
    provision: Callable[[list[Any]], int]

    def files(self, owner: Any) -> Any:
        """Return all files of the owner; missing files are created."""
        if type(owner).files.rel.related_model.everything.filter(**owner.files.core_filters).count() < len(self.keys):
            self.provision([owner])
        return owner.files.all()

    def file(self, owner: Any, key: str) -> Any:
        """Return a file of the owner. Raises NotFound for a key that no file has."""
        if key not in self.keys:
            raise NotFound(f"The file “{key}”")
        named = {"file_key": key}
        found = owner.files.filter(**named).first() or self.files(owner).filter(**named).first()
        if found is None:  # the owner was deleted in this very moment
            raise NotFound(f"The file “{key}”")
        return found


TEAMS = FileOwners(team_for, tuple(TeamFile.Key.values), team_files_provision)


class FileList(ApiView):
    owners: ClassVar[FileOwners] = TEAMS

    @extend_schema(parameters=PAGE, responses=page_serializer(FileSerializer))
    def get(self, request: Request, slug: str) -> Response:
        """Return the three files."""
        query = self.query("cursor", "limit")
        files = self.owners.files(self.owners.find(self.principal, slug, Action.READ))
        return self.page(
            files, lambda file: dict(FileSerializer(file).data), ("file_key",), query=query, ascending=True
        )


class FileDetail(VersionedView):
    owners: ClassVar[FileOwners] = TEAMS
    document = FileSerializer

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=FileSerializer)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """Return the current version of a file."""
        self.query()
        return self.answer_if_newer(self._file(slug, key, Action.READ))

    @extend_schema(parameters=[ETAG, IF_MATCH, ONLY_CREATE], request=ContentSerializer, responses=FileSerializer)
    def put(self, request: Request, slug: str, key: str) -> Response:
        """Save a new version; an unchanged text creates none. Every file exists, so no file is ever created here."""
        self.query()
        file = self._file(slug, key, Action.EDIT)
        if is_create_only(request):
            raise PreconditionFailed("Every agent and team has its files. Read this one and send its ETag as If-Match.")
        expected = self.expected(file)
        facts = self.validated(ContentSerializer)
        require_change_allowed(self.principal, getattr(file, "team", None), file.versions.all())
        check_publication(self.principal, file, facts["content"])
        require_level(self.principal, file, facts.get("sensitivity"))
        with transaction.atomic():
            saved = file_save(file=file, **facts, expected_version=expected, author=self.principal.author)
            record_level(self.principal, saved, file.sensitivity)
        return self.answer(saved)

    def _file(self, slug: str, key: str, action: Action) -> Any:
        return self.owners.file(self.owners.find(self.principal, slug, action), key)


class FileVersionList(VersionList):
    owners: ClassVar[FileOwners] = TEAMS
    document = VersionSerializer

    @extend_schema(parameters=PAGE, responses=page_serializer(VersionSerializer))
    def get(self, request: Request, slug: str, key: str) -> Response:
        """Return the versions of the file, newest first, without their texts."""
        return self.page_of_versions(self.owners.file(self.owners.find(self.principal, slug, Action.READ), key))


class FileVersionDetail(ApiView):
    owners: ClassVar[FileOwners] = TEAMS

    @extend_schema(responses=VersionContentSerializer)
    def get(self, request: Request, slug: str, key: str, version: int) -> Response:
        """Return a version with its text."""
        self.query()
        file = self.owners.file(self.owners.find(self.principal, slug, Action.READ), key)
        found = file.versions.filter(version=version).first()
        if found is None:
            raise NotFound(f"Version {version}")
        return Response(VersionContentSerializer(found).data)


class FileVersionCompare(ApiView):
    owners: ClassVar[FileOwners] = TEAMS

    @extend_schema(parameters=[WITH], responses=ComparisonSerializer)
    def get(self, request: Request, slug: str, key: str, version: int) -> Response:
        """Return the difference between two versions, word by word."""
        query = self.query("with")
        file = self.owners.file(self.owners.find(self.principal, slug, Action.READ), key)
        return Response(comparison_document(file, version, query.get("with", "")))
