"""This module lists the browser sessions of a person, and ends them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from teams.models import User
from teams.sign_in.device import browser_name
from teams.sign_in.models import BrowserSession
from teams.sign_in.session_store import digest_of


def sessions_of(person: User) -> QuerySet[BrowserSession]:
    """Return the sessions in which the person is signed in now, the last one used first."""
    return BrowserSession.objects.filter(person=person, expires_at__gt=timezone.now()).order_by("-seen_at", "-id")


def sessions_end(*, person: User, except_digest: str = "") -> int:
    """End all sessions of a person, except the one with the given digest. Return how many were ended."""
    ended, _ = BrowserSession.objects.filter(person=person).exclude(digest=except_digest).delete()
    return ended


def session_end(*, person: User, id_: UUID) -> bool:
    """End a session of a person. Return whether the session existed."""
    ended, _ = BrowserSession.objects.filter(person=person, id=id_).delete()
    return bool(ended)


def current_digest(request: HttpRequest) -> str:
    """Return the digest of the request's own session."""
    return digest_of(request.session.session_key)


def other_sessions_end(request: HttpRequest) -> int:
    """End all sessions of the requesting person except the current one. Return how many were ended."""
    assert isinstance(request.user, User)  # noqa: S101 - all who call this are behind the sign-in
    return sessions_end(person=request.user, except_digest=current_digest(request))


@dataclass(frozen=True, slots=True)
class SessionPresentation:
    """A session as pages show it: the name of the browser, and whether it is the current one."""

    session: BrowserSession
    browser: str
    is_current: bool


def present_sessions(person: User, current: str = "") -> Sequence[SessionPresentation]:
    """Return the sessions of a person for a page, this very browser's first."""
    found = sessions_of(person)
    shown = [SessionPresentation(row, browser_name(row.browser), is_current=row.digest == current) for row in found]
    return sorted(shown, key=lambda row: not row.is_current)
