"""The page of a context says whether personal data is masked in it."""

import pytest
from django.test import Client

from agents.models import Agent
from teams.models import User
from tests.client import Api

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("mode", ["mask", "off"])
def test_it_says_that_personal_data_is_masked(
    mode: str, agent: Agent, agent_api: Api, admin: User, client: Client
) -> None:
    made = agent_api.post("assemblies", {"agent": agent.slug, "privacy_mode": mode}).json()
    client.force_login(admin)
    page = client.get(f"/contexts/{made['id']}/")
    assert page.status_code == 200
    assert ("Personal data <b>masked</b>" in page.content.decode()) is (mode == "mask")
