"""Which requests are costly: they go to the heavy lane, where they keep nobody from being answered.

A request is costly by its address, by the size of its body, or because the last requests of the same caller to the same
route took long to compute.
"""

import re
import time
from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.urls import resolve

HEAVY_BODY_BYTES = 64_000
HEAVY_SECONDS = 0.15
"""Processor time. A light request takes a few milliseconds, the first of a large agent some tens of them."""
LONG_SECONDS = 0.6
"""Noted of a request that still computes: enough to make its route costly at once."""
REMEMBERED_SECONDS = 60.0
NEWEST_SHARE = 0.3  # of the newest request in the mean: one that was slow by chance does not count as costly
MOST_REMEMBERED = 2_000

UUID = r"[0-9a-f-]{36}"
POSTED = re.compile(
    rf"/api/v1/(?:compress|trials|import(?:/{UUID}/apply)?|rules/try|proposals/{UUID}/try|assemblies/compare"
    rf"|assemblies/{UUID}/(?:replay|why-not|again|what-if|as-of))"
    rf"|/(?:import/(?:{UUID}/(?:apply/)?)?|contexts/download/|contexts/compare/"
    rf"|contexts/{UUID}/(?:replay|why-not|again|what-if)/|rules/[^/]+/try/)"
)
READ = re.compile(
    rf"/api/v1/(?:(?:agents/[^/]+/|teams/[^/]+/)?export|.+/compare|agents/[^/]+/(?:as-of|graph)"
    rf"|assemblies/{UUID}/(?:replay|why-not|again|as-of|bundle))"
    rf"|/(?:agents/[^/]+/|teams/[^/]+/)?export/download/|/.+/history/compare/|/contexts/compare/"
    rf"|/agents/[^/]+/(?:as-of|graph)/|/contexts/{UUID}/(?:why-not|again|what-if|bundle|json)/(?:file/)?"
    rf"|/import/{UUID}/"
)


def is_heavy(scope: Mapping[str, Any], body_bytes: int) -> bool:
    """Return whether anybody's request like this one is costly. `body_bytes` is the size announced, 0 where none is."""
    pattern = READ if scope["method"] in {"GET", "HEAD"} else POSTED
    return body_bytes > HEAVY_BODY_BYTES or bool(pattern.fullmatch(scope["path"]))


class HeavyRoutes:
    """Learns which requests of a caller are costly."""

    def __init__(self) -> None:
        self._means: dict[tuple[str, str], tuple[float, float]] = {}
        """Seconds of processor time by caller and route, and when that was last so."""
        self._callers: set[str] = set()

    def were_heavy(self, caller: str, path: str) -> bool:
        """Return whether the last requests of the caller to the same route were costly."""
        if caller not in self._callers:
            return False
        mean, moment = self._means.get((caller, route_of(path)), (0.0, 0.0))
        return mean >= HEAVY_SECONDS and time.monotonic() - moment < REMEMBERED_SECONDS

    def learn(self, caller: str, path: str, seconds: float) -> None:
        """Note what a request cost, wherever it was computed."""
        if seconds < HEAVY_SECONDS and caller not in self._callers:
            return
        key = caller, route_of(path)
        before = self._means.get(key, (0.0, 0.0))[0]
        mean = (1 - NEWEST_SHARE) * before + NEWEST_SHARE * seconds
        self._means[key] = mean, time.monotonic()
        self._callers.add(caller)
        if len(self._means) > MOST_REMEMBERED:
            self._forget_old()

    def _forget_old(self) -> None:
        since = time.monotonic() - REMEMBERED_SECONDS
        newest = sorted(((moment, key) for key, (_, moment) in self._means.items() if moment > since), reverse=True)
        self._means = {key: self._means[key] for _, key in newest[: MOST_REMEMBERED // 2]}
        self._callers = {caller for caller, _ in self._means}


def route_of(path: str) -> str:
    """The pattern that the address fits, "" for an address that leads nowhere."""
    try:
        return resolve(path).route
    except Http404:
        return ""
