"""A job's page follows its progress by itself, says its end, and suits everybody."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agents.models import Agent
from memories.models import Job
from teams.models import Team
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser


def test_progress_is_followed_until_the_end(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    facts = {"agent": Agent.objects.get(), "kind": "split_documents", "status": "running", "attempts": 1}
    job = Job.objects.create(steps=50, steps_done=20, **facts)
    sign_in(page, server)
    for address in ("/jobs/", f"/jobs/{job.id}/"):
        page.goto(server + address)
        assert Axe().run(page).response["violations"] == []
    expect(page.get_by_label("20 of 50 done")).to_have_js_property("value", 20)
    Job.objects.update(steps_done=45)
    expect(page.get_by_label("45 of 50 done")).to_have_js_property("value", 45)
    Job.objects.update(status="done", steps_done=50)
    expect(page.locator("#live")).to_have_text("All 50 steps are done.")
    assert page.locator("#job").get_attribute("hx-get") is None
