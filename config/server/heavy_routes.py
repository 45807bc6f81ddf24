"""This module recognises costly requests, which the heavy process answers, so that other requests do not wait for them.

A request is costly because of its address, the size of its body, or the time that the last requests of the same caller
to the same route took.
"""

import re
import time
from collections.abc import Mapping
from math import inf
from typing import Any

from django.http import Http404
from django.urls import resolve

HEAVY_BODY_BYTES = 64_000
HEAVY_SECONDS = 0.2
"""CPU seconds above which a request is costly.

Most requests take a few milliseconds, a context of a large agent on a new topic 50 to 150. It must not count as costly:
all clients of an agent would wait for the one request of theirs that the heavy process works on.
"""
LIGHT_CPU_SECONDS = 0.2
"""CPU seconds after which a request that was not known to be costly is stopped, to be answered in the heavy lane."""
LONG_SECONDS = 0.7
"""CPU seconds that are noted for a request that still computes: enough to make its route costly at once."""
MIDDLING_SECONDS = 0.15
"""CPU seconds that make another route of a caller with costly requests costly, too."""
REMEMBERED_SECONDS = 60.0
NEWEST_SHARE = 0.3  # of the newest request in the mean: one that was slow by chance does not count as costly
MAX_REMEMBERED = 2_000

UUID = r"[0-9a-f-]{36}"
HEAVY_POST_PATHS = re.compile(
    rf"/api/v1/(?:compress|draft-previews|import(?:/{UUID}/apply)?|rules/(?:backtest|recall-tests)|proposals/{UUID}/rerun|assemblies/compare"
    rf"|assemblies/{UUID}/(?:replay|why-not|rerun|what-if|as-of)|recall-tests/{UUID}/run)"
    rf"|/(?:import/(?:{UUID}/(?:apply/)?)?|contexts/download/|contexts/compare/"
    rf"|contexts/{UUID}/(?:replay|why-not|rerun|what-if)/|rules/[^/]+/(?:edit/)?backtest/"
    rf"|recall-tests/{UUID}/run/|(?:rules|profiles)/[^/]+/(?:edit/)?recall-tests/)"
)
HEAVY_GET_PATHS = re.compile(
    rf"/api/v1/(?:(?:agents/[^/]+/|teams/[^/]+/)?export|.+/compare|agents/[^/]+/(?:as-of|graph)"
    rf"|assemblies/{UUID}/(?:replay|why-not|rerun|as-of|bundle))"
    rf"|/(?:agents/[^/]+/|teams/[^/]+/)?export/download/|/.+/history/compare/|/contexts/compare/"
    rf"|/agents/[^/]+/(?:as-of|graph)/|/contexts/{UUID}/(?:why-not|rerun|what-if|bundle|json)/(?:file/)?"
    rf"|/import/{UUID}/|/drafts/{UUID}/recall-tests/"
)


def is_heavy(scope: Mapping[str, Any], body_bytes: int) -> bool:
    """Return whether every request like this one is costly. `body_bytes` is the announced size, 0 if unknown."""
    pattern = HEAVY_GET_PATHS if scope["method"] in {"GET", "HEAD"} else HEAVY_POST_PATHS
    return body_bytes > HEAVY_BODY_BYTES or bool(pattern.fullmatch(scope["path"]))


def may_be_stopped(scope: Mapping[str, Any]) -> bool:
    """Return whether the request may be repeated in another process, because a stopped request has changed nothing.

    A page that is posted may have counted a sign-in attempt, or used up a code.
    """
    return scope["method"] in {"GET", "HEAD"} or scope["path"].startswith("/api/")


class HeavyRoutes:
    """The record of which requests of a caller are costly."""

    def __init__(self) -> None:
        self._means: dict[tuple[str, str], tuple[float, float]] = {}
        """Mean CPU seconds by caller and route, and when they were updated."""
        self._costly: dict[str, float] = {}
        """When callers last had costly requests."""

    def was_heavy(self, caller: str, path: str) -> bool:
        """Return whether the last requests of the caller to the route were costly, or nearly so beside other costly
        ones.
        """
        since = time.monotonic() - REMEMBERED_SECONDS
        if self._costly.get(caller, 0.0) < since:
            return False
        mean, moment = self._means.get((caller, route_of(path)), (0.0, 0.0))
        return mean >= MIDDLING_SECONDS and moment > since

    def learn(self, caller: str, path: str, seconds: float) -> None:
        """Store what a request cost, wherever it was computed."""
        if seconds < HEAVY_SECONDS and caller not in self._costly:
            return
        key, now = (caller, route_of(path)), time.monotonic()
        unknown = seconds if self._costly.get(caller, -inf) > now - REMEMBERED_SECONDS else 0.0
        before = self._means.get(key, (unknown, 0.0))[0]
        mean = (1 - NEWEST_SHARE) * before + NEWEST_SHARE * seconds
        self._means[key] = mean, now
        if mean >= HEAVY_SECONDS:
            self._costly[caller] = now
        else:
            self._costly.setdefault(caller, -inf)
        if len(self._means) > MAX_REMEMBERED:
            self._forget_old()

    def _forget_old(self) -> None:
        since = time.monotonic() - REMEMBERED_SECONDS
        newest = sorted(((moment, key) for key, (_, moment) in self._means.items() if moment > since), reverse=True)
        self._means = {key: self._means[key] for _, key in newest[: MAX_REMEMBERED // 2]}
        self._costly = {caller: moment for caller, moment in self._costly.items() if moment > since}


def route_of(path: str) -> str:
    """Return the URL pattern of the path; "" if there is none."""
    try:
        return resolve(path).route
    except Http404:
        return ""
