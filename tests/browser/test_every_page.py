"""Every page for everybody: axe finds nothing, the browser complains about nothing, nothing is too wide for a phone."""

import datetime
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from assembly.models import Assembly, ExternalSource, StoredProfile, StoredRule
from assembly.profiles import SHIPPED
from memories.bundle.imports import import_begin, import_show
from memories.models import ImportPlan
from teams.files import file_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.archives import packed
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/agents/",
    "/agents/new/",
    "/agents/luna/",
    "/agents/luna/files/IDENTITY/",
    "/agents/luna/files/KNOWLEDGE/",
    "/agents/luna/files/KNOWLEDGE/history/",
    "/agents/luna/files/KNOWLEDGE/history/2/",
    "/agents/luna/files/KNOWLEDGE/history/2/?as=source",
    "/agents/luna/logs/{today}/",
    "/agents/luna/logs/{today}/edit/",
    "/agents/luna/logs/2020-01-01/",
    "/agents/luna/memories/",
    "/agents/luna/memories/?q=stage",
    "/agents/luna/export/",
    "/teams/demo/export/",
    "/export/",
    "/import/",
    "/import/{plan}/",
    "/import/{imported}/",
    "/teams/",
    "/teams/new/",
    "/teams/demo/",
    "/teams/demo/members/",
    "/teams/demo/files/GOALS/",
    "/teams/demo/files/GOALS/history/",
    "/teams/demo/memories/",
    "/preview/",
    "/preview/?agent=luna",
    "/contexts/",
    "/contexts/?agent=nobody",
    "/contexts/{context}/",
    "/contexts/{over}/",
    "/profiles/",
    "/profiles/new/",
    "/profiles/coding/",
    "/profiles/coding/edit/",
    "/profiles/conversation/",
    "/profiles/house/",
    "/profiles/house/history/",
    "/profiles/house/history/1/",
    "/profiles/broken/",
    "/rules/",
    "/rules/new/",
    "/rules/new/?as=text",
    "/rules/hush/",
    "/rules/hush/edit/",
    "/rules/hush/edit/?as=text",
    "/rules/hush/history/",
    "/rules/hush/history/1/",
    "/rules/lost/",
    "/external-sources/",
    "/external-sources/new/",
    "/external-sources/weather/",
    "/external-sources/weather/edit/",
    "/accounts/password/change/",
    "/accounts/logout/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
)
OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe that look at colours."""
MISSING = ("/nope/", "/agents/nope/")


def addresses(server: str) -> list[str]:
    facts = {
        "today": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "context": Assembly.objects.get(topic="the stage").id,
        "over": Assembly.objects.get(budget=1).id,
        "plan": ImportPlan.objects.get(status="shown").id,
        "imported": ImportPlan.objects.get(status="done").id,
    }
    return [server + address.format(**facts) for address in PAGES]


@pytest.fixture(autouse=True)
def _olga_is_an_admin(team: Team) -> None:
    User.objects.filter(username="olga").update(is_admin=True)


@pytest.fixture(autouse=True)
def _profiles(team: Team) -> None:
    """One of the organisation's own, and one that can no longer be read."""
    for name, content in (("house", SHIPPED["conversation"]), ("broken", "sections: 1")):
        text = content.replace("name: conversation", f"name: {name}")
        file_create(file=StoredProfile(name=name, content=text), author=SYSTEM.author)


@pytest.fixture(autouse=True)
def _rules(team: Team) -> None:
    """One of the team, and one that can no longer be read."""
    for name, content in (
        ("hush", "then: {exclude: [{source: daily_logs}], boost: [{tag: a, weight: 2}]}"),
        ("lost", ""),
    ):
        file_create(file=StoredRule(name=name, content=content, team=team), author=SYSTEM.author)


@pytest.fixture(autouse=True)
def _external_sources(team: Team) -> None:
    url = "https://weather.example.org/"
    ExternalSource.objects.create(name="weather", label="Weather", url=url, sealed_secret="x")


@pytest.fixture(autouse=True)
def _imports(team: Team) -> None:
    """One that is only shown, and one that was done."""
    olga = User.objects.get(username="olga").principal
    for content in ("# New goals", "# Other goals"):
        archive = packed({"teams/demo/GOALS.md": content, "teams/demo/RULES.md": b"\xff", "notes.txt": ""})
        plan = import_show(archive=archive, file_name="demo.zip", principal=olga)
    import_begin(plan=plan, chosen=(), principal=olga)


def violations(page: Page, **options: Any) -> list[str]:
    found = Axe().run(page, options=options).response["violations"]
    return [f"{page.url}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


def violations_in_both_schemes(page: Page) -> list[str]:
    """All that axe finds in the light, and what colours can make wrong in the dark, where nothing else differs."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return found + violations(page, runOnly={"type": "rule", "values": OF_COLOURS})


def test_axe_finds_nothing(page: Page, server: str, complaints: list[str]) -> None:
    page.goto(f"{server}/accounts/login/")
    found = violations_in_both_schemes(page)
    sign_in(page, server)
    for address in addresses(server):
        response = page.goto(address)
        assert response is not None
        assert response.status == 200, address
        found += violations_in_both_schemes(page)
    assert found == []


def test_pages_of_errors(page: Page, server: str) -> None:
    sign_in(page, server)
    found = []
    for address in MISSING:
        page.goto(server + address)
        found += violations(page)
    page.goto(f"{server}/teams/demo/members/")
    page.get_by_label("Username").fill("nobody")
    page.get_by_role("button", name="Add").click()
    found += violations(page)
    assert found == []


def test_nothing_is_wider_than_a_small_phone(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{server}/accounts/login/")
    sign_in(page, server)
    too_wide = []
    for address in addresses(server):
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(address)
    assert too_wide == []
    context.close()
