"""What an agent keeps, in a real browser: the graph by keyboard, forms without scripts, small screens, dark ones."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from agents.models import Agent
from memories.models import Entity, Pattern, Thread
from teams.models import Team, User
from tests.browser.conftest import sign_in
from tests.browser.test_every_page import violations
from tests.keeping import Kept, keep

pytestmark = pytest.mark.browser

PAGES = (
    "", "events/", "events/{event}/", "sessions/", "sessions/{session}/",
    "graph/", "graph/?entity={entity}&depth=3", "graph/?q=hall", "entities/", "entities/{entity}/",
    "entities/{entity}/edit/", "entities/{entity}/delete/", "entities/{entity}/relations/new/",
    "relations/{relation}/edit/", "patterns/", "patterns/{pattern}/", "patterns/new/",
    "threads/", "threads/{thread}/", "threads/new/", "tools/", "tools/{tool}/", "tools/{tool}/edit/",
    "documents/", "documents/{document}/", "documents/{document}/?as=pieces", "documents/new/",
    "tasks/", "tasks/push/", "tasks/pop/",
)  # fmt: skip
EMPTY = ("events/", "sessions/", "graph/", "entities/", "patterns/", "threads/", "tools/", "documents/", "tasks/")


@pytest.fixture
def kept(team: Team) -> Kept:
    olga = User.objects.get(username="olga")
    return keep(Agent.objects.get(slug="luna"), olga.principal, entities=60, relations=90, events=60)


def addresses(server: str, kept: Kept) -> list[str]:
    ids = {name: getattr(kept, name).pk for name in kept.__slots__}
    return [f"{server}/agents/luna/{address.format(**ids)}" for address in PAGES]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    page: Page, server: str, kept: Kept, scheme: Literal["light", "dark"], complaints: list[str]
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    sign_in(page, server)
    found = []
    for address in addresses(server, kept):
        response = page.goto(address)
        assert response is not None
        assert response.status == 200, address
        page.evaluate("document.querySelectorAll('details:not(.menu)').forEach((one) => { one.open = true })")
        found += violations(page)
    assert found == []


def test_axe_finds_nothing_on_empty_pages(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    found = []
    for address in EMPTY:
        page.goto(f"{server}/agents/luna/{address}")
        expect(page.locator(".empty")).to_be_visible()
        found += violations(page)
    assert found == []


def test_nothing_is_wider_than_a_small_phone(browser: Browser, server: str, kept: Kept) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    sign_in(page, server)
    too_wide = []
    for address in addresses(server, kept):
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(address)
    assert too_wide == []
    context.close()


def test_through_the_graph_with_the_keyboard_alone(page: Page, server: str, kept: Kept, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/graph/?depth=2")
    page.wait_for_load_state()
    page.get_by_label("Show").focus()
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
    page.get_by_role("link", name="The same as a list").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#list")


def test_pointing_at_a_relation_tells_its_type(page: Page, server: str, kept: Kept, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/graph/?entity={kept.entity.pk}")
    relation = kept.relation
    title = page.locator(f'g.line[data-ends="{relation.source_id} {relation.target_id}"] title').first
    assert title.text_content() == f"{relation.source.name} {relation.type} {relation.target.name}"


def test_forms_without_javascript(browser: Browser, server: str, kept: Kept) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/patterns/")
    page.get_by_role("link", name="New pattern").click()
    page.get_by_label("Name").fill("Smile")
    page.get_by_label("What to do").fill("\nSay hello first.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("It is kept now.")).to_be_visible()
    assert Pattern.objects.get(name="Smile").guidance == "Say hello first."

    page.goto(f"{server}/agents/luna/threads/")
    page.get_by_role("button", name="Resolve The broken desk").click()
    expect(page.get_by_text("is resolved. You can take it up again.")).to_be_visible()
    assert Thread.objects.get(title="The broken desk").status == "resolved"

    page.goto(f"{server}/agents/luna/documents/new/")
    notes: FilePayload = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Notes\n\nBring a torch."}
    page.get_by_label("File").set_input_files(notes)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".heading h1")).to_have_text("notes.md")
    expect(page.get_by_text("Bring a torch.")).to_be_visible()
    context.close()
