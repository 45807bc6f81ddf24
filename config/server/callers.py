"""The caller of a request is recognised by its credential before any work is done for it.

A key or a session cookie that was valid in an earlier request counts as its principal. Everything else counts as the
address it comes from, so that made-up credentials give no advantage.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache
from django.conf import settings

from config.http.client_address import address_behind_proxies, client_network

MAX_CREDENTIALS = 10_000
DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal of a request, or its address if the principal is unknown."""

    name: str
    """The principal's ref, or `address:…`."""
    kind: str = "address"
    agent: str = ""
    teams: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects whose limits the request counts towards: the principal, its agent and its teams; none for an
        address.
        """
        if self.kind == "address":
            return ()
        agent = (f"agent:{self.agent}",) if self.agent else ()
        return (self.name, *agent, *(f"team:{team}" for team in self.teams))


class CallerCache:
    """A cache of the credentials that were valid in this process lately. Only the thread of the event
    loop may use it.
    """

    def __init__(self) -> None:
        self._known: LRUCache[bytes, Caller] = LRUCache(MAX_CREDENTIALS)

    def caller_of(self, scope: Mapping[str, Any], credential: bytes) -> Caller:
        """Return the caller of the request; `credential` is the result of `credential_of`."""
        known = self._known.get(credential) if credential else None
        return known or Caller(f"address:{address_of(scope)}")

    def learn(self, credential: bytes, facts: Mapping[str, Any]) -> None:
        """Store to whom the credential of an answered request belongs, or that it is not valid any more."""
        if not credential:
            return
        if not facts.get("principal"):
            self._known.pop(credential, None)
            return
        self._known[credential] = Caller(facts["principal"], facts["kind"], facts["agent"], tuple(facts["teams"]))


def credential_of(scope: Mapping[str, Any]) -> bytes:
    """Return a digest of the request's key or session cookie; empty if it has none.

    Pages accept cookies only, the API keys only.
    """
    wanted = b"authorization" if scope["path"].startswith("/api/") else b"cookie"
    found = next((value for name, value in scope["headers"] if name == wanted), b"")
    if found and wanted == b"cookie":
        found = _session_of(found)
    return hashlib.blake2b(found, digest_size=DIGEST_BYTES).digest() if found else b""


def _session_of(cookies: bytes) -> bytes:
    name = f"{settings.SESSION_COOKIE_NAME}=".encode()
    return next((part.strip() for part in cookies.split(b";") if part.strip().startswith(name)), b"")


def address_of(scope: Mapping[str, Any]) -> str:
    """Return the network address of the client, as trusted proxies report it; for IPv6, the network of one client."""
    peer = scope["client"][0] if scope.get("client") else ""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    return client_network(address_behind_proxies(peer, forwarded.decode("latin-1")))
