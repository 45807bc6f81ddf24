"""Every page and endpoint that tells an admin something restricted writes a line in the log of readings.

No page calls anything for it, so no page can forget it: what is loaded is noted by the models, and what is read by
other means is noted where it is read. The walk finds what is not.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from teams.models import Reading
from teams.sensitivity import Sensitivity
from tests.rights.routes import API
from tests.rights.visits import Answer, undone
from tests.rights.world import LED, Owned, World
from tests.sensitivity import test_marker
from tests.sensitivity.restricted_things import MARKER, Restricted
from tests.sensitivity.test_marker import ADDRESSES, PAGES, SEARCHES, SHOWN, WITHOUT

pytestmark = pytest.mark.django_db

NAMED = {"activity/", "activity/log.csv", f"{API}activities"}
"""The activity log has names of what was changed, for admins of the organisation. It is no reading of these things."""
READERS = ("admin", "mixed", "admin key")


class Visits:
    """Requests that are undone, with the lines that were there before they were."""

    def __init__(self) -> None:
        self.lines: list[Reading] = []

    def undone(self, request: Callable[[], Any]) -> Answer:
        """The answer, as `tests.rights.visits.undone` returns it."""

        def visit() -> Any:
            response = request()
            self.lines = list(Reading.objects.all())
            return response

        return undone(visit)

    @property
    def is_recorded(self) -> bool:
        """Whether the last visit wrote a line about something restricted."""
        return any(line.level == Sensitivity.RESTRICTED for line in self.lines)


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> Visits:
    """With which the visits of the walk for the marker are made."""
    visits = Visits()
    monkeypatch.setattr(test_marker, "undone", visits.undone)
    return visits


@pytest.mark.parametrize("route", sorted({*PAGES, *(API + route for route in ADDRESSES)} - NAMED))
def test_what_tells_something_restricted_writes_a_line(
    route: str, world: World, restricted: Mapping[str, Restricted], visits: Visits
) -> None:
    wrong = []
    for who in READERS:
        places = {test_marker.path_of(route, one, world): one for one in (world.teams[LED], restricted[LED].at(route))}
        for owned in places.values():
            answer = test_marker.visited(route, who, owned, world)
            if answer and MARKER in answer.text and not visits.is_recorded:
                at = answer.text.index(MARKER)
                wrong.append(f"{who}: {answer.status} …{answer.text[max(0, at - 200) : at + 80]}…")
    assert not wrong, "\n".join(wrong)


def test_searches_and_exports_write_lines(world: World, restricted: Mapping[str, Restricted], visits: Visits) -> None:
    owned, marker = world.teams[LED], restricted[LED].marker
    told, wrong = 0, []
    for path in (path.format(agent=owned.agent.slug, team=owned.team.slug) for path in SEARCHES):
        for who in READERS:
            if marker in test_marker.found(who, path, world):
                told += 1
                wrong += [] if visits.is_recorded else [(who, path)]
    assert told > len(SEARCHES)
    assert not wrong


@pytest.mark.parametrize("route", sorted(set(SHOWN) - WITHOUT))
def test_a_page_of_one_thing_names_it_in_a_line_of_its_own(
    route: str, world: World, restricted: Mapping[str, Restricted], visits: Visits
) -> None:
    owned: Owned = restricted[LED].at(route)
    for who in ("admin", "mixed"):
        test_marker.visited(route, who, owned, world)
        [line] = [line for line in visits.lines if line.kind == "read"]
        assert line.actor == world.people[who].principal.ref
        assert line.level == Sensitivity.RESTRICTED
        assert line.route == f"GET /{route}"
        assert line.address == "127.0.0.1"
        assert len(line.things) == sum(line.counts.values()) == 1
        assert line.team_ids == ([] if "organisation/" in route else [owned.team.pk])
