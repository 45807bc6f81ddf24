"""What cannot be undone asks first: a page without scripts that names what goes; only its POST deletes.

The table names every page that takes something away. A new one joins it.
"""

import re

import pytest

from assembly.models import ExternalSource, Proposal, RecallTest, StoredProfile, StoredRule, Webhook
from privacy.models import Subject
from teams.models import Team
from teams.versioned_text.drafts import Draft, TextSetAside, discarded_text_create
from tests.rights.pages_table import BODIES
from tests.rights.routes import address, all_routes
from tests.rights.world import LED, World

pytestmark = pytest.mark.django_db

ASKS = (
    "organisation/files/<slug:key>/delete/",
    "teams/<slug:slug>/delete/",
    "agents/<slug:slug>/delete/",
    "agents/<slug:slug>/keys/<uuid:key_id>/revoke/",
    "keys/<uuid:key_id>/revoke/",
    "agents/<slug:slug>/entities/<uuid:thing_id>/delete/",
    "agents/<slug:slug>/relations/<uuid:thing_id>/delete/",
    "agents/<slug:slug>/patterns/<uuid:thing_id>/delete/",
    "agents/<slug:slug>/threads/<uuid:thing_id>/delete/",
    "agents/<slug:slug>/tools/<uuid:thing_id>/delete/",
    "agents/<slug:slug>/documents/<uuid:thing_id>/delete/",
    "profiles/<slug:name>/delete/",
    "rules/<slug:name>/delete/",
    "external-sources/<slug:name>/delete/",
    "webhooks/<uuid:id_>/delete/",
    "proposals/<uuid:id_>/delete/",
    "recall-tests/<uuid:id_>/delete/",
    "subjects/<uuid:id_>/delete/",
    "drafts/<uuid:id_>/forget/",
    "people/<uuid:id_>/second-factor/",
)
"""GET asks, POST does it."""
CAN_BE_UNDONE = {
    "memories/<uuid:id_>/retire/": "it is brought back on its page",
    "teams/<slug:slug>/members/<uuid:user_id>/remove/": "the person is added again",
    "accounts/sessions/<uuid:id_>/end/": "one signs in again",
    "accounts/sessions/end-others/": "one signs in again",
    "teams/<slug:slug>/keys/<uuid:key_id>/withdraw/": "the key is granted again",
}
TAKES_AWAY = re.compile(r"/(delete|revoke|remove|forget|retire|withdraw|discard|clear|end|second-factor)[-a-z]*/$")
TYPED = ("organisation/files/<slug:key>/delete/", "teams/<slug:slug>/delete/", "agents/<slug:slug>/delete/")
"""The largest: they want the name typed."""


def test_every_page_that_takes_something_away_is_in_the_table() -> None:
    taking = {route for route in all_routes() if TAKES_AWAY.search(route)}
    assert taking == set(ASKS) | set(CAN_BE_UNDONE)


@pytest.mark.parametrize("route", ASKS)
def test_it_asks_on_a_page_that_needs_no_script(route: str, world: World) -> None:
    who = "mixed" if route.startswith("drafts/") else "admin"
    browser, path = world.browsers[who], address(route, world.teams[LED], world)
    asked = browser.get(path)
    page = asked.content.decode()
    assert asked.status_code == 200
    assert browser.get(path).status_code == 200, "to ask deletes nothing"
    assert "cannot be undone" in page
    form = re.search(r'<form\s+method="post"\s+class="sheet spaced"\s*>.*?</form>', page, re.DOTALL)
    assert form, "the form posts to the page itself"
    assert 'class="btn danger"' in form[0]
    assert ('name="typed"' in form[0]) == (route in TYPED)


@pytest.mark.parametrize(
    ("route", "model"),
    [
        ("profiles/<slug:name>/delete/", StoredProfile),
        ("rules/<slug:name>/delete/", StoredRule),
        ("external-sources/<slug:name>/delete/", ExternalSource),
        ("webhooks/<uuid:id_>/delete/", Webhook),
        ("proposals/<uuid:id_>/delete/", Proposal),
        ("recall-tests/<uuid:id_>/delete/", RecallTest),
        ("subjects/<uuid:id_>/delete/", Subject),
        ("drafts/<uuid:id_>/forget/", Draft),
        ("teams/<slug:slug>/delete/", Team),
    ],
)
def test_the_answer_deletes_one(route: str, model: type, world: World) -> None:
    rows = model._default_manager  # type: ignore[attr-defined]
    before = rows.count()
    browser = world.browsers["mixed" if route.startswith("drafts/") else "admin"]
    body = BODIES[route](world.teams[LED], world) if route in BODIES else {}
    assert browser.post(address(route, world.teams[LED], world), body).status_code == 302
    assert rows.count() == before - 1


@pytest.mark.parametrize(
    ("page", "route"),
    [
        ("profiles/<slug:name>/", "profiles/<slug:name>/delete/"),
        ("rules/<slug:name>/", "rules/<slug:name>/delete/"),
        ("external-sources/<slug:name>/", "external-sources/<slug:name>/delete/"),
        ("webhooks/<uuid:id_>/", "webhooks/<uuid:id_>/delete/"),
        ("proposals/<uuid:id_>/", "proposals/<uuid:id_>/delete/"),
        ("recall-tests/<uuid:id_>/", "recall-tests/<uuid:id_>/delete/"),
        ("subjects/<uuid:id_>/", "subjects/<uuid:id_>/delete/"),
        ("drafts/<uuid:id_>/", "drafts/<uuid:id_>/forget/"),
    ],
)
def test_the_page_of_the_thing_leads_to_the_question(page: str, route: str, world: World) -> None:
    browser = world.browsers["mixed" if route.startswith("drafts/") else "admin"]
    owned = world.teams[LED]
    text = browser.get(address(page, owned, world)).content.decode()
    path = address(route, owned, world)
    assert f'href="{path}"' in text
    assert f'action="{path}"' not in text


def test_a_text_that_was_set_aside_is_thrown_away_after_a_question(world: World) -> None:
    file = world.teams[LED].team.files.get(file_key="RULES")
    mixed, browser = world.people["mixed"], world.browsers["mixed"]
    discarded_text_create(person_id=mixed.id, about=file.about, content="Half", based_on=2)
    editor = f"/teams/{LED}/files/RULES/"
    assert 'href="?step=forget"' in browser.get(editor).content.decode()
    page = browser.get(f"{editor}?step=forget").content.decode()
    assert "cannot be undone" in page
    assert TextSetAside.objects.count() == 1
    browser.post(editor, {"deed": "forget"})
    assert not TextSetAside.objects.exists()
