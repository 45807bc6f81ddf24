"""An admin creates a subject, reviews what names the person, hands it over, and restricts it."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agents.models import Agent
from memories.services import MemoryFacts, memory_create
from privacy.models import Subject
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from tests.browser.conftest import sign_in
from tests.browser.page_checks import narrow_or_wide, violations_in_both_schemes
from tests.browser.test_conflicts import photograph
from tests.privacy.subject_factories import NAME, link_all, run_scans, scanned_subject, tell_everything

pytestmark = pytest.mark.browser
LONG = (
    f"We talked for an hour. In the end, {NAME} said that she would like to have the tickets for the second evening, "
    "beside the aisle and near the stage, and that she pays by bank transfer. Nobody else was there."
)


def test_a_person_asks_what_is_stored(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    agent = Agent.objects.get(slug="luna")
    User.objects.filter(username="olga").update(is_admin=True)
    tell_everything(agent, team)
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=LONG), principal=SYSTEM)
    organisation_file_create(key="guests", title="Guests", content=f"# Guests\n\n- {NAME}\n- Otto", principal=SYSTEM)
    sign_in(page, server)
    page.goto(f"{server}/subjects/")
    page.get_by_role("link", name="New subject").click()
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("E-mail addresses").fill("zora.quell@example.org")
    photograph(page, "subject-new")
    assert violations_in_both_schemes(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The search is running")).to_be_visible()
    run_scans()
    expect(page.get_by_text("The last search read")).to_be_visible(timeout=60_000)
    photograph(page, "subject-review")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    line = page.locator("li.mention").filter(has_text="tickets for the second evening")
    expect(line.locator("mark")).to_have_text(NAME)
    page.get_by_label("All", exact=True).check()
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("[data-message]")).to_contain_text("texts linked", timeout=30_000)
    photograph(page, "subject-linked")
    page.get_by_role("link", name="Show everything").click()
    page.get_by_role("button", name="Write file").click()
    expect(page.locator("[data-message]")).to_contain_text("The file is ready", timeout=30_000)
    photograph(page, "subject-files")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Download ZIP").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert len(json.loads(archive.read("data.json"))["things"]) >= 15
    subject = Subject.objects.get()
    page.goto(f"{server}/subjects/{subject.id}/")
    page.get_by_role("link", name="Restrict").click()
    photograph(page, "subject-restrict")
    assert violations_in_both_schemes(page) == []
    page.get_by_role("button", name="Restrict").click()
    expect(page.locator("[data-message]")).to_contain_text("Restricted.", timeout=30_000)
    expect(page.locator("li.mention").first).to_contain_text("Withheld")
    photograph(page, "subject-restricted")
    page.goto(f"{server}/subjects/")
    photograph(page, "subjects")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    assert complaints == []


@pytest.mark.deep
def test_a_wrong_name_is_corrected(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    agent = Agent.objects.get(slug="luna")
    User.objects.filter(username="olga").update(is_admin=True)
    tell_everything(agent, team)
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=LONG), principal=SYSTEM)
    subject = scanned_subject()
    link_all(subject)
    sign_in(page, server)
    page.goto(f"{server}/subjects/{subject.id}/")
    page.get_by_role("link", name="Correct", exact=True).click()
    page.get_by_label("What is wrong").select_option("name")
    page.get_by_label("Wrong value").fill(NAME)
    page.get_by_label("Right value").fill("Zora Quill")
    page.get_by_label("Reason").fill("She wrote us how her name is spelt.")
    photograph(page, "correct-form")
    page.get_by_role("button", name="Preview").click()
    line = page.locator("li.mention").filter(has_text="tickets for the second evening")
    expect(line.locator("del")).to_have_text(NAME)
    expect(line.locator("ins")).to_have_text("Zora Quill")
    photograph(page, "correct-preview")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    page.locator("li.mention").filter(has_text="Session").locator("input").first.uncheck()
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.get_by_text("Who was told the wrong value")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("No recorded context told it.").or_(page.get_by_text("being searched"))).to_be_visible()
    photograph(page, "correction")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    memory.refresh_from_db()
    assert memory.text == LONG.replace(NAME, "Zora Quill")
    line = page.locator("li.mention").filter(has_text="We talked for an hour")
    line.locator("input").check()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-message]")).to_contain_text("1 text is as it was before", timeout=30_000)
    memory.refresh_from_db()
    assert memory.text == LONG
    assert complaints == []
