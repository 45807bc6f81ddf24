"""Versioned resources have strong ETags, and changes must send the version in If-Match."""

import re

from django.http import HttpRequest

from config.http.errors import DossierError

VERSION_TAG = re.compile(r'"?[0-9]{1,9}"?')  # some clients lose the quotes


class PreconditionRequired(DossierError):
    status = 428
    code = "precondition_required"
    title = "The version is missing"


class PreconditionFailed(DossierError):
    status = 412
    code = "precondition_failed"
    title = "This exists already"


def etag(version: int) -> str:
    """Return the strong ETag of a version: its number in quotes."""
    return f'"{version}"'


def expected_version(request: HttpRequest, current: int) -> int:
    """Return the version in If-Match: `*` means the current version, an unknown ETag is 0, which is stale.

    Raises PreconditionRequired without the header.
    """
    header = request.headers.get("If-Match", "").strip()
    if not header:
        raise PreconditionRequired(
            f"Read it first and send its ETag back as If-Match (now: {etag(current)}), so that no newer text is lost."
        )
    tags = [tag.strip() for tag in header.split(",")]
    if "*" in tags or etag(current) in tags:
        return current
    return min((int(tag.strip('"')) for tag in tags if VERSION_TAG.fullmatch(tag)), default=0)


def is_create_only(request: HttpRequest) -> bool:
    """Return whether the request may only create the resource: `If-None-Match: *`."""
    return request.headers.get("If-None-Match", "").strip() == "*"


def has_current_version(request: HttpRequest, current: int) -> bool:
    """Return whether If-None-Match names the current version, so that the response is 304."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    return etag(current) in tags or "*" in tags
