"""The base class of REST endpoints gives them the principal and the validated values of a request."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.http.cursors import next_page_url, page_of
from config.http.errors import Invalid
from config.http.serializers import StrictSerializer
from teams.principal import Principal


class ApiView(APIView):
    """A DRF view whose `request.user` is a Principal."""

    request: Request
    metadata_class = None  # OPTIONS tells nothing that the OpenAPI document does not
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    @property
    def principal(self) -> Principal:
        """The person or key behind the request."""
        return cast("Principal", self.request.user)

    def validated(self, serializer: type[StrictSerializer], data: Any = None) -> dict[str, Any]:
        """Return the validated values of the body, or of `data`.

        Raises ValidationError, which becomes a 422 with errors per field.
        """
        given = self.request.data if data is None else data
        try:
            return cast("dict[str, Any]", _cached_serializer(serializer).run_validation(given))
        except serializers.ValidationError:
            serializer(data=given).is_valid(raise_exception=True)  # which words the errors
            raise

    def query(self, *known: str) -> dict[str, str]:
        """Return the query parameters of the request. Raises Invalid for an unknown parameter, or a
        NUL in its value.
        """
        given = self.request.query_params.dict()
        for name, value in given.items():
            if name not in known:
                raise Invalid(name, f"There is no such parameter. Known are: {', '.join(known) or 'none'}.", "unknown")
            if "\x00" in value:
                raise Invalid(name, "A NUL character cannot be used. Remove it.", "null_characters_not_allowed")
        return given

    def page(
        self,
        rows: QuerySet[Any],
        document: Callable[[Any], dict[str, Any]],
        keys: tuple[str, ...] = ("created", "id"),
        *,
        query: dict[str, str] | None = None,
        ascending: bool = False,
    ) -> Response:
        """Return a page of the rows as `{results, next}`. Raises Invalid for parameters that lists do not have."""
        asked = self.query("cursor", "limit") if query is None else query
        found, cursor = page_of(rows, asked, keys, ascending=ascending)
        following = next_page_url(self.request.path, asked, cursor)
        return Response({"results": [document(row) for row in found], "next": following})


@cache
def _cached_serializer(serializer: type[StrictSerializer]) -> StrictSerializer:
    """Return one serializer for all requests: creating its fields takes longer than validating a request with them.

    The serializer has no state.
    """
    return serializer()
