"""Every page, asked for and posted to by everybody, at the things of each team."""

import pytest

from tests.rights.needs import ALLOWED, VISITS, expected
from tests.rights.pages_table import BODIES, QUERIES, rows
from tests.rights.routes import API, address, all_routes
from tests.rights.visits import Answer, Answers, faults, leaked, undone
from tests.rights.world import FOREIGN, Owned, World

pytestmark = [pytest.mark.finding("1w"), pytest.mark.django_db]

ROWS = rows()
CASES = [(route, method) for route, needs in ROWS.items() for method in needs if "account" not in needs.values()]
PRIVATE = [
    route for route, method in CASES if method == "GET" and expected(ROWS[route]["GET"], "mixed", "none") != ALLOWED
]


def test_every_page_has_a_row() -> None:
    """A new route joins the table, with what it needs."""
    assert {route for route in all_routes() if not route.startswith(API)} == set(ROWS)
    assert set(BODIES) | set(QUERIES) <= set(ROWS)


@pytest.mark.parametrize(("route", "method"), CASES)
def test_everybody_is_answered_as_the_table_says(route: str, method: str, world: World) -> None:
    need = ROWS[route][method]
    visits = VISITS
    if need == "=":  # who was shown the page is shown it again
        need = ROWS[route]["GET"]
        visits = tuple(visit for visit in VISITS if expected(need, visit[0], visit[2]) != ALLOWED)
    answers: Answers = {}
    found = faults(need, visits, world, lambda who, owned: visited(route, method, who, owned, world, answers=answers))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("route", PRIVATE)
def test_other_methods_do_no_more(route: str, world: World) -> None:
    """The function of a page that looks for POST alone takes other methods for GET."""
    for method in ("PUT", "PATCH", "DELETE"):
        answer = visited(route, method, "mixed", world.teams[FOREIGN], world, answers={})
        assert answer.outcome != ALLOWED
        assert not leaked(answer.text, "mixed", world.teams[FOREIGN], world, refused=True)


def visited(route: str, method: str, who: str, owned: Owned, world: World, *, answers: Answers) -> Answer:
    """What somebody is answered, with a valid form where one is posted; `answers` keeps those to GET."""
    query = QUERIES[route](owned) if route in QUERIES else ""
    path = f"{address(route, owned, world)}?{query}"
    browser = world.browsers[who]
    if method == "GET":
        if (who, path) not in answers:  # of several teams it is the same if the route names none
            answers[who, path] = undone(lambda: browser.get(path))
        return answers[who, path]
    if method == "POST":
        return undone(lambda: browser.post(path, BODIES[route](owned, world) if route in BODIES else {}))
    return undone(lambda: browser.generic(method, path))
