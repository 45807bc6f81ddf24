"""REST endpoints of profiles, their versions, and their validation. Everyone may read; organisation
admins may write.
"""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.models import StoredProfile
from assembly.profiles.catalogue import all_profiles, entry_of_row, find_profile_entry, profile_fault
from assembly.profiles.serializers import (
    ProfileCheckSerializer,
    ProfileContentSerializer,
    ProfileCreateSerializer,
    ProfileSerializer,
    ProfileSummarySerializer,
    ProfileVersionContentSerializer,
    ProfileVersionSerializer,
    check_document,
    entries_page,
    profile_document,
    summary_document,
)
from assembly.profiles.services import profile_create, profile_delete, profile_save
from config.http.cursors import limit_of, next_page_url
from config.http.errors import NotFound
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from teams.access import require_admin
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.versioned_text.api import VersionedView, VersionList
from teams.versioned_text.publication import check_publication


class ProfileList(ApiView):
    @extend_schema(
        operation_id="profiles_list",
        summary="List profiles",
        parameters=PAGE,
        responses=page_serializer(ProfileSummarySerializer),
    )
    def get(self, request: Request) -> Response:
        """Return all profiles: the built-in ones, then those of the organisation."""
        query = self.query("cursor", "limit")
        entries, cursor = entries_page(all_profiles(), query)
        following = next_page_url(request.path, query, cursor)
        return Response({"results": [summary_document(entry) for entry in entries], "next": following})

    @extend_schema(parameters=[ETAG, LOCATION], request=ProfileCreateSerializer, responses={201: ProfileSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a profile. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        row = profile_create(**self.validated(ProfileCreateSerializer), principal=self.principal)
        headers = {"Location": f"/api/v1/profiles/{row.name}", "ETag": etag(row.version)}
        return Response(profile_document(entry_of_row(row)), status.HTTP_201_CREATED, headers=headers)


class ProfileDetail(VersionedView):
    document = ProfileSerializer

    def document_of(self, thing: StoredProfile) -> dict[str, Any]:
        return profile_document(entry_of_row(thing))

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=ProfileSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return a profile with its text."""
        self.query()
        return self.answer_if_newer(find_profile_entry(name).row)

    @extend_schema(parameters=[ETAG, IF_MATCH], request=ProfileContentSerializer, responses=ProfileSerializer)
    def put(self, request: Request, name: str) -> Response:
        """Save a new version; an unchanged text creates none. For organisation admins and admin keys."""
        self.query()
        row = self._row_to_change(name)
        expected = self.expected(row)
        content = self.validated(ProfileContentSerializer)["content"]
        check_publication(self.principal, row, content)
        saved = profile_save(name=name, content=content, expected_version=expected, principal=self.principal)
        return self.answer(saved)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete a profile with its versions. A built-in profile is reset to its default."""
        self.query()
        self.check_if_match(self._row_to_change(name))
        profile_delete(name=name, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _row_to_change(self, name: str) -> StoredProfile:
        row = find_profile_entry(name).row
        require_admin(self.principal)
        return row


class ProfileVersionList(VersionList):
    document = ProfileVersionSerializer

    @extend_schema(parameters=PAGE, responses=page_serializer(ProfileVersionSerializer))
    def get(self, request: Request, name: str) -> Response:
        """Return the versions of the profile, newest first, without their texts."""
        entry = find_profile_entry(name)
        if entry.stored:
            return self.page_of_versions(entry.row)
        limit_of(self.query("cursor", "limit").get("limit", ""))
        return Response({"results": [ProfileVersionSerializer(entry.row.as_version()).data], "next": None})


class ProfileVersionDetail(ApiView):
    @extend_schema(responses=ProfileVersionContentSerializer)
    def get(self, request: Request, name: str, version: int) -> Response:
        """Return a version with its text."""
        self.query()
        found = find_profile_entry(name).version_numbered(version)
        if found is None:
            raise NotFound(f"Version {version}")
        return Response(ProfileVersionContentSerializer(found).data)


class ProfileCheck(ApiView):
    @extend_schema(
        operation_id="profiles_check",
        summary="Validate profile",
        request=ProfileContentSerializer,
        responses=ProfileCheckSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Validate the text of a profile. Nothing is stored; the response is 200 either way."""
        self.query()
        return Response(check_document(profile_fault(self.validated(ProfileContentSerializer)["content"])))
