"""Strong ETags of versioned things, and the If-Match that a change must carry."""

import re

from django.http import HttpRequest

from config.http.errors import DossierError

VERSION_TAG = re.compile(r'"?[0-9]{1,9}"?')  # some clients lose the quotes


class PreconditionRequired(DossierError):
    status = 428
    code = "precondition_required"
    title = "Say which version you changed"


class PreconditionFailed(DossierError):
    status = 412
    code = "precondition_failed"
    title = "This exists already"


def etag(version: int) -> str:
    """The strong ETag of a version: its number in quotes."""
    return f'"{version}"'


def expected_version(request: HttpRequest, current: int) -> int:
    """The version that If-Match names; `*` stands for the current one, and what names no version for 0, which is stale.

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
    """Whether the request may only create: `If-None-Match: *`."""
    return request.headers.get("If-None-Match", "").strip() == "*"


def has_current_version(request: HttpRequest, current: int) -> bool:
    """Whether the reader's If-None-Match names the current version, so that 304 says all."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    return etag(current) in tags or "*" in tags
