"""Requests that change something: nobody without the clearance reads the marker in their answers, and no log line, no
trace and no job has it, whoever asks.

The routes are those of the tables of tests/rights, which have every route of the program.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from config.observability.tracing import span
from memories.jobs.services import job_create
from teams.principal import SYSTEM
from tests.rights import pages_table, rest_table
from tests.rights.routes import API, address
from tests.rights.test_rest import _preconditions as preconditions
from tests.rights.visits import Answer
from tests.rights.world import LED, Owned, World
from tests.sensitivity.observation import Observation, observed
from tests.sensitivity.restricted_things import MARKER, Restricted

pytestmark = pytest.mark.django_db

CHANGES = [(route, method) for route, needs in rest_table.rows().items() for method in needs if method != "GET"]
FORMS = [route for route, needs in pages_table.rows().items() if needs["POST"] not in {"-", "=", "account", "public"}]
VISITS = (("editor", True), ("editor", False), ("writing key", True))
"""Who may change the most without reading what is restricted, and whether it is done to the restricted things."""
FREE = frozenset(
    {"text", "content", "title", "name", "goal", "result", "topic", "note", "reason", "label", "guidance", "query",
     "summary", "description", "path", "type", "intent", "q", "typed"}
)  # fmt: skip
"""The fields whose values people write."""


def body_of(route: str, method: str, owned: Owned, world: World) -> Any:
    """What is sent to an address of REST."""
    bodies = rest_table.BODIES
    return bodies[route, method](owned, world) if (route, method) in bodies else {}


def sent(
    route: str, method: str, who: str, owned: Owned, world: World, *, body: Any, observation: Observation
) -> Answer:
    """The answer of REST."""
    headers = preconditions(route, method)
    if isinstance(body, bytes):
        headers["content_type"] = "application/zip"
    return observation.undone(lambda: world.api(who).send(method, address(API + route, owned, world), body, **headers))


def marked(body: Any) -> Any:
    """The body with the marker in whatever people write."""
    if isinstance(body, dict):
        words = {key: f"{MARKER} {value}" for key, value in body.items() if key in FREE and isinstance(value, str)}
        return {key: words.get(key, marked(value)) for key, value in body.items()}
    return [marked(one) for one in body] if isinstance(body, list) else body


def leaks(who: str, answer: Answer, observation: Observation) -> list[str]:
    """What the answer and what was written meanwhile have of the markers, each in a line."""
    found = [f"{who}: {line}" for line in observation.having(MARKER)]
    if MARKER in answer.text + answer.location:
        at = answer.text.find(MARKER)
        found.append(f"{who}: {answer.status} …{answer.text[max(0, at - 200) : at + 80]}…")
    return found


@pytest.mark.parametrize(("route", "method"), CHANGES)
def test_no_change_over_rest_tells_of_it(
    route: str, method: str, world: World, restricted: Mapping[str, Restricted]
) -> None:
    wrong, secret = [], restricted[LED].at(API + route)
    for who, is_secret in VISITS:
        owned = secret if is_secret else world.teams[LED]
        with observed() as observation:
            body = body_of(route, method, owned, world)
            answer = sent(route, method, who, owned, world, body=body, observation=observation)
            wrong += leaks(who, answer, observation)
    with observed() as observation:  # whoever reads the marker may be told it, and only they
        body = marked(body_of(route, method, secret, world))
        sent(route, method, "admin", secret, world, body=body, observation=observation)
        wrong += [f"admin: {line}" for line in observation.having(MARKER)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("route", FORMS)
def test_no_page_has_it_after_a_form(route: str, world: World, restricted: Mapping[str, Restricted]) -> None:
    wrong, browser = [], world.browsers["editor"]
    for owned in (world.teams[LED], restricted[LED].at(route)):
        query = pages_table.QUERIES[route](owned) if route in pages_table.QUERIES else ""
        body = pages_table.BODIES[route](owned, world) if route in pages_table.BODIES else {}
        path = f"{address(route, owned, world)}?{query}"
        with observed() as observation:
            answer = observation.undone(partial(browser.post, path, body, follow=True))
            wrong += leaks("editor", answer, observation)
    assert not wrong, "\n".join(wrong)


def test_the_walk_sees_what_a_log_a_trace_and_a_job_have(world: World) -> None:
    with observed() as observation:
        logging.getLogger("memories.somewhere").debug("it is %s", MARKER)
        with span("request", {"topic": MARKER}):
            pass
        with transaction.atomic():
            job_create(kind="split_files", arguments={"name": MARKER}, agent=None, principal=SYSTEM)
            observation.note_rows()
            transaction.set_rollback(True)
        assert [line.partition(":")[0] for line in observation.having(MARKER)] == ["log", "spans", "jobs"]
