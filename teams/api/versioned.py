"""Endpoints of versioned things: ETag, If-Match, and the history."""

from typing import Any, ClassVar

from rest_framework import serializers, status
from rest_framework.response import Response

from config.http.etags import etag, expected_version, has_newest
from teams.api.view import ApiView
from teams.files import StaleVersion


class VersionedView(ApiView):
    """One versioned thing. `document_of` says how it looks, also to those whose version is stale."""

    document: ClassVar[type[serializers.Serializer[Any]]]

    def document_of(self, thing: Any) -> dict[str, Any]:
        return dict(self.document(thing).data)

    def answer(self, thing: Any, status_code: int = status.HTTP_200_OK, **headers: str) -> Response:
        """The thing with its ETag."""
        return Response(self.document_of(thing), status_code, headers={"ETag": etag(thing.version), **headers})

    def answer_if_newer(self, thing: Any) -> Response:
        """The thing, or 304 to those who have its newest version."""
        if has_newest(self.request, thing.version):
            return Response(status=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag(thing.version)})
        return self.answer(thing)

    def expected(self, current: Any) -> int:
        """The version that If-Match names, which is the current one. Raises PreconditionRequired and StaleVersion."""
        expected = expected_version(self.request, current.version)
        if expected != current.version:
            raise StaleVersion(current, expected)
        return expected

    def check_if_match(self, current: Any) -> None:
        """DELETE needs no If-Match, but heeds one. Raises StaleVersion."""
        if "If-Match" in self.request.headers:
            self.expected(current)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, StaleVersion):
            exc.extra["current"] = self.document_of(exc.current)
        return super().handle_exception(exc)


class VersionList(ApiView):
    """The history of one versioned thing, newest version first."""

    document: ClassVar[type[serializers.Serializer[Any]]]

    def page_of_versions(self, thing: Any) -> Response:
        return self.page(thing.versions.all(), lambda version: dict(self.document(version).data), ("version",))
