"""Browser sessions are stored by Django's SESSION_ENGINE in this module, with a column for the person.

allauth.usersessions was the alternative. It adds a second table to Django's and maintains it with two to four
statements per page; here a session and its data are one row, which one DELETE ends.

The data of a session is encrypted: while a person sets up an authenticator app, it contains the app's secret. A session
ends after SESSION_IDLE_HOURS without a request, and SESSION_DAYS after its start in any case.
"""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import CreateError, SessionBase, UpdateError
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from psycopg.errors import UniqueViolation

from config.http.client_address import client_address
from config.http.encryption import UndecryptableSecret, decrypt, encrypt
from teams.sign_in.models import MAX_BROWSER_CHARACTERS, BrowserSession

ACTIVITY_INTERVAL = timedelta(minutes=5)
"""The precision of `seen_at`: a page updates it only if it is older than this."""


class SessionStore(SessionBase):
    """A session in the table `browser_sessions`. The key in the cookie is stored as its SHA-256 alone."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self.row: BrowserSession | None = None
        self.address = self.browser = ""  # of the request that is under way, set by the middleware

    def encode(self, session_dict: dict[str, Any]) -> str:
        return encrypt(json.dumps(session_dict))

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        try:
            data: dict[str, Any] = json.loads(decrypt(str(session_data)))
        except UndecryptableSecret:
            return {}  # SECRET_KEY was changed: the person signs in again
        return data

    def load(self) -> dict[str, Any]:
        digest = digest_of(self.session_key)
        self.row = BrowserSession.objects.filter(digest=digest, expires_at__gt=timezone.now()).first()
        if self.row is None:
            self._session_key = None
            return {}
        return self.decode(self.row.session_data)

    def exists(self, session_key: str) -> bool:
        return BrowserSession.objects.filter(digest=digest_of(session_key)).exists()

    def create(self) -> None:
        while True:
            self._session_key = self._get_new_session_key()  # type: ignore[attr-defined]  # missing in the stubs
            try:
                self.save(must_create=True)
            except CreateError:
                continue  # another session has this key: try the next one
            self.modified = True
            return

    def save(self, must_create: bool = False) -> None:
        """Store the session. Raises UpdateError if it was ended in the meantime: it is not created again."""
        if self.session_key is None:
            return self.create()
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]  # missing in the stubs
        facts = {"session_data": self.encode(data), "person_id": data.get(SESSION_KEY)}
        if must_create:
            self._insert(**facts)
        elif not self._update(**facts):
            raise UpdateError
        return None

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            BrowserSession.objects.filter(digest=digest_of(key)).delete()

    @classmethod
    def clear_expired(cls) -> None:
        BrowserSession.objects.filter(expires_at__lt=timezone.now()).delete()

    def note_activity(self) -> None:
        """Update when the person was last active in this session, unless it was updated within the last minutes."""
        if self.row and self.row.person_id and timezone.now() - self.row.seen_at > ACTIVITY_INTERVAL:
            self._update(address=self.address, browser=self.browser)

    def _insert(self, **facts: Any) -> None:
        now = timezone.now()
        row = BrowserSession(
            digest=digest_of(self.session_key), began_at=now, seen_at=now, expires_at=_expiry(now, now),
            address=self.address, browser=self.browser, **facts,
        )  # fmt: skip
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError as error:
            if isinstance(error.__cause__, UniqueViolation):
                raise CreateError from error
            raise
        self.row = row

    def _update(self, **facts: Any) -> bool:
        now = timezone.now()
        began = self.row.began_at if self.row else now
        facts |= {"seen_at": now, "expires_at": _expiry(began, now)}
        return bool(BrowserSession.objects.filter(digest=digest_of(self.session_key)).update(**facts))


class BrowserSessionMiddleware(SessionMiddleware):
    """Django's SessionMiddleware, which also stores the browser and the address that use the session, and when."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        session = self._session_of(request)
        session.address = client_address(request)[:64]
        session.browser = request.headers.get("User-Agent", "")[:MAX_BROWSER_CHARACTERS].replace("\x00", "")

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        session = self._session_of(request)
        if not session.modified:
            session.note_activity()
        return super().process_response(request, response)

    @staticmethod
    def _session_of(request: HttpRequest) -> SessionStore:
        session = request.session
        assert isinstance(session, SessionStore)  # noqa: S101 - SESSION_ENGINE says so
        return session


def digest_of(session_key: str | None) -> str:
    """Return the digest of a session's key, under which the table stores the session."""
    return hashlib.sha256((session_key or "").encode()).hexdigest()


def _expiry(began: datetime, now: datetime) -> datetime:
    return min(now + timedelta(hours=settings.SESSION_IDLE_HOURS), began + timedelta(days=settings.SESSION_DAYS))
