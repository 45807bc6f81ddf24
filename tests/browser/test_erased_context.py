"""The pages of a context of which a text was erased: they say so on every tab, at every width, and break nowhere."""

import pytest
from playwright.sync_api import Page, expect

from assembly.models import Assembly, text_hash
from config.keys import store
from teams.models import Team
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser

NOTICE = "A text of this context was erased"


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.deep), 390])
def test_its_pages_say_what_was_erased(page: Page, server: str, team: Team, complaints: list[str], width: int) -> None:
    store.destroy([text_hash("Be kind.")])
    sign_in(page, server)
    page.set_viewport_size({"width": width, "height": 900})
    context = f"{server}/contexts/{Assembly.objects.get(topic='the stage').id}"
    for tab in ("", "items/", "rules-and-sources/"):
        page.goto(f"{context}/{tab}")
        expect(page.get_by_role("note").filter(has_text=NOTICE)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{context}/")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator("#replayed")).to_contain_text("Not verified")
