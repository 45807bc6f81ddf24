"""The base of every REST endpoint: who asks, and the validated values of what was sent."""

from typing import Any, cast

from rest_framework.request import Request
from rest_framework.views import APIView

from config.http.api import StrictSerializer
from config.http.errors import Invalid
from teams.principal import Principal


class ApiView(APIView):
    """A DRF view whose `request.user` is a Principal."""

    request: Request

    @property
    def principal(self) -> Principal:
        """The person or key behind the request."""
        return cast("Principal", self.request.user)

    def validated(self, serializer: type[StrictSerializer], data: Any = None) -> dict[str, Any]:
        """The values of the body, or of `data`. Raises ValidationError, which becomes a 422 with per-field errors."""
        instance = serializer(data=self.request.data if data is None else data)
        instance.is_valid(raise_exception=True)
        return cast("dict[str, Any]", instance.validated_data)

    def query(self, *known: str) -> dict[str, str]:
        """The query's parameters that were given. Raises Invalid for one that is not known, or holds a NUL."""
        given = self.request.query_params.dict()
        for name, value in given.items():
            if name not in known:
                raise Invalid(name, f"There is no such parameter. Known are: {', '.join(known) or 'none'}.", "unknown")
            if "\x00" in value:
                raise Invalid(name, "A NUL character cannot be used. Remove it.", "null_characters_not_allowed")
        return given
