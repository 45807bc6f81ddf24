"""Jobs on pages: progress that moves, its end, a new start."""

import pytest

from agents.models import Agent
from memories.jobs.services import job_create
from memories.models import Job
from teams.models import User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def job(agent: Agent) -> Job:
    return job_create(kind="split_documents", arguments={"documents": []}, agent=agent, principal=SYSTEM, steps=1_500)


def test_the_list_shows_the_jobs_of_ones_agents(
    job: Job, signed_in: SignedIn, teammate: User, outsider: User, admin: User
) -> None:
    page = text_of(signed_in(teammate).get("/jobs/"))
    assert f'href="/jobs/{job.id}/"' in page
    assert "0 of 1,500" in page
    assert "No jobs yet" in text_of(signed_in(outsider).get("/jobs/"))
    assert 'href="/jobs/" aria-current="page"' in text_of(signed_in(admin).get("/jobs/"))


def test_a_running_job_shows_its_progress_and_asks_again(job: Job, signed_in: SignedIn, teammate: User) -> None:
    Job.objects.update(status="running", steps_done=700, attempts=2)
    page = text_of(signed_in(teammate).get(f"/jobs/{job.id}/"))
    assert '<progress id="progress" value="700" max="1500">' in page
    assert "700 of 1,500 done" in page
    assert "2 of 5" in page
    assert 'hx-trigger="every 2s"' in page


def test_a_finished_job_asks_no_more(job: Job, signed_in: SignedIn, teammate: User) -> None:
    Job.objects.update(status="done", steps_done=1_500)
    page = text_of(signed_in(teammate).get(f"/jobs/{job.id}/"))
    assert "All 1,500 steps are done." in page
    assert 'hx-trigger="every' not in page


def test_a_job_given_up_says_why_and_is_started_anew(
    job: Job, signed_in: SignedIn, owner: User, teammate: User, outsider: User
) -> None:
    Job.objects.update(status="parked", attempts=5, error="MemoryError: <script>")
    address = f"/jobs/{job.id}/"
    page = text_of(signed_in(owner).get(address))
    assert "Failed after 5 attempts" in page
    assert "MemoryError: &lt;script&gt;" in page
    assert "Retry" in page
    assert "Retry" not in text_of(signed_in(teammate).get(address))
    assert signed_in(outsider).get(address).status_code == 404
    answers = [signed_in(person).post(f"{address}retry/").status_code for person in (outsider, teammate)]
    assert answers == [404, 403]
    for said in ("Restarted.", "The job was restarted already."):
        assert said in text_of(signed_in(owner).post(f"{address}retry/", follow=True))
    assert Job.objects.get().status == "queued"
    assert signed_in(owner).get(f"{address}retry/").status_code == 405
