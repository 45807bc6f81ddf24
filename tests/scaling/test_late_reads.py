"""What a read replica answers, what it never answers, and what becomes of a request that it cannot answer.

Two real servers: the tests' own and a standby that is paused, held back, and killed.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent
from assembly.models import Assembly
from config.db.replicas import REQUESTS, choose_replica, condition_of, note_write
from config.http.models import LastWrite
from memories.jobs.execution import job_run
from memories.jobs.periodic import LAST_WRITE_RETENTION, delete_old_last_writes, write_heartbeat
from memories.jobs.services import KINDS, Advance, job_create
from memories.models import Job, JobStatus, Memory
from memories.services import MemoryFacts, memory_create
from teams.level_changes import level_set
from teams.models import Team, User
from teams.principal import SYSTEM, Principal, Role
from teams.sensitivity import Sensitivity
from teams.services import membership_remove, membership_set
from tests.client import Api
from tests.faults.processes import until
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.rights.routes import address, all_routes
from tests.rights.world import LED
from tests.rights.world import world as build_world
from tests.scaling.conftest import ALIAS
from tests.scaling.standby_server import Standby

pytestmark = pytest.mark.faults

MARKED = {
    "activity/": "activity_log",
    "agents/<slug:slug>/documents/": "item_list",
    "agents/<slug:slug>/entities/": "item_list",
    "agents/<slug:slug>/events/": "timeline",
    "agents/<slug:slug>/memories/": "memory_list",
    "agents/<slug:slug>/patterns/": "item_list",
    "agents/<slug:slug>/sessions/": "sessions",
    "agents/<slug:slug>/sessions/<uuid:session_id>/": "session",
    "agents/<slug:slug>/threads/": "item_list",
    "agents/<slug:slug>/tools/": "item_list",
    "agents/<slug:slug>/trends/": "agent_trends",
    "contexts/": "contexts",
    "contexts/<uuid:id_>/": "context",
    "contexts/<uuid:id_>/exact/": "exact",
    "contexts/<uuid:id_>/items/": "context_items",
    "contexts/<uuid:id_>/json/": "record",
    "contexts/<uuid:id_>/rules-and-sources/": "rules_and_sources",
    "teams/<slug:slug>/memories/": "memory_list",
    "teams/<slug:slug>/trends/": "team_trends",
    "trends/": "trends",
    "api/v1/activities": "ActivityList.get",
    "api/v1/agents/<slug:slug>/documents": "ItemList.get",
    "api/v1/agents/<slug:slug>/entities": "ItemList.get",
    "api/v1/agents/<slug:slug>/events": "ItemList.get",
    "api/v1/agents/<slug:slug>/memories": "MemoryList.get",
    "api/v1/agents/<slug:slug>/memories/<uuid:id_>/uses": "MemoryUses.get",
    "api/v1/agents/<slug:slug>/patterns": "ItemList.get",
    "api/v1/agents/<slug:slug>/relations": "ItemList.get",
    "api/v1/agents/<slug:slug>/sessions": "ItemList.get",
    "api/v1/agents/<slug:slug>/tasks": "ItemList.get",
    "api/v1/agents/<slug:slug>/threads": "ItemList.get",
    "api/v1/agents/<slug:slug>/tools": "ItemList.get",
    "api/v1/assemblies": "AssemblyList.get",
    "api/v1/assemblies/<uuid:id_>": "AssemblyDetail.get",
    "api/v1/assemblies/<uuid:id_>/decisions": "AssemblyDecisions.get",
    "api/v1/teams/<slug:slug>/memories": "MemoryList.get",
    "api/v1/teams/<slug:slug>/memories/<uuid:id_>/uses": "MemoryUses.get",
    "api/v1/trends": "Trends.get",
}
"""All that may be late. Whatever is added must not assemble a context, write, or show what is then changed."""


def marked_routes() -> Iterator[tuple[str, str]]:
    """Yield each route with a marked view, and the name of the view."""
    for route, pattern in all_routes().items():
        view: Any = pattern.callback
        handlers: list[Any] = [view]
        if _is_api(view):
            handlers = [getattr(view.cls, name, None) for name in view.cls.http_method_names]
        for handler in handlers:
            if getattr(handler, "may_be_late", False):
                yield route, f"{view.cls.__name__}.{handler.__name__}" if _is_api(view) else handler.__name__


def _is_api(view: Any) -> bool:
    return hasattr(view, "cls")


def test_what_may_be_late_is_listed() -> None:
    assert dict(marked_routes()) == MARKED


@contextmanager
def answered_by(outcome: str) -> Iterator[None]:
    """Check that one request in the block was answered like this, and that no other one could be late."""
    before = _counts()
    yield
    assert {name: count - before.get(name, 0) for name, count in _counts().items() if count != before.get(name)} == {
        outcome: 1
    }


def _counts() -> dict[str, float]:
    return {
        sample.labels["outcome"]: sample.value
        for family in REQUESTS.collect()
        for sample in family.samples
        if sample.name == "database_replica_requests_total"
    }


def _memory(owner: Agent | Team, text: str) -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(text=text, kind="fact"), principal=SYSTEM)


def _texts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [row["text"] for row in answer.json()["results"]]


@pytest.fixture
def api(agent: Agent, replica: Standby) -> Api:
    """A key of the agent, which has written nothing."""
    return Api(api_key_create(agent=agent, name="reader")[1])


@pytest.fixture
def writer(agent: Agent, replica: Standby) -> Api:
    """Another key of the agent."""
    return Api(api_key_create(agent=agent, name="writer")[1])


@pytest.mark.deep
def test_a_standby_answers_every_marked_route(replica: Standby) -> None:
    world = build_world()
    replica.catch_up()
    for route in MARKED:
        who = "admin key" if route.startswith("api/") else "admin"
        with answered_by("replica"):
            visited = address(route, world.teams[LED], world)
            answer = world.api(who).get(visited) if route.startswith("api/") else world.browsers[who].get(visited)
            assert answer.status_code == 200, (route, answer.status_code)


def test_a_list_comes_from_the_replica_however_late_but_not_for_who_has_just_written(
    replica: Standby, agent: Agent, api: Api, writer: Api
) -> None:
    replica.catch_up()
    replica.pause()
    with answered_by("replica"):
        assert _texts(api.get("agents/ada/memories")) == []
    assert writer.post("agents/ada/memories", {"text": "Refunds take five days.", "kind": "fact"}).status_code == 201
    with answered_by("own_write"):
        assert _texts(writer.get("agents/ada/memories")) == ["Refunds take five days."]
    with answered_by("replica"):
        assert _texts(api.get("agents/ada/memories")) == []
    replica.resume()
    replica.catch_up()
    for one in (api, writer):
        with answered_by("replica"):
            assert _texts(one.get("agents/ada/memories")) == ["Refunds take five days."]


def test_a_person_sees_what_they_have_just_saved(
    replica: Standby, agent: Agent, owner: User, teammate: User, signed_in: Callable[[User], Client]
) -> None:
    theirs, others = signed_in(owner), signed_in(teammate)
    replica.catch_up()
    replica.pause()
    form = {
        "version": "0",
        "text": "Ship on Mondays.",
        "kind": "fact",
        "language": "",
        "salience": "0.5",
        "credibility": "0.5",
    }
    saved = theirs.post("/agents/ada/memories/new/", form)
    assert saved.status_code == 302, saved.content
    with answered_by("own_write"):
        assert "Ship on Mondays." in theirs.get("/agents/ada/memories/").content.decode()
    with answered_by("replica"):
        assert "Ship on Mondays." not in others.get("/agents/ada/memories/").content.decode()


def test_whoever_sees_that_their_job_is_done_sees_what_it_did(
    replica: Standby, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(job: Job, advance: Advance) -> None:
        _memory(agent, "Written by a job.")
        advance(1)

    monkeypatch.setitem(KINDS, "write", write)
    key, secret = api_key_create(agent=agent, name="requester")
    requester = Principal(kind="agent_key", id=key.id, agent_id=agent.id)
    replica.catch_up()
    replica.pause()
    job = job_create(kind="write", arguments={}, agent=agent, principal=requester, steps=1)
    job_run(job_id=job.id)
    assert Job.objects.get(id=job.id).status == JobStatus.DONE
    with answered_by("own_write"):
        assert _texts(Api(secret).get("agents/ada/memories")) == ["Written by a job."]


def test_an_assembly_never_misses_a_write_while_the_replica_is_held_back(
    replica: Standby, agent: Agent, api: Api, writer: Api
) -> None:
    replica.catch_up()
    replica.hold_back(30)
    for number in range(10):
        text = f"Customer {number} pays by invoice."
        assert writer.post("agents/ada/memories", {"text": text, "kind": "fact"}).status_code == 201
        context = api.post("assemblies", {"agent": "ada", "topic": text})
        assert context.status_code == 201, context.content
        assert text in context.json()["content"]
    connections[ALIAS].close()
    assert replica.run("SELECT pg_get_wal_replay_pause_state()") == [("not paused",)]
    assert _of_replica("SELECT count(*) FROM memories") == 0
    assert Memory.objects.count() == 10


def _of_replica(sql: str) -> Any:
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


@pytest.mark.deep
def test_a_record_that_the_replica_lacks_is_found(replica: Standby, agent: Agent, api: Api, writer: Api) -> None:
    replica.catch_up()
    replica.pause()
    made = writer.post("assemblies", {"agent": "ada", "topic": "refunds"}).json()
    with answered_by("not_found"):
        assert api.get(f"assemblies/{made['id']}").json()["id"] == made["id"]
    with answered_by("not_found"):
        assert api.get("assemblies/0190f5fe-7c00-7a00-8000-000000000000").status_code == 404
    assert Assembly.objects.count() == 1


def test_nobody_reads_what_they_may_not_read_any_more(
    replica: Standby, agent: Agent, team: Team, teammate: User, signed_in: Callable[[User], Client]
) -> None:
    _memory(agent, "The code is 1234.")
    browser = signed_in(teammate)
    replica.catch_up()
    replica.pause()
    with answered_by("replica"):
        assert "The code is 1234." in browser.get("/agents/ada/memories/").content.decode()
    membership_remove(team=team, user=teammate, principal=SYSTEM)
    with answered_by("access_changed"):
        assert browser.get("/agents/ada/memories/").status_code == 404
    membership_set(team=team, user=teammate, role=Role.VIEWER)
    with answered_by("access_changed"):
        assert browser.get("/agents/ada/memories/").status_code == 200


def test_nobody_reads_a_text_that_was_raised_above_their_clearance(
    replica: Standby, agent: Agent, team: Team, teammate: User, signed_in: Callable[[User], Client]
) -> None:
    memory = _memory(agent, "The code is 1234.")
    browser = signed_in(teammate)
    replica.catch_up()
    replica.pause()
    with answered_by("replica"):
        assert "The code is 1234." in browser.get("/agents/ada/memories/").content.decode()
    level_set(row=memory, level=Sensitivity.RESTRICTED, principal=SYSTEM)
    with answered_by("access_changed"):
        assert "The code is 1234." not in browser.get("/agents/ada/memories/").content.decode()


def test_a_replica_that_is_too_late_is_not_read(
    replica: Standby, agent: Agent, api: Api, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    replica.catch_up()
    replica.pause()
    _memory(agent, "Refunds take five days.")
    settings.DATABASE_REPLICA_MAX_LAG_SECONDS = 0
    for _ in range(2):
        with answered_by("late"):
            assert _texts(api.get("agents/ada/memories")) == ["Refunds take five days."]
    assert [record.getMessage() for record in caplog.records if "late" in record.getMessage()] == [
        "replica1 is not read: it is more than 0 s late"
    ]
    settings.DATABASE_REPLICA_MAX_LAG_SECONDS = 60
    replica.resume()
    replica.catch_up()
    with answered_by("replica"):
        assert _texts(api.get("agents/ada/memories")) == ["Refunds take five days."]
    assert "replica1 is read again: it has caught up" in caplog.text


@pytest.mark.deep
def test_pages_work_while_the_replica_is_dead_and_it_is_read_again_when_it_is_back(
    replica: Standby, agent: Agent, owner: User, api: Api, signed_in: Callable[[User], Client]
) -> None:
    browser = signed_in(owner)
    replica.catch_up()
    with answered_by("replica"):
        assert browser.get("/contexts/").status_code == 200
    replica.kill()
    for path in ("/contexts/", "/trends/", "/agents/ada/memories/"):
        with answered_by("unavailable"):
            assert browser.get(path).status_code == 200
    with answered_by("unavailable"):
        assert _texts(api.get("agents/ada/memories")) == []
    replica.start()
    until(lambda: choose_replica("").outcome == "replica", seconds=30)
    with answered_by("replica"):
        assert browser.get("/contexts/").status_code == 200


@pytest.mark.deep
def test_what_a_replica_does_not_finish_the_primary_answers(
    replica: Standby, agent: Agent, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    _memory(agent, "Refunds take five days.")
    replica.catch_up()

    def breaking(error: str) -> Callable[..., Any]:
        def execute(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if '"memories"' in sql:
                context["cursor"].execute(error)
            return execute(sql, params, many, context)

        return execute

    conflict = "DO $$ BEGIN RAISE 'canceling statement due to conflict with recovery' USING ERRCODE = '40001'; END $$"
    timeout = "SET statement_timeout = '1ms'; SELECT pg_sleep(1); RESET statement_timeout"
    write = "CREATE TABLE forbidden ()"
    gone = "SELECT pg_terminate_backend(pg_backend_pid())"
    for fault in (conflict, timeout, write, gone):
        with connections[ALIAS].execute_wrapper(breaking(fault)), answered_by("failed"):
            assert _texts(api.get("agents/ada/memories")) == ["Refunds take five days."], fault
    causes = [record.getMessage().rpartition(" ")[2] for record in caplog.records if "failed" in record.getMessage()]
    assert causes == ["SerializationFailure", "QueryCanceled", "ReadOnlySqlTransaction", "AdminShutdown"]
    until(lambda: choose_replica("").outcome == "replica")  # left alone for a second after its connection was cut
    with answered_by("replica"):
        assert _texts(api.get("agents/ada/memories")) == ["Refunds take five days."]


@pytest.mark.deep
def test_a_real_conflict_with_replayed_changes_is_no_error(replica: Standby, agent: Agent, api: Api) -> None:
    """A statement still reads rows on the standby that the primary has removed: the standby cancels it after 1 s."""
    _memory(agent, "Refunds take five days.")
    replica.catch_up()

    def slow(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if '"memories"' in sql:
            context["cursor"].execute("SELECT count(*) FROM memories")
            with connections["owner"].cursor() as owner:
                owner.execute("TRUNCATE TABLE last_writes")  # an exclusive lock, which the standby replays
                owner.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE; ALTER TABLE memories SET (fillfactor=99)")
            context["cursor"].execute("SELECT count(*), pg_sleep(5) FROM memories GROUP BY 2")
        return execute(sql, params, many, context)

    replica_connection = connections[ALIAS]
    with replica_connection.execute_wrapper(slow), answered_by("failed"):
        assert _texts(api.get("agents/ada/memories")) == ["Refunds take five days."]


@pytest.mark.deep
def test_a_server_that_is_no_standby_is_not_read(replica: Standby, agent: Agent, api: Api) -> None:
    wrong = connections.settings[ALIAS]
    wrong |= {"HOST": connections.settings["default"]["HOST"]}
    with answered_by("unavailable"):
        assert _texts(api.get("agents/ada/memories")) == []
    assert not condition_of(ALIAS).backoff.may_try()


def test_heartbeats_tell_the_lag_of_a_quiet_installation_and_old_rows_go(replica: Standby) -> None:
    write_heartbeat()
    note_write("person:old")
    assert set(LastWrite.objects.values_list("caller", flat=True)) == {"heartbeat", "person:old"}
    LastWrite.objects.filter(caller="person:old").update(written_at=timezone.now() - 2 * LAST_WRITE_RETENTION)
    delete_old_last_writes()
    assert set(LastWrite.objects.values_list("caller", flat=True)) == {"heartbeat"}


def test_metrics_tell_how_far_the_replica_is(replica: Standby) -> None:
    replica.catch_up()
    document = Client().get("/metrics").content.decode()
    assert 'database_replica_up{replica="replica1"} 1.0' in document
    lag = re.search(r'^database_replica_lag_seconds\{replica="replica1"\} ([\d.]+)$', document, re.MULTILINE)
    assert lag
    assert float(lag[1]) < 60
    replica.kill()
    document = Client().get("/metrics").content.decode()
    assert 'database_replica_up{replica="replica1"} 0.0' in document
    assert 'database_replica_lag_seconds{replica="replica1"}' not in document


def test_without_a_replica_nothing_is_stored_and_nothing_counted(
    committed_database: str, agent: Agent, agent_api: Api
) -> None:
    before = _counts()
    assert agent_api.post("agents/ada/memories", {"text": "Ship on Mondays.", "kind": "fact"}).status_code == 201
    assert _texts(agent_api.get("agents/ada/memories")) == ["Ship on Mondays."]
    write_heartbeat()
    assert _counts() == before
    assert not LastWrite.objects.exists()
    assert "database_replica_up" not in Client().get("/metrics").content.decode()
