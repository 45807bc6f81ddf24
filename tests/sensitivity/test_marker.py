"""A marker stands in one restricted thing of every kind. Nobody without the clearance reads it, on any page or address.

Visited are all pages and endpoints that answer to GET: those of the other things, where lists, searches and exports
could tell of restricted ones, and those of the restricted things, which are answered as if these did not exist.
"""

from collections.abc import Mapping

import pytest

from tests.rights.pages_table import QUERIES as PAGE_QUERIES
from tests.rights.pages_table import rows as page_rows
from tests.rights.rest_table import QUERIES as REST_QUERIES
from tests.rights.rest_table import rows as rest_rows
from tests.rights.routes import API, address
from tests.rights.visits import Answer, undone
from tests.rights.world import HELPED, LED, WATCHED, Owned, World
from tests.sensitivity.restricted_things import HOUSE_MARKER, MARKER, Restricted

pytestmark = pytest.mark.django_db

UNCLEARED = {
    LED: ("viewer", "editor", "own key", "writing key"),
    HELPED: ("mixed",),
    WATCHED: ("mixed",),
}
"""Who does not read what is restricted in each team that they see; `mixed` administers the first one."""
PAGES = [route for route, needs in page_rows().items() if needs["GET"] != "-"]
ADDRESSES = [route for route, needs in rest_rows().items() if "GET" in needs]


ALIKE = frozenset({f"{API}schema", f"{API}docs"})
"""Pages that are made of the program alone, slowly, and alike for everybody."""


def path_of(route: str, owned: Owned, world: World) -> str:
    """Where the route is for a team's things. Of two teams it is the same if the route names neither."""
    named = route.removeprefix(API)
    queries = REST_QUERIES if route.startswith(API) else PAGE_QUERIES
    query = queries[named](owned) if named in queries else ""
    return f"{address(route, owned, world)}?{query}".rstrip("?")


def visited(route: str, who: str, owned: Owned, world: World) -> Answer | None:
    """What somebody is answered; None where somebody has no pages, such as a key."""
    path = path_of(route, owned, world)
    if route.startswith(API):
        return undone(lambda: world.api(who).send("GET", path, None))
    return undone(lambda: world.browsers[who].get(path)) if who in world.browsers else None


@pytest.mark.parametrize("route", [*PAGES, *(API + route for route in ADDRESSES)])
def test_nobody_without_clearance_reads_the_marker(
    route: str, world: World, restricted: Mapping[str, Restricted]
) -> None:
    wrong = []
    been = set[tuple[str, str]]()
    for slug, people in UNCLEARED.items():
        for who in people if route not in ALIKE else people[:1]:
            for owned in (world.teams[slug], restricted[slug].at(route)):
                if (visit := (who, path_of(route, owned, world))) in been:
                    continue
                been.add(visit)
                answer = visited(route, who, owned, world)
                of = [one.marker for one in restricted.values() if who != "mixed" or one.owned.team.slug != LED]
                of += [] if who == "mixed" else [HOUSE_MARKER]
                if answer and any(marker in answer.text for marker in of):
                    at = answer.text.index(next(marker for marker in of if marker in answer.text))
                    wrong.append(f"{who} at {slug}: {answer.status} …{answer.text[max(0, at - 200) : at + 80]}…")
    assert not wrong, "\n".join(wrong)


SHOWN = [
    *(
        f"agents/<slug:slug>/{noun}/<uuid:thing_id>/"
        for noun in ("entities", "patterns", "threads", "tools", "documents")
    ),
    "agents/<slug:slug>/events/<uuid:event_id>/",
    "agents/<slug:slug>/sessions/<uuid:session_id>/",
    "agents/<slug:slug>/tasks/",
    "agents/<slug:slug>/logs/<date:date>/",
    "agents/<slug:slug>/files/<agent_file_key:key>/",
    "teams/<slug:slug>/files/<team_file_key:key>/",
    "organisation/files/<slug:key>/history/<int:number>/",
    "memories/<uuid:id_>/",
    "contexts/<uuid:id_>/",
    "contexts/<uuid:id_>/items/",
    "conflicts/<uuid:id_>/",
    "proposals/<uuid:id_>/",
    "recall-tests/<uuid:id_>/",
    "sensitivity/<slug:kind>/<uuid:id_>/",
    *(
        f"{API}agents/<slug:slug>/{noun}/<uuid:id_>"
        for noun in (
            "sessions",
            "events",
            "entities",
            "relations",
            "patterns",
            "documents",
            "threads",
            "tools",
            "tasks",
        )
    ),
    f"{API}agents/<slug:slug>/memories/<uuid:id_>",
    f"{API}teams/<slug:slug>/memories/<uuid:id_>",
    f"{API}agents/<slug:slug>/daily-logs/<slug:date>",
    f"{API}agents/<slug:slug>/files/<slug:key>",
    f"{API}teams/<slug:slug>/files/<slug:key>",
    f"{API}organisation/files/<slug:key>",
    f"{API}assemblies/<uuid:id_>",
    f"{API}conflicts/<uuid:id_>",
    f"{API}alerts/<uuid:id_>",
    f"{API}proposals/<uuid:id_>",
    f"{API}recall-tests/<uuid:id_>",
]
"""Where somebody with the clearance reads the marker, and nobody else finds anything."""


@pytest.mark.parametrize("route", SHOWN)
def test_with_the_clearance_it_is_told_and_without_it_does_not_exist(
    route: str, world: World, restricted: Mapping[str, Restricted]
) -> None:
    owned = restricted[LED].at(route)
    for who in ("mixed", "admin"):
        answer = visited(route, who, owned, world)
        assert answer
        assert answer.status == 200
        assert MARKER in answer.text
    for slug, people in UNCLEARED.items():
        for who in people:
            # Who administers a team reads the organisation's files.
            if not ("organisation/" in route and who == "mixed"):
                answer = visited(route, who, restricted[slug].at(route), world)
                assert answer is None or answer.status == (200 if route in WITHOUT else 404), who


WITHOUT = {"agents/<slug:slug>/tasks/", "agents/<slug:slug>/logs/<date:date>/"}
"""Pages that exist without the restricted thing: the task stack, and a day without a log."""


SEARCHES = (
    "/search/?q=tea",
    "/agents/{agent}/memories/?q=tea",
    "/agents/{agent}/memories/?q=tea&by=words",
    "/teams/{team}/memories/?q=tea",
    "/teams/{team}/memories/?q=tea&by=words",
    "/agents/{agent}/logs/?q=tea",
    "/agents/{agent}/entities/?q=tea",
    "/agents/{agent}/documents/?q=tea",
    "/contexts/?q=tea",
    "/api/v1/agents/{agent}/memories/search?q=tea",
    "/api/v1/teams/{team}/memories/search?q=tea",
    "/api/v1/assemblies?q=tea",
    "/api/v1/agents/{agent}/export",
    "/api/v1/teams/{team}/export",
)
"""Searches for a word that stands in all restricted texts, and exports."""


def found(who: str, path: str, world: World) -> str:
    """What somebody finds; nothing where a key has no pages, or the address is one of a part of a page."""
    if path.startswith("/api/"):
        return undone(lambda: world.api(who).send("GET", path, None)).text
    return undone(lambda: world.browsers[who].get(path)).text if who in world.browsers else ""


def test_no_search_and_no_export_finds_it_without_the_clearance(
    world: World, restricted: Mapping[str, Restricted]
) -> None:
    owned, marker = world.teams[LED], restricted[LED].marker
    paths = [path.format(agent=owned.agent.slug, team=owned.team.slug) for path in SEARCHES]
    by_admin = [path for path in paths if marker in found("mixed", path, world)]
    assert len(by_admin) >= len(paths) // 2, by_admin
    wrong = [(who, path) for who in UNCLEARED[LED] for path in paths if marker in found(who, path, world)]
    assert not wrong
