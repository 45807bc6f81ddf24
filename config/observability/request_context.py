"""The request context is what log lines and the request log say of the current request and of its caller."""

from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest
from django.utils.functional import LazyObject

UNMATCHED = "unmatched"
"""The route of an address without a view."""

CURRENT_REQUEST: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def request_fields(request: HttpRequest) -> dict[str, str]:
    """Return the request's id, its route, and the ref of its caller, if known by now: nothing that a user wrote."""
    facts = {"request_id": getattr(request, "request_id", ""), "route": route_of(request)}
    principal = _principal_ref(request)
    return facts | {"principal": principal} if principal else facts


def route_of(request: HttpRequest) -> str:
    """Return the URL pattern of the request, such as `/agents/<slug:slug>/`, never the address itself."""
    return f"/{request.resolver_match.route}" if request.resolver_match else UNMATCHED


def caller_fields(request: HttpRequest) -> dict[str, Any]:
    """Return the caller as plain texts: `principal` is the ref, "" for an anonymous one; `kind`, `agent` and `teams`
    are those of the Principal.

    The result is empty if no code needed the caller.
    """
    user = request.__dict__.get("user")
    if isinstance(user, LazyObject) and "_cached_user" not in request.__dict__:
        return {}
    principal = _principal(request)
    if not getattr(principal, "ref", ""):
        return {"principal": ""}
    agent = principal.agent_id
    teams = sorted(map(str, principal.team_ids))
    return {"principal": principal.ref, "kind": principal.kind, "agent": str(agent or ""), "teams": teams}


def _principal_ref(request: HttpRequest) -> str:
    return getattr(_principal(request), "ref", "")


def _principal(request: HttpRequest) -> Any:
    """Return the principal if it was loaded. In the API it is the user; a person that no code needed is not loaded."""
    user = request.__dict__.get("user")
    known = request.__dict__.get("_cached_user") if isinstance(user, LazyObject) else user
    return getattr(known, "principal", known)
