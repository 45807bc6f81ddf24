"""Every page and endpoint that tells an admin something restricted writes a line in the log of readings.

No page calls anything for it, and none can forget it: what is loaded is noted by the models, and what is read by other
means is noted where it is read.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from config.http import cursors  # noqa: F401
from teams.models import Reading
from tests.rights.visits import Answer
from tests.rights.world import LED, World
from tests.sensitivity import test_marker
from tests.sensitivity.restricted_things import MARKER, Restricted
from tests.sensitivity.test_marker import ADDRESSES, API, PAGES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("route", [*PAGES, *(API + route for route in ADDRESSES)])
def test_probe(route: str, world: World, restricted: Mapping[str, Restricted], monkeypatch: Any) -> None:
    import tests.sensitivity.test_marker as tm
    from django.db import transaction
    seen = []
    real = tm.undone
    def spied(request):
        def inner():
            answer = request()
            if answer.streaming: pass
            seen.extend(list(Reading.objects.order_by("created").values("kind", "level", "counts", "route", "actor_name")))
            return answer
        return real(inner)
    monkeypatch.setattr(tm, "undone", spied)
    out = []
    for who in ("admin", "admin key", "mixed"):
        for which, owned in (("other", world.teams[LED]), ("own", restricted[LED].at(route))):
            seen.clear()
            answer = tm.visited(route, who, owned, world)
            if answer is None: continue
            has = MARKER in answer.text
            if has or seen:
                out.append(f"{'BAD' if has and not seen else 'over' if seen and not has else 'ok'} {who} {which} {answer.status} {[(s['kind'], s['counts']) for s in seen]} {answer.text[max(0,answer.text.index(MARKER)-150):answer.text.index(MARKER)+50]!r}" if has else f"over {who} {which} {answer.status} {[(s['kind'], s['counts']) for s in seen]}")
    with open("/tmp/walk.txt", "a") as f:
        for o in out: f.write(f"{route} {o}\n")
