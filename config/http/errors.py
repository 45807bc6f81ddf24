"""The base class of all errors: a message, a stable code, and an HTTP status."""

import math
from typing import Any


class DossierError(Exception):
    """An error that a person or an agent can act on. Its message says how."""

    status: int = 400
    code: str = "bad_request"
    title: str = "The request failed"
    retry_after: int | None = None
    """Seconds after which the request can be repeated; None if repeating is useless."""

    def __init__(self, detail: str = "", **extra: Any) -> None:
        self.detail = detail or self.title
        self.extra = extra  # further members of the problem+json document
        super().__init__(self.detail)


class NotFound(DossierError):
    """The resource does not exist, or the caller may not know that it exists."""

    status = 404
    code = "not_found"
    title = "Not found"

    def __init__(self, what: str = "") -> None:
        named = f"{what} was not found" if what else "This was not found"
        super().__init__(f"{named}. Check the name and whether you have access.")


class Forbidden(DossierError):
    """The caller may see the resource, but not do this."""

    status = 403
    code = "forbidden"
    title = "Access denied"


class Invalid(DossierError):
    """A value is well formed but not acceptable; `field` names it."""

    status = 422
    code = "invalid"
    title = "Invalid values"

    def __init__(self, field: str, detail: str, code: str = "invalid") -> None:
        super().__init__(detail, errors={field: [{"code": code, "message": detail}]})


class TooManyRequests(DossierError):
    """A limit is reached; `policies` names the limits, `retry_after` is in seconds, `headers` are RateLimit headers."""

    status = 429
    code = "quota_exceeded"
    title = "Too many requests"
    retry_after: int

    def __init__(
        self, detail: str, *, retry_after: float, policies: list[str], headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        super().__init__(detail, **{"violated-policies": policies})
        self.retry_after = max(1, math.ceil(retry_after))
        self.headers = headers or []


class Conflict(DossierError):
    """A resource with this name or key exists already."""

    status = 409
    code = "conflict"
    title = "It exists already"
