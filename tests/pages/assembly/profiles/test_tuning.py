"""The section of a profile's page on its tuning: what everyone sees, and the buttons of admins."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from assembly.models import Assembly, ProfileTuning
from teams.models import User
from tests.assembly.feedback.tuning_factories import made, measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def record(agent: Agent) -> Assembly:
    return made(agent)


def test_the_page_shows_how_the_numbers_moved(record: Assembly, client: Client, teammate: User, admin: User) -> None:
    measured(contradiction_rate=1)
    measured(coherence_score=0.1)
    client.force_login(teammate)
    page = client.get("/profiles/memory/").content.decode()
    assert "1.00 → 1.20" in page
    assert "Reset tuning" not in page
    assert client.post("/profiles/memory/tuning/reset/").status_code == 403
    client.force_login(admin)
    assert "Reset tuning" in client.get("/profiles/memory/").content.decode()
    client.post("/profiles/memory/tuning/switch/")
    client.post("/profiles/memory/tuning/reset/")
    newest = ProfileTuning.objects.order_by("-version")
    assert [one.change for one in newest[:2]] == ["reset", "off"]
    assert "Nothing has been moved" in client.get("/profiles/coding/").content.decode()
    assert "Tuning by feedback" not in client.get("/profiles/conversation/").content.decode()


@pytest.mark.parametrize("windows", [0, 3])
def test_the_page_takes_two_queries_for_the_tuning(windows: int, record: Assembly, client: Client, admin: User) -> None:
    client.force_login(admin)
    for _ in range(windows):
        measured(contradiction_rate=1)
    client.get("/profiles/memory/")
    with_tuning, without = (queries_of(client, name) for name in ("memory", "conversation"))
    assert with_tuning - without <= 4


def queries_of(client: Client, name: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"/profiles/{name}/").status_code == 200
    return len(queries)
