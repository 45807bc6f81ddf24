"""The base of every REST endpoint: who asks, and the validated values of what was sent."""

from typing import Any, cast

from rest_framework.request import Request
from rest_framework.views import APIView

from config.http.api import StrictSerializer
from teams.principal import Principal


class ApiView(APIView):
    """A DRF view whose `request.user` is a Principal."""

    request: Request

    @property
    def principal(self) -> Principal:
        """The person or key behind the request."""
        return cast(Principal, self.request.user)

    def validated(self, serializer: type[StrictSerializer], data: Any = None) -> dict[str, Any]:
        """The values of the body, or of `data`. Raises ValidationError, which becomes a 422 with per-field errors."""
        instance = serializer(data=self.request.data if data is None else data)
        instance.is_valid(raise_exception=True)
        return cast(dict[str, Any], instance.validated_data)
