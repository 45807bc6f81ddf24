"""Every route that there is, and its address for one team's things."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from tests.rights.world import DAY, Owned, World

API = "api/v1/"
OTHERS = {
    "memories/<uuid:id_>/bring-back/": ("memories", "teams/retired"),
    "memories/<uuid:id_>/separate/": ("memories", "teams/merged"),
    "conflicts/<uuid:id_>/undo/": ("conflicts", "decided conflict"),
    "api/v1/conflicts/<uuid:id_>/undo": ("conflicts", "decided conflict"),
    "alerts/<uuid:id_>/reopen/": ("alerts", "settled alert"),
    "api/v1/alerts/<uuid:id_>/reopen": ("alerts", "settled alert"),
}
"""Routes that take a thing in another state than most do."""
PLACE = re.compile(r"<\w+:(\w+)>")


def all_routes() -> dict[str, URLPattern]:
    """Every route by its pattern, as in “teams/<slug:slug>/settings/”."""
    return dict(_routes(get_resolver().url_patterns))


def _routes(patterns: Iterable[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, before + str(pattern.pattern))
        else:
            yield before + str(pattern.pattern), pattern


def address(route: str, owned: Owned, world: World) -> str:
    """The route with the ids of what belongs to the team, or else to the organisation or the mixed person."""
    segments = route.removeprefix(API).split("/")
    kind, other = OTHERS.get(route, ("", ""))
    changed = {kind: owned.ids[other]} if other else {}
    filled = [_filled(segments, at, owned, {**world.ids, **owned.ids}, changed) for at in range(len(segments))]
    return "/" + (API if route.startswith(API) else "") + "/".join(filled)


def _filled(segments: list[str], at: int, owned: Owned, ids: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """A segment of the route; where it is a place, what belongs there follows from the segment before it."""
    place = PLACE.fullmatch(segments[at])
    if place is None:
        return segments[at]
    whose, kind = segments[0], segments[at - 1]
    facts: dict[str, Any] = {
        "teams": owned.team.slug,
        "agents": owned.agent.slug,
        "files": {
            "teams": "GOALS",
            "organisation": ids["organisation"],
            "subjects": ids["subject file"],
        }.get(whose, "IDENTITY"),
        "logs": DAY,
        "daily-logs": DAY,
        "history": 1,
        "versions": 1,
        "members": owned.member.username if place[1] == "username" else owned.member.id,
        "keys": owned.key.id,
        "messages": ids["deliveries"],
        "schemas": "memory-request.v0.json",
        "kv-policies": "general",
        "storage": "general",
        "sensitivity": "memory",
        "<slug:kind>": ids["teams/memories"],
        "reports": ids["lifecycle report"],
        "lifecycle-reports": ids["lifecycle report"],
        "memories": ids["agents/memories" if whose == "agents" else "teams/memories"],
        **ids,
        **changed,
    }
    return str(facts[kind])
