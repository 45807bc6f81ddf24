"""The story of a folder that somebody keeps elsewhere: export it, change a file in it, import it after a look."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from teams.models import Team, User
from tests.archives import edited
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser


def exported(page: Page, server: str) -> bytes:
    """The zip that the page of the export gives."""
    page.goto(f"{server}/agents/luna/export/")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download zip").click()
    assert waiting.value.suggested_filename == "agent-luna.zip"
    return Path(waiting.value.path()).read_bytes()


def test_export_change_look_import(page: Page, server: str, team: Team, complaints: list[str], tmp_path: Path) -> None:
    sign_in(page, server)
    archive = edited(exported(page, server), "agents/luna/INSTRUCTIONS.md", lambda text: f"{text}\nAsk back.\n")
    (tmp_path / "luna.zip").write_bytes(archive)
    page.get_by_role("link", name="Import a zip").click()
    page.get_by_label("Zip file").set_input_files(tmp_path / "luna.zip")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Review changes")).to_be_visible()
    expect(page.get_by_text("Ask back.")).to_be_visible()
    instructions = Agent.objects.get().files.get(file_key="INSTRUCTIONS")
    assert instructions.content == "Be kind."
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="1 change was imported")).to_be_visible()
    page.goto(f"{server}/agents/luna/files/INSTRUCTIONS/history/2/")
    expect(page.get_by_text("Ask back.")).to_be_visible()
    instructions.refresh_from_db()
    assert instructions.versions.get(version=2).note == "Imported from luna.zip"


@pytest.mark.deep
def test_without_javascript_and_by_keyboard(browser: Browser, server: str, team: Team, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    assert User.objects.get(username="olga").is_admin is False
    archive = edited(exported(page, server), "agents/luna/IDENTITY.md", lambda _: "I am Luna.")
    (tmp_path / "luna.zip").write_bytes(archive)
    page.goto(f"{server}/import/")
    page.get_by_label("Zip file").set_input_files(tmp_path / "luna.zip")
    page.get_by_role("button", name="Review").press("Enter")
    page.get_by_role("button", name="Import", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="1 change was imported")).to_be_visible()
    assert Agent.objects.get().files.get(file_key="IDENTITY").content == "I am Luna."
    context.close()
