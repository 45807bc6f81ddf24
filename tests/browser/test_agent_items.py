"""What an agent keeps, in a real browser: the graph by keyboard, forms without scripts, empty pages."""

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from agents.models import Agent
from memories.models import Entity, Pattern, Thread
from teams.models import Team, User
from tests.browser.conftest import sign_in
from tests.browser.page_checks import violations
from tests.memories.worked_agent import Kept, keep

pytestmark = pytest.mark.browser

EMPTY = ("events/", "sessions/", "graph/", "entities/", "patterns/", "threads/", "tools/", "documents/", "tasks/")


@pytest.fixture
def kept(team: Team) -> Kept:
    olga = User.objects.get(username="olga")
    return keep(Agent.objects.get(slug="luna"), olga.principal, entities=60, relations=90, events=60)


@pytest.mark.deep
def test_axe_finds_nothing_on_empty_pages(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    found = []
    for address in EMPTY:
        page.goto(f"{server}/agents/luna/{address}")
        expect(page.locator(".empty")).to_be_visible()
        found += violations(page)
    assert found == []


def test_through_the_graph_with_the_keyboard_alone(page: Page, server: str, kept: Kept, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/graph/?depth=2")
    page.wait_for_load_state()
    page.get_by_label("Type").focus()
    while page.evaluate("document.activeElement.dataset?.node === undefined"):
        page.keyboard.press("Tab")
    first = Entity.objects.order_by("-salience", "id")[0]
    assert page.evaluate("document.activeElement.dataset.node") == str(first.pk)
    expect(page.locator("svg.graph")).to_have_class("graph pointed")
    assert page.locator(".line.near").count() > 0
    page.keyboard.press("Tab")
    second = page.evaluate("document.activeElement.dataset.node")
    assert second != str(first.pk)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server}/agents/luna/graph/?entity={second}&depth=2")
    expect(page.get_by_role("heading", level=1)).to_contain_text(Entity.objects.get(pk=second).name)
    assert page.locator(".node.centre").get_attribute("data-node") == second
    page.get_by_role("link", name="List view").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#list")


@pytest.mark.deep
def test_pointing_at_a_relation_tells_its_type(page: Page, server: str, kept: Kept, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/graph/?entity={kept.entity.pk}")
    relation = kept.relation
    title = page.locator(f'g.line[data-ends="{relation.source_id} {relation.target_id}"] title').first
    assert title.text_content() == f"{relation.source.name} {relation.type} {relation.target.name}"


@pytest.mark.deep
def test_forms_without_javascript(browser: Browser, server: str, kept: Kept) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/patterns/")
    page.get_by_role("link", name="New pattern").click()
    page.get_by_label("Name").fill("Smile")
    page.get_by_label("Content").fill("\nSay hello first.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-message]")).to_contain_text("Saved.")
    assert Pattern.objects.get(name="Smile").guidance == "Say hello first."

    page.goto(f"{server}/agents/luna/threads/")
    page.get_by_role("button", name="Resolve The broken desk").click()
    expect(page.get_by_text("resolved. You can reopen it.")).to_be_visible()
    assert Thread.objects.get(title="The broken desk").status == "resolved"

    page.goto(f"{server}/agents/luna/documents/new/")
    notes: FilePayload = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Notes\n\nBring a torch."}
    page.get_by_label("File").set_input_files(notes)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".heading h1")).to_have_text("notes.md")
    expect(page.get_by_text("Bring a torch.")).to_be_visible()
    context.close()
