"""What the tests of the editor do again and again."""

from typing import Any

from django.test import Client

from teams.models import Team, TeamFile, User
from teams.versioned_text.drafts import Draft
from teams.versioned_text.versioned_file import file_save

GOALS = "/teams/demo/files/GOALS/"
LOOK = f"{GOALS}?step=publish"
AS_SCRIPT = {"Accept": "application/json"}


def goals(team: Team) -> TeamFile:
    """The file that is written, as it is stored."""
    return TeamFile.objects.get(team=team, file_key="GOALS")


def write(team: Team, content: str, by: User, note: str = "") -> TeamFile:
    """Somebody publishes a text from elsewhere."""
    file, author = goals(team), by.principal.author
    return file_save(file=file, content=content, expected_version=file.version, author=author, note=note)


def draft_in(team: Team, person: User) -> Draft | None:
    """What the person has written and not published."""
    return Draft.objects.filter(person=person, about=goals(team).about).first()


def keep(browser: Client, content: str, version: int = 1, revision: int = 0, **more: Any) -> Any:
    """Save a draft as the page's scripts do."""
    data = {"deed": "keep", "content": content, "version": version, "revision": revision, **more}
    return browser.post(GOALS, data, headers=AS_SCRIPT)


def publish(browser: Client, content: str, *, version: int = 1, note: str = "", address: str = GOALS) -> Any:
    """From the editor by way of the changes to a version, as without scripts. Returns the last page."""
    looked = browser.post(address, {"deed": "review", "content": content, "version": version}, follow=True)
    if not looked.redirect_chain or "draft" not in looked.context:
        return looked
    draft = looked.context["draft"]
    return browser.post(address, {"deed": "publish", "revision": draft.revision, "note": note}, follow=True)
