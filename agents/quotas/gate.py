"""The gate admits a request while its caller, the caller's agent and its teams are within their limits.

Which requests store something is known from method and address, before any work is done.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import NamedTuple

from agents.quotas.headers import rate_limit_headers
from agents.quotas.limits import DAY_LIMIT_ADVICE, DAY_REACHED_SECONDS, NO_LIMITS, Limits, limit_owner_phrase
from agents.quotas.uses import UseCounter, uses
from config.http.errors import TooManyRequests
from config.server.callers import Caller
from config.server.request_counts import RequestCounts, SubjectCounts, seconds_left

WRITE_METHODS = {"POST", "PUT", "PATCH"}
RECORDING_PATHS = re.compile(
    r"/api/v1/(?:assemblies(?:/[^/]+/(?:append|rerun|what-if))?|memory/assemble)"
    r"|/preview/|/contexts/[^/]+/(?:rerun|what-if)/"
)
READ_ONLY_POSTS = re.compile(
    r"/api/v1/(?:compress|tokens|draft-previews|.+/(?:search|check|backtest|rerun|compare|why-not|as-of|replay|query|test|acknowledge))"
    r"|/(?:accounts|size|contexts)/.*|/.+/(?:check|backtest|compare|test|query|revoke|delete)/"
)


class StorageKind(Enum):
    """What a request may add to the database."""

    NOTHING = auto()
    TEXTS = auto()
    RECORDS = auto()


def storage_kind_of(method: str, path: str) -> StorageKind:
    """Return what a successful request with this method and path stores. An unknown one counts as storing texts."""
    if method not in WRITE_METHODS:
        return StorageKind.NOTHING
    if RECORDING_PATHS.fullmatch(path):
        return StorageKind.RECORDS
    return StorageKind.NOTHING if READ_ONLY_POSTS.fullmatch(path) else StorageKind.TEXTS


HEAVY_UNDER_WAY = 8
"""The maximum number of costly requests of one caller in progress or waiting; they are computed one at a time."""
BUSY_SECONDS = 2
SUCCESS = range(200, 400)


class GateRequest(NamedTuple):
    """The properties of a request that the gate checks."""

    caller: Caller
    heavy: bool
    method: str
    path: str


class _ReachedLimit(NamedTuple):
    """A limit that is reached."""

    policy: str
    detail: str
    retry_after: int


class GateAdmission:
    """A request that was admitted."""

    def __init__(self, gate: "QuotaGate", incoming: GateRequest, limits: Limits) -> None:
        self._gate, self._incoming, self._limits = gate, incoming, limits

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers RateLimit-Policy and RateLimit, for API responses to callers that have a limit."""
        if self._limits.is_unlimited or not self._incoming.path.startswith("/api/"):
            return []
        return self._gate.headers(self._incoming.caller.name, self._limits)

    def answered(self, status: int, body_bytes: int) -> None:
        """Count the texts that the request stored: the size of its body, if it stored any."""
        incoming = self._incoming
        if body_bytes and status in SUCCESS and storage_kind_of(incoming.method, incoming.path) is StorageKind.TEXTS:
            self._gate.count_texts(incoming.caller, body_bytes)


class QuotaGate:
    """The gate of one web process, which admits requests within the limits."""

    def __init__(self, counts: RequestCounts, used: UseCounter = uses) -> None:
        self._counts = counts
        self._uses = used

    @contextmanager
    def admit(
        self, caller: Caller, *, heavy: bool, method: str, path: str, moved: bool = False
    ) -> Iterator[GateAdmission]:
        """Count the request as in progress within the block. Raises TooManyRequests on entering it.

        A request that was `moved` to the heavy process was admitted before, as a request that is not costly.
        """
        incoming = GateRequest(caller, heavy, method, path)
        limited = self._limited(caller)
        for subject, limits in limited.items():
            for reached in self._reached(incoming, subject, NO_LIMITS if moved else limits):
                self._uses.add(caller.subjects, refused=1)
                raise TooManyRequests(
                    reached.detail,
                    retry_after=reached.retry_after,
                    policies=[reached.policy],
                    headers=self.headers(subject, limits),
                )
        for subject in limited:
            self._counts.begin(subject, heavy=heavy, moved=moved)
        self._uses.add(caller.subjects, requests=int(not moved))
        try:
            yield GateAdmission(self, incoming, limited[caller.name])
        finally:
            for subject in limited:
                self._counts.end(subject, heavy=heavy)

    def headers(self, subject: str, limits: Limits) -> list[tuple[bytes, bytes]]:
        """Return the headers with the limits of a subject and how much is left."""
        return rate_limit_headers(limits, self._counts.of(subject), self._uses.stored_today(subject))

    def count_texts(self, caller: Caller, size: int) -> None:
        """Count bytes of texts that the caller stored."""
        self._uses.add(caller.subjects, text_bytes=size)

    def _limited(self, caller: Caller) -> dict[str, Limits]:
        """Return the caller, whose requests are always counted, and those of its agent and teams that have limits."""
        if not caller.subjects:
            return {caller.name: NO_LIMITS}
        limited = {caller.name: self._uses.limits_of(caller.name, caller.kind)}
        for subject in caller.subjects[1:]:
            limits = self._uses.limits_of(subject, "")
            if not limits.is_unlimited:
                limited[subject] = limits
        return limited

    def _reached(self, incoming: GateRequest, subject: str, limits: Limits) -> Iterator[_ReachedLimit]:
        counted, whose = self._counts.of(subject), limit_owner_phrase(incoming.caller.kind, subject)
        if incoming.heavy and subject == incoming.caller.name and counted.heavy >= HEAVY_UNDER_WAY:
            detail = f"{counted.heavy} costly requests of {whose} are under way already. Wait for their answers."
            yield _ReachedLimit("heavy-requests", detail, BUSY_SECONDS)
        yield from _reached_concurrency(counted, limits, whose)
        if limits.text_bytes_per_day or limits.record_bytes_per_day:
            yield from self._reached_today(incoming, subject, limits, whose)

    def _reached_today(
        self, incoming: GateRequest, subject: str, limits: Limits, whose: str
    ) -> Iterator[_ReachedLimit]:
        kind = storage_kind_of(incoming.method, incoming.path)
        if kind is StorageKind.NOTHING:
            return
        texts, records = self._uses.stored_today(subject)
        is_text = kind is StorageKind.TEXTS
        limit, used = (limits.text_bytes_per_day, texts) if is_text else (limits.record_bytes_per_day, records)
        if limit and used >= limit:
            noun = "texts" if is_text else "records of contexts"
            detail = f"{limit:,} bytes of {noun} per day are allowed for {whose}. {DAY_LIMIT_ADVICE}"
            yield _ReachedLimit(f"{'text' if is_text else 'record'}-bytes-per-day", detail, DAY_REACHED_SECONDS)


def _reached_concurrency(counted: SubjectCounts, limits: Limits, whose: str) -> Iterator[_ReachedLimit]:
    if limits.requests_under_way and counted.under_way >= limits.requests_under_way:
        detail = f"{counted.under_way} requests of {whose} are under way already. Wait for their answers."
        yield _ReachedLimit("requests-under-way", detail, BUSY_SECONDS)
    if limits.requests_per_minute and counted.this_minute >= limits.requests_per_minute:
        detail = f"{limits.requests_per_minute:,} requests per minute are allowed for {whose}."
        yield _ReachedLimit("requests-per-minute", f"{detail} Wait for the next minute.", seconds_left())
