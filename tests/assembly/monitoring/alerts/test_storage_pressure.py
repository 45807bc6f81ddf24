"""The alert of memory pressure opens once, and is closed when there is room again."""

import pytest

from assembly.models import Alert
from memories.lifecycle.hourly_run import memory_pressure_changed
from memories.models import LifecycleReport
from teams.models import User
from tests.client import Api

pytestmark = pytest.mark.django_db


def tell(share: float, *, is_high: bool) -> None:
    memory_pressure_changed.send(sender=LifecycleReport, share=share, is_high=is_high)


def test_it_opens_once_and_is_closed_by_room(admin: User, admin_api: Api, agent_api: Api) -> None:
    tell(0.5, is_high=False)
    assert not Alert.objects.exists()
    tell(0.83, is_high=True)
    tell(0.85, is_high=True)
    alert = Alert.objects.get()
    assert (alert.kind, alert.closed, alert.name) == ("memory_pressure", None, "83%")
    tell(0.7, is_high=False)
    assert Alert.objects.get().closed is not None
    tell(0.9, is_high=True)
    assert Alert.objects.count() == 2
    assert [one["kind"] for one in admin_api.get("alerts").json()["results"]] == ["memory_pressure"]
    assert agent_api.get("alerts").json()["results"] == []
