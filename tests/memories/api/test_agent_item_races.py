"""Things that are written while what they belong to goes away, or by several at once, with real commits."""

import time
from functools import partial
from threading import Event as Signal

import pytest
from django.db import connection, transaction

from agents.models import Agent
from agents.services import agent_delete
from memories.models import Entity, Event, Session
from memories.services import agent_item_delete, agent_items_create
from teams.principal import SYSTEM
from tests.client import Api
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")

THREADS = 8
# In this database alone: other tests run on the same server.
SOMEBODY_WAITS = """
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
"""


def again(api: Api) -> Api:
    own = Api()
    own.headers = api.headers
    return own


def wait_until_somebody_waits() -> None:
    with connection.cursor() as cursor:
        for _ in range(500):
            cursor.execute(SOMEBODY_WAITS)
            if cursor.fetchone()[0]:
                return
            time.sleep(0.02)
    pytest.fail("Nobody waited for the row that was being deleted.")


@pytest.mark.parametrize("end", ["", "/batch"])
def test_what_an_event_belongs_to_is_deleted_meanwhile(end: str, agent: Agent, agent_api: Api) -> None:
    [session] = agent_items_create(model=Session, agent=agent, facts=[{}], principal=SYSTEM)
    body = {"type": "message", "content": {}, "session": str(session.id)}
    deleted = Signal()

    def delete() -> None:
        with transaction.atomic():
            agent_item_delete(thing=session, principal=SYSTEM)
            deleted.set()
            wait_until_somebody_waits()

    def write() -> int:
        deleted.wait(timeout=10)
        return again(agent_api).post(f"agents/ada/events{end}", {"items": [body]} if end else body).status_code

    assert at_once([delete, write])[1] == 422
    assert not Event.objects.exists()


def test_an_agent_is_deleted_meanwhile(agent: Agent, agent_api: Api, admin_api: Api) -> None:
    deleted = Signal()

    def delete() -> None:
        with transaction.atomic():
            agent_delete(agent=agent, principal=SYSTEM)
            deleted.set()
            wait_until_somebody_waits()

    def write() -> int:
        deleted.wait(timeout=10)
        return again(admin_api).post("agents/ada/sessions", {}).status_code

    assert at_once([delete, write])[1] == 404


def test_one_name_has_one_entity(agent: Agent, agent_api: Api) -> None:
    body = {"type": "Person", "name": "Ada"}
    answers = at_once([lambda: again(agent_api).post("agents/ada/entities", body).status_code] * THREADS)
    assert sorted(answers) == [201] + [409] * (THREADS - 1)


def test_a_name_that_is_taken_meanwhile_is_a_conflict(agent: Agent, agent_api: Api) -> None:
    facts = [{"type": "Person", "name": str(number)} for number in range(THREADS)]
    made = agent_items_create(model=Entity, agent=agent, facts=facts, principal=SYSTEM)

    def rename(entity: Entity) -> int:
        path = f"agents/ada/entities/{entity.id}"
        return again(agent_api).patch(path, {"name": "Ada"}, if_match='"1"').status_code

    assert sorted(at_once([partial(rename, entity) for entity in made])) == [200] + [409] * (THREADS - 1)


def test_one_key_has_one_session(agent: Agent, agent_api: Api) -> None:
    body = {"items": [{"type": "message", "content": {}, "session_key": "run-1"}] * 5}
    answers = at_once([lambda: again(agent_api).post("agents/ada/events/batch", body).status_code] * THREADS)
    assert set(answers) == {201}
    assert Session.objects.count() == 1
    assert Event.objects.filter(session=Session.objects.get()).count() == 5 * THREADS
