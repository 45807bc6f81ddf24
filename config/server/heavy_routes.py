"""Costly requests are recognised here; they go to the heavy process, where nobody waits for them.

A request is costly by its address, by the size of its body, or because the last requests of the same caller to the same
route took long to compute.
"""

import re
import time
from collections.abc import Mapping
from math import inf
from typing import Any

from django.http import Http404
from django.urls import resolve

HEAVY_BODY_BYTES = 64_000
HEAVY_SECONDS = 0.15
"""Processor time. A light request takes a few milliseconds, the first of a large agent some tens of them."""
LIGHT_CPU_SECONDS = 0.2
"""Processor time after which a request is stopped that was not known to be costly, to be answered in the heavy lane."""
LONG_SECONDS = 0.6
"""Noted of a request that still computes: enough to make its route costly at once."""
MIDDLING_SECONDS = 0.03
"""Processor time that makes another route of a costly caller costly too: it keeps others waiting, again and again."""
REMEMBERED_SECONDS = 60.0
NEWEST_SHARE = 0.3  # of the newest request in the mean: one that was slow by chance does not count as costly
MAX_REMEMBERED = 2_000

UUID = r"[0-9a-f-]{36}"
HEAVY_POST_PATHS = re.compile(
    rf"/api/v1/(?:compress|draft-previews|import(?:/{UUID}/apply)?|rules/backtest|proposals/{UUID}/rerun|assemblies/compare"
    rf"|assemblies/{UUID}/(?:replay|why-not|rerun|what-if|as-of))"
    rf"|/(?:import/(?:{UUID}/(?:apply/)?)?|contexts/download/|contexts/compare/"
    rf"|contexts/{UUID}/(?:replay|why-not|rerun|what-if)/|rules/[^/]+/(?:edit/)?backtest/)"
)
HEAVY_GET_PATHS = re.compile(
    rf"/api/v1/(?:(?:agents/[^/]+/|teams/[^/]+/)?export|.+/compare|agents/[^/]+/(?:as-of|graph)"
    rf"|assemblies/{UUID}/(?:replay|why-not|rerun|as-of|bundle))"
    rf"|/(?:agents/[^/]+/|teams/[^/]+/)?export/download/|/.+/history/compare/|/contexts/compare/"
    rf"|/agents/[^/]+/(?:as-of|graph)/|/contexts/{UUID}/(?:why-not|rerun|what-if|bundle|json)/(?:file/)?"
    rf"|/import/{UUID}/"
)


def is_heavy(scope: Mapping[str, Any], body_bytes: int) -> bool:
    """Return whether anybody's request like this one is costly. `body_bytes` is the size announced, 0 where none is."""
    pattern = HEAVY_GET_PATHS if scope["method"] in {"GET", "HEAD"} else HEAVY_POST_PATHS
    return body_bytes > HEAVY_BODY_BYTES or bool(pattern.fullmatch(scope["path"]))


def may_be_stopped(scope: Mapping[str, Any]) -> bool:
    """Return whether the request may be begun again elsewhere: whatever is stopped has changed nothing.

    A page that is posted may have counted a sign-in, or used up a code.
    """
    return scope["method"] in {"GET", "HEAD"} or scope["path"].startswith("/api/")


class HeavyRoutes:
    """Learns which requests of a caller are costly."""

    def __init__(self) -> None:
        self._means: dict[tuple[str, str], tuple[float, float]] = {}
        """Seconds of processor time by caller and route, and when that was last so."""
        self._costly: dict[str, float] = {}
        """When callers last had costly requests."""

    def was_heavy(self, caller: str, path: str) -> bool:
        """Return whether the last requests of the caller to the same route were costly, or middling ones next to other
        costly ones."""
        since = time.monotonic() - REMEMBERED_SECONDS
        if self._costly.get(caller, 0.0) < since:
            return False
        mean, moment = self._means.get((caller, route_of(path)), (0.0, 0.0))
        return mean >= MIDDLING_SECONDS and moment > since

    def learn(self, caller: str, path: str, seconds: float) -> None:
        """Note what a request cost, wherever it was computed."""
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
    """The pattern that the address fits, "" for an address that leads nowhere."""
    try:
        return resolve(path).route
    except Http404:
        return ""
