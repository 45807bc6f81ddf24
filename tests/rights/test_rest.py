"""Every method of every address of REST, tried by people and keys, at the things of each team."""

from typing import Any
from typing import cast as typed

import pytest

from assembly.learned_weights import jobs as learning_jobs
from assembly.learned_weights import services as learning_services
from tests.rights.needs import KEY_VISITS, VISITS
from tests.rights.rest_table import BODIES, QUERIES, VERSIONS, rows
from tests.rights.routes import API, address, all_routes
from tests.rights.visits import Answer, Answers, faults, undone
from tests.rights.world import Owned, World

pytestmark = [pytest.mark.finding("1w"), pytest.mark.django_db]

ROWS = rows()
ROUTES = {route.removeprefix(API): pattern for route, pattern in all_routes().items() if route.startswith(API)}
CASES = [(route, method) for route, needs in ROWS.items() for method in needs]


def test_every_method_of_every_address_has_a_row() -> None:
    """A new route joins the table, with what each method needs."""
    methods = {}
    for route, pattern in ROUTES.items():
        view = typed("Any", pattern.callback).cls
        methods[route] = {name.upper() for name in view.http_method_names if hasattr(view, name)}
    methods["schema"] &= {"GET"}
    methods["docs"] &= {"GET"}
    assert {route: found - {"HEAD"} for route, found in methods.items()} == {
        route: set(needs) for route, needs in ROWS.items()
    }
    assert {(route, method) for route, needs in ROWS.items() for method in needs} >= set(BODIES)
    assert set(QUERIES) <= set(ROWS)


@pytest.fixture(autouse=True)
def _any_feedback_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is refused to learn weights because the world has too little feedback."""
    monkeypatch.setattr(learning_jobs, "require_contexts", lambda *_: None)
    monkeypatch.setattr(learning_services, "has_blocks", lambda _: True)


@pytest.mark.parametrize(("route", "method"), CASES)
def test_everybody_is_answered_as_the_table_says(route: str, method: str, world: World) -> None:
    answers: Answers = {}
    found = faults(
        ROWS[route][method],
        (*VISITS, *KEY_VISITS),
        world,
        lambda who, owned: visited(route, method, who, owned, world, answers=answers),
    )
    assert not found, "\n".join(found)


def visited(route: str, method: str, who: str, owned: Owned, world: World, *, answers: Answers) -> Answer:
    """What somebody is answered, with a valid body and the version that there is; `answers` keeps those to GET."""
    query = QUERIES[route](owned) if route in QUERIES else ""
    path = f"{address(API + route, owned, world)}?{query}"
    if method == "GET" and (who, path) in answers:  # of several teams it is the same if the route names none
        return answers[who, path]
    body = BODIES[route, method](owned, world) if (route, method) in BODIES else None if method == "GET" else {}
    headers = _preconditions(route, method)
    if isinstance(body, bytes):
        headers["content_type"] = "application/zip"
    answer = undone(lambda: world.api(who).send(method, path.rstrip("?"), body, **headers))
    if method == "GET":
        answers[who, path] = answer
    return answer


def _preconditions(route: str, method: str) -> dict[str, str]:
    """What PUT, PATCH and DELETE say of the version that they change."""
    if method not in {"PUT", "PATCH", "DELETE"}:
        return {}
    kinds = [VERSIONS[segment] for segment in route.split("/") if segment in VERSIONS]
    if route.endswith(("/flag", "/members/<str:username>")):
        return {}
    return {"if_match": f'"{kinds[-1] if kinds else 1}"'}
