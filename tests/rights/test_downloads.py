"""Whoever takes out a file leaves an entry in the activity log: what, and how many rows it has.

`undone`, with which all walks visit pages and endpoints, fails for a file without one; so a new route joins by having a
row in the tables of this folder.
"""

import pytest

from teams.activity import log
from teams.models import Activity
from tests.rights.pages_table import BODIES
from tests.rights.routes import address
from tests.rights.visits import undone
from tests.rights.world import LED, World

pytestmark = pytest.mark.django_db

POSTED = {"teams/<slug:slug>/memories/selected/", "contexts/selected/", "contexts/download/"}
FILES: dict[str, tuple[str, set[str]]] = {
    "activity/log.csv": ("activity.csv", {"rows"}),
    "readings/log.csv": ("readings.csv", {"rows"}),
    "trends/files-over-limit.csv": ("files-over-limit.csv", {"rows"}),
    "contexts/<uuid:id_>/text/": (".md", set()),
    "contexts/<uuid:id_>/json/file/": (".json", set()),
    "contexts/selected/": (".csv", {"rows"}),
    "contexts/download/": (".csv", {"rows"}),
    "teams/<slug:slug>/memories/selected/": ("memories.csv", {"rows"}),
    "teams/<slug:slug>/export/download/": (".zip", {"files"}),
}


@pytest.mark.parametrize("route", FILES)
def test_a_download_leaves_an_entry(route: str, world: World) -> None:
    owned, admin = world.teams[LED], world.browsers["admin"]
    path, data = address(route, owned, world), BODIES[route](owned, world) if route in POSTED else {}
    before = set(Activity.objects.values_list("id", flat=True))
    answer = admin.post(path, data) if route in POSTED else admin.get(path)
    assert "attachment" in answer["Content-Disposition"]
    [entry] = Activity.objects.exclude(id__in=before)
    name, numbers = FILES[route]
    assert entry.action == "export.downloaded"
    assert entry.actor == world.people["admin"].principal.ref
    assert entry.target.endswith(name)
    assert entry.address == "127.0.0.1"
    assert set(entry.detail) == numbers
    assert all(number > 0 for number in entry.detail.values()) or "limit" in name or "readings" in name


def test_the_walks_find_a_download_without_an_entry(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "activity_record", lambda *_args, **_kwargs: None)
    with pytest.raises(AssertionError, match="export_record"):
        undone(lambda: world.browsers["admin"].get("/activity/log.csv"))
