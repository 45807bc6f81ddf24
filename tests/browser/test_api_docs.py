"""The API's page in a real browser: Swagger draws itself under the content security policy, from this server alone."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_page_of_the_api_works_without_a_key(server: str, page: Page, complaints: list[str]) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/api/v1/docs")
    expect(page.get_by_role("heading", name="Dossier")).to_be_visible(timeout=15_000)
    page.locator("#operations-tag-agents").click()
    page.locator("#operations-agents-agents_create").get_by_role("button").first.click()
    expect(page.get_by_text("Create an agent with its three empty files.")).to_be_visible()
    assert all(url.startswith((server, "data:")) for url in asked), asked
