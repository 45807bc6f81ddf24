"""Many at once, with real threads and real commits: nothing is lost, nothing is done twice."""

from collections.abc import Callable
from functools import partial

import pytest

from agents.models import Agent, DailyLog
from memories.models import Memory
from tests.client import Answer, Api
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")

THREADS = 8


def test_every_save_of_a_file_is_a_version_or_a_412(agent: Agent, admin_api: Api) -> None:
    path = "agents/ada/files/KNOWLEDGE"

    def save_five_times(name: int) -> list[tuple[str, int, int]]:
        api, done = Api(), []
        api.headers = admin_api.headers
        for number in range(5):
            tag = api.get(path)["ETag"]
            text = f"thread {name}, save {number}"
            response = api.put(path, {"content": text}, if_match=tag)
            assert response.status_code in {200, 412}
            done.append((text, response.status_code, response.json().get("version", 0)))
        return done

    saves = [save for saves in at_once([partial(save_five_times, n) for n in range(THREADS)]) for save in saves]
    stored = {row.version: row.content for row in agent.files.get(file_key="KNOWLEDGE").versions.all()}
    saved = {version: text for text, status, version in saves if status == 200}
    assert stored == {1: "", **saved}
    assert sorted(stored) == list(range(1, len(stored) + 1))
    assert len(saved) == sum(status == 200 for _, status, _ in saves)


def test_every_paragraph_of_a_new_log_is_there(agent: Agent, agent_api: Api) -> None:
    def append(name: int) -> int:
        api = Api()
        api.headers = agent_api.headers
        return api.post("agents/ada/daily-logs/2026-01-05", {"text": f"paragraph {name}"}).status_code

    statuses = at_once([partial(append, n) for n in range(THREADS)])
    assert sorted(statuses) == [200] * (THREADS - 1) + [201]
    log = DailyLog.objects.get()
    assert sorted(log.content.split("\n\n")) == [f"paragraph {n}" for n in range(THREADS)]
    assert sorted(log.versions.values_list("version", flat=True)) == list(range(1, THREADS + 1))


def same(api: Api, send: Callable[[Api], Answer]) -> list[Answer]:
    def job() -> Answer:
        own = Api()
        own.headers = api.headers
        return send(own)

    return at_once([job] * THREADS)


def test_one_idempotency_key_has_one_effect(agent: Agent, agent_api: Api) -> None:
    body = {"kind": "fact", "text": "Once."}
    answers = same(agent_api, lambda api: api.post("agents/ada/memories", body, idempotency_key="k"))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer for answer in answers) == 1
    assert Memory.objects.count() == 1


def test_one_slug_has_one_team(admin_api: Api) -> None:
    answers = same(admin_api, lambda api: api.post("teams", {"slug": "new", "name": "New"}))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (THREADS - 1)


def test_one_external_id_has_one_memory(agent: Agent, agent_api: Api) -> None:
    body = {"kind": "fact", "text": "Once.", "external_id": "x"}
    answers = same(agent_api, lambda api: api.post("agents/ada/memories", body))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (THREADS - 1)


def test_one_day_is_created_once(agent: Agent, agent_api: Api) -> None:
    path = "agents/ada/daily-logs/2026-01-05"
    answers = same(agent_api, lambda api: api.put(path, {"content": "x"}, if_none_match="*"))
    assert sorted(answer.status_code for answer in answers) == [201] + [412] * (THREADS - 1)


def test_two_memories_never_supersede_each_other(agent: Agent, agent_api: Api) -> None:
    ids = [agent_api.post("agents/ada/memories", {"kind": "fact", "text": t}).json()["id"] for t in ("One", "Two")]

    def supersede(one: str, other: str) -> int:
        api = Api()
        api.headers = agent_api.headers
        return api.patch(f"agents/ada/memories/{one}", {"superseded_by": other}, if_match='"1"').status_code

    assert sorted(at_once([partial(supersede, *ids), partial(supersede, *reversed(ids))])) == [200, 422]


def test_of_two_mergings_at_once_one_is_told_to_look_again(agent: Agent, agent_api: Api) -> None:
    ids = [agent_api.post("agents/ada/memories", {"kind": "fact", "text": t}).json()["id"] for t in ("One", "Two")]

    def merge(keep: str) -> int:
        api = Api()
        api.headers = agent_api.headers
        seen = [{"id": id_, "version": 1} for id_ in ids]
        return api.post("agents/ada/memories/merge", {"keep": keep, "memories": seen}).status_code

    assert sorted(at_once([partial(merge, id_) for id_ in ids])) == [200, 412]


def test_writing_while_the_agent_is_deleted_is_no_crash(agent: Agent, agent_api: Api, admin_api: Api) -> None:
    def write(name: int) -> set[int]:
        api = Api()
        api.headers = admin_api.headers
        return {
            api.post(f"agents/ada/daily-logs/2026-01-{name + 1:02}", {"text": "x"}).status_code,
            api.post("agents/ada/memories", {"kind": "fact", "text": "x"}).status_code,
            api.put("agents/ada/files/IDENTITY", {"content": str(name)}, if_match="*").status_code,
        }

    def delete() -> set[int]:
        api = Api()
        api.headers = admin_api.headers
        return {api.delete("agents/ada").status_code}

    answers = at_once([*(partial(write, n) for n in range(THREADS)), delete])
    assert set.union(*answers) <= {200, 201, 204, 404, 412, 503}
    if 204 in answers[-1]:
        assert not Memory.objects.exists()
        assert not DailyLog.objects.exists()
