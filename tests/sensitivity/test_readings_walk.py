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
from tests.rights.visits import Answer
from tests.rights.world import LED, Owned, World
from tests.sensitivity import test_marker
from tests.sensitivity.restricted_things import MARKER, Restricted
from tests.sensitivity.test_marker import ADDRESSES, PAGES, SHOWN

pytestmark = pytest.mark.django_db

NAMED = {"activity/", "activity/log.csv", f"{API}activities"}
"""The activity log has names of what was changed, for admins of the organisation. It is no reading of these things."""


def lines_of(
    route: str, who: str, owned: Owned, world: World, monkeypatch: pytest.MonkeyPatch
) -> tuple[Answer | None, list[Reading]]:
    """What somebody is answered, and the lines that were written before the visit was undone."""
    lines: list[Reading] = []
    undo = test_marker.undone

    def undone(request: Callable[[], Any]) -> Answer:
        def visit() -> Any:
            response = request()
            lines.extend(Reading.objects.all())
            return response

        return undo(visit)

    monkeypatch.setattr(test_marker, "undone", undone)
    answer = test_marker.visited(route, who, owned, world)
    monkeypatch.undo()
    return answer, lines


@pytest.mark.parametrize("route", sorted({*PAGES, *(API + route for route in ADDRESSES)} - NAMED))
def test_what_tells_something_restricted_writes_a_line(
    route: str, world: World, restricted: Mapping[str, Restricted], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = []
    for who in ("admin", "mixed", "admin key"):
        for owned in (world.teams[LED], restricted[LED].at(route)):
            answer, lines = lines_of(route, who, owned, world, monkeypatch)
            if answer and MARKER in answer.text and not any(line.level == Sensitivity.RESTRICTED for line in lines):
                at = answer.text.index(MARKER)
                wrong.append(f"{who}: {answer.status} …{answer.text[max(0, at - 200) : at + 80]}…")
    assert not wrong, "\n".join(wrong)


LISTS = {"agents/<slug:slug>/tasks/"}


@pytest.mark.parametrize("route", sorted(set(SHOWN) - LISTS))
def test_a_page_of_one_thing_names_it_in_a_line_of_its_own(
    route: str, world: World, restricted: Mapping[str, Restricted], monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = restricted[LED].at(route)
    for who in ("admin", "mixed"):
        _, lines = lines_of(route, who, owned, world, monkeypatch)
        assert [line.kind for line in lines].count("read") == 1, (who, [(one.kind, one.counts, one.things) for one in lines])
        [line] = [line for line in lines if line.kind == "read"]
        assert line.actor == world.people[who].principal.ref
        assert line.level == Sensitivity.RESTRICTED
        assert line.route == f"GET /{route}"
        assert line.address == "127.0.0.1"
        assert len(line.things) == 1
        assert list(line.counts.values()) == [1]
        if "organisation" in route:
            assert not line.team_ids
        else:
            assert line.team_ids == [owned.team.pk]
