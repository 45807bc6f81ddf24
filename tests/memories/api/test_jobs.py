"""Jobs over REST: who sees them, how far they are, a new start."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from memories.jobs.services import job_create
from memories.models import Job, JobStatus
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(agent: Agent) -> Job:
    return job_create(kind="split_documents", arguments={"documents": []}, agent=agent, principal=SYSTEM, steps=50)


@pytest.fixture
def parked(agent: Agent) -> Job:
    facts = {"status": JobStatus.PARKED, "attempts": 5, "steps_done": 2, "error": "MemoryError: "}
    return Job.objects.create(kind="embed_missing", agent=agent, steps=9, **facts)


@pytest.fixture
def everybodys() -> Job:
    """A job of the organisation."""
    return job_create(kind="embed_missing", arguments={}, agent=None, principal=SYSTEM)


@pytest.fixture
def insiders(agent_api: Api, teammate: User, as_person: Callable[[User], Api]) -> list[Api]:
    """The agent itself, and a person who may read."""
    return [agent_api, as_person(teammate)]


@pytest.fixture
def strangers(other_agent_api: Api, outsider: User, as_person: Callable[[User], Api]) -> list[Api]:
    """An agent and a person of other teams."""
    return [other_agent_api, as_person(outsider)]


def ids(answer: Any) -> list[str]:
    return [row["id"] for row in answer.json()["results"]]


def test_a_job_tells_how_far_it_is(job: Job, agent_api: Api) -> None:
    Job.objects.update(status="running", steps_done=20, attempts=1)
    document = agent_api.get(f"jobs/{job.id}").json()
    created = document.pop("created_at")
    assert created.endswith("Z")
    assert document == {
        "id": str(job.id), "kind": "split_documents", "agent": "ada", "status": "running", "steps": 50,
        "steps_done": 20, "attempts": 1, "error": "", "started_at": None, "finished_at": None,
    }  # fmt: skip


def test_everybody_sees_the_jobs_of_their_agents(job: Job, insiders: list[Api], strangers: list[Api]) -> None:
    for client in insiders:
        assert ids(client.get("jobs")) == [str(job.id)]
    for client in strangers:
        assert ids(client.get("jobs")) == []


def test_jobs_of_the_organisation_are_for_its_admins(everybodys: Job, insiders: list[Api], admin_api: Api) -> None:
    assert ids(admin_api.get("jobs")) == [str(everybodys.id)]
    assert admin_api.get(f"jobs/{everybodys.id}").json()["agent"] is None
    for client in insiders:
        assert ids(client.get("jobs")) == []
        assert problem(client.get(f"jobs/{everybodys.id}")) == (404, "not_found")


@pytest.mark.parametrize(("method", "end"), [("GET", ""), ("POST", "/retry")])
def test_what_one_may_not_see_is_not_there(method: str, end: str, parked: Job, strangers: list[Api]) -> None:
    for client in strangers:
        assert problem(client.send(method, f"jobs/{parked.id}{end}")) == (404, "not_found")
    assert problem(Api().send(method, f"jobs/{parked.id}{end}")) == (401, "not_authenticated")
    parked.refresh_from_db()
    assert parked.status == "parked"


def test_filters(job: Job, parked: Job, everybodys: Job, admin_api: Api) -> None:
    assert ids(admin_api.get("jobs?agent=ada&status=queued")) == [str(job.id)]
    assert ids(admin_api.get("jobs?status=parked")) == [str(parked.id)]
    assert ids(admin_api.get("jobs?agent=nobody")) == []
    assert errors_of(admin_api.get("jobs?status=lost")) == {"status"}
    assert errors_of(admin_api.get("jobs?state=lost")) == {"state"}


def test_who_may_write_starts_a_job_anew(parked: Job, agent_api: Api) -> None:
    answer = agent_api.post(f"jobs/{parked.id}/retry")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["attempts"], answer.json()["steps_done"]) == ("queued", 0, 0)
    assert problem(agent_api.post(f"jobs/{parked.id}/retry")) == (409, "job_not_parked")


def test_who_may_only_read_is_told_so(parked: Job, teammate: User, as_person: Callable[[User], Api]) -> None:
    assert problem(as_person(teammate).post(f"jobs/{parked.id}/retry")) == (403, "forbidden")


def test_a_list_takes_few_queries(agent: Agent, agent_api: Api, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        Job.objects.create(kind=f"kind-{number}", agent=agent)
    with django_assert_max_num_queries(4) as before:
        assert len(ids(agent_api.get("jobs"))) == 20
    Job.objects.exclude(kind="kind-1").delete()
    with django_assert_max_num_queries(len(before)):
        agent_api.get("jobs")
