"""The pages of use and limits."""

from typing import Any

import pytest
from django.test import Client

from agents.keys import api_key_create
from agents.models import Agent
from agents.quotas.models import QuotaLimit
from agents.quotas.services import DAYS
from agents.quotas.uses import UseCounter
from teams.models import Team, User

pytestmark = [pytest.mark.django_db, pytest.mark.finding("3q")]


@pytest.fixture
def address(agent: Agent) -> str:
    return f"/agents/{agent.slug}/keys/{api_key_create(agent=agent, name='Program')[0].id}/limits/"


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def test_an_admin_of_a_team_sees_its_agents_and_keys(owner: User, team: Team, address: str) -> None:
    page = text(signed_in(owner), "/limits/")
    assert address in page
    assert f"/teams/{team.slug}/limits/" in page
    assert f"/people/{owner.id}/limits/" in page
    assert "/limits/" in text(signed_in(owner), "/"), "the menu leads there"


def test_others_see_themselves_alone(teammate: User, address: str, team: Team) -> None:
    client = signed_in(teammate)
    page = text(client, "/limits/")
    assert address not in page
    assert "Set limits" not in text(client, f"/people/{teammate.id}/limits/")
    assert client.post(f"/people/{teammate.id}/limits/", {"requests_per_minute": "0"}).status_code == 403
    text(client, address, 403)
    text(client, f"/teams/{team.slug}/limits/", 403)


def test_limits_are_set_in_megabytes(owner: User, admin: User, address: str) -> None:
    facts = {
        "requests_under_way": "4",
        "requests_per_minute": "",
        "text_bytes_per_day": "20",
        "record_bytes_per_day": "",
    }
    answer = signed_in(owner).post(address, facts)
    assert answer.status_code == 302
    row = QuotaLimit.objects.get()
    assert (row.by_organisation, row.requests_under_way, row.text_bytes_per_day) == (False, 4, 20_000_000)
    assert "20.0 MB" in text(signed_in(owner), address)
    assert 'value="20"' in text(signed_in(owner), address)
    refused = signed_in(owner).post(address, {**facts, "text_bytes_per_day": "501"})
    assert refused.status_code == 422
    assert "Empty: limit of the organisation," in refused.content.decode()
    assert signed_in(admin).post(address, {**facts, "text_bytes_per_day": "0"}).status_code == 302
    assert QuotaLimit.objects.get(by_organisation=True).text_bytes_per_day == 0


def test_use_is_a_chart_and_a_table_and_near_the_limit_it_warns(owner: User, address: str, settings: Any) -> None:
    settings.QUOTA_TEXT_BYTES_PER_DAY = 1_000_000
    subject = f"key:{address.split('/')[4]}"
    assert "No requests in this period. New requests appear here within seconds." in text(signed_in(owner), address)
    uses = UseCounter()
    uses.add([subject], requests=1_234, refused=5, text_bytes=900_000)
    uses.flush()
    page = text(signed_in(owner), address)
    assert page.count("half part") == DAYS
    assert "1,234" in page
    assert (
        ": nearly used up. When the limit is reached, requests that store more are rejected until midnight UTC." in page
    )
    assert "near its limit" in text(signed_in(owner), "/limits/")


def test_a_list_of_many_takes_few_queries(owner: User, agent: Agent, django_assert_max_num_queries: Any) -> None:
    for number in range(60):
        api_key_create(agent=agent, name=f"Program {number}")
    client = signed_in(owner)
    with django_assert_max_num_queries(24):
        page = text(client, "/limits/")
    assert "page=2" in page
