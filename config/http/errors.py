"""The root of every app's errors: what happened, a stable code, and how it looks over HTTP."""

import math
from typing import Any


class DossierError(Exception):
    """An error that a person or an agent can do something about. The message says what."""

    status: int = 400
    code: str = "bad_request"
    title: str = "This request cannot be carried out"
    retry_after: int | None = None
    """Seconds after which trying again makes sense; None where it never does."""

    def __init__(self, detail: str = "", **extra: Any) -> None:
        self.detail = detail or self.title
        self.extra = extra  # further members of the problem+json document
        super().__init__(self.detail)


class NotFound(DossierError):
    """It does not exist, or the one who asks may not know that it does."""

    status = 404
    code = "not_found"
    title = "Not found"

    def __init__(self, what: str = "") -> None:
        named = f"{what} was not found" if what else "This was not found"
        super().__init__(f"{named}. Check the name and whether you have access.")


class Forbidden(DossierError):
    """The one who asks may see this, but not do that."""

    status = 403
    code = "forbidden"
    title = "You may not do this"


class Invalid(DossierError):
    """A value that is well formed but not acceptable; `field` names it."""

    status = 422
    code = "invalid"
    title = "Some values cannot be used"

    def __init__(self, field: str, detail: str, code: str = "invalid") -> None:
        super().__init__(detail, errors={field: [{"code": code, "message": detail}]})


class TooManyRequests(DossierError):
    """A limit is reached; `policies` names the limits, `retry_after` is in seconds, `headers` are RateLimit headers."""

    status = 429
    code = "quota_exceeded"
    title = "Too much at once"
    retry_after: int

    def __init__(
        self, detail: str, *, retry_after: float, policies: list[str], headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        super().__init__(detail, **{"violated-policies": policies})
        self.retry_after = max(1, math.ceil(retry_after))
        self.headers = headers or []


class Conflict(DossierError):
    """Something with this name or key is there already."""

    status = 409
    code = "conflict"
    title = "This is there already"
