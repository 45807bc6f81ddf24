"""What the stories of the editor do again and again."""

from playwright.sync_api import Locator, Page, expect

from teams.models import Team, TeamFile, User
from teams.versioned_text.drafts import Draft
from teams.versioned_text.versioned_file import file_save
from tests.browser.conftest import sign_in

GOALS = "/teams/demo/files/GOALS/"
SAVED = "Only you can see it."


def open_goals(page: Page, server: str, username: str = "olga") -> Locator:
    """Signs in and opens the editor, with its scripts. Returns the field."""
    sign_in(page, server, username)
    page.goto(f"{server}{GOALS}")
    page.wait_for_load_state()
    return page.get_by_label("Text of Goals")


def state_of(page: Page) -> Locator:
    """The line that says where the text is."""
    return page.locator("#state")


def is_saved(page: Page) -> None:
    """Waits until the draft is."""
    expect(state_of(page)).to_contain_text(SAVED)


def publish_from_here(page: Page, note: str = "") -> None:
    """By way of the changes."""
    page.get_by_role("button", name="Review and publish").click()
    page.get_by_label("Change summary").fill(note)
    page.get_by_role("button", name="Publish", exact=True).click()


def goals(team: Team) -> TeamFile:
    """The file as it is stored."""
    return TeamFile.objects.get(team=team, file_key="GOALS")


def draft_of(username: str = "olga") -> str:
    """What the person's only draft says; empty where there is none."""
    draft = Draft.objects.filter(person__username=username).first()
    return draft.content if draft else ""


def published_by(username: str, team: Team, content: str) -> None:
    """Somebody publishes from elsewhere."""
    file, author = goals(team), User.objects.get(username=username).principal.author
    file_save(file=file, content=content, expected_version=file.version, author=author)
