"""Settings of one's own account: what is saved, and what pages show with it."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from teams.models import User
from tests.pages.conftest import SignedIn, text_of

ADDRESS = "/accounts/settings/"


def test_settings_are_saved_for_the_person_alone(signed_in: SignedIn, owner: User, teammate: User) -> None:
    data = {"name": "Olga O.", "email": "olga@example.org", "time_zone": "Asia/Tokyo", "theme": "dark"}
    page = text_of(signed_in(owner).post(ADDRESS, data, follow=True))
    assert "Settings saved." in page
    owner.refresh_from_db()
    assert {name: getattr(owner, name) for name in data} == data
    teammate.refresh_from_db()
    assert (teammate.time_zone, teammate.theme) == ("", "")
    assert 'data-theme="dark"' in page
    assert 'name="color-scheme" content="dark"' in page


@pytest.mark.parametrize(
    "change",
    [{"time_zone": "Mars/Olympus"}, {"time_zone": "../etc"}, {"theme": "pink"}, {"email": "x"}, {"name": "x\x00"},
     {"name": "x" * 121}],
)  # fmt: skip
def test_bad_values_are_refused(change: dict[str, str], signed_in: SignedIn, owner: User) -> None:
    data = {"name": "Olga", "email": "", "time_zone": "", "theme": "", **change}
    assert signed_in(owner).post(ADDRESS, data).status_code == 422
    owner.refresh_from_db()
    assert owner.time_zone == owner.theme == owner.email == ""


def test_nobody_else_becomes_admin_by_a_field(signed_in: SignedIn, teammate: User) -> None:
    data = {"name": "Tim", "email": "", "time_zone": "", "theme": "", "is_admin": "on", "username": "root"}
    signed_in(teammate).post(ADDRESS, data)
    teammate.refresh_from_db()
    assert not teammate.is_admin
    assert teammate.username != "root"


def test_times_are_shown_in_the_zone_of_the_reader(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    told = assemble(agent=agent, principal=owner.principal, asked=AssemblyRequest()).assembly
    at = told.created
    User.objects.filter(id=owner.id).update(time_zone="Asia/Tokyo")
    browser = signed_in(owner)
    page = text_of(browser.get(f"/contexts/{told.id}/"))
    tokyo = at.astimezone(ZoneInfo("Asia/Tokyo"))
    assert f"{tokyo:%H:%M:%S} JST</h1>" in page
    assert f"{tokyo:%Y-%m-%d %H:%M} JST" in text_of(browser.get("/contexts/"))
    assert timezone.get_current_timezone_name() == "UTC", "the zone is one request's"


def test_a_time_that_is_typed_is_one_of_the_zone(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    User.objects.filter(id=owner.id).update(time_zone="Asia/Tokyo")
    data = {"version": "0", "text": "It rained.", "kind": "fact", "occurred_at": "2026-05-01T09:00", "salience": "0.5"}
    answer = signed_in(owner).post("/agents/luna/memories/new/", {**data, "credibility": "0.5", "language": ""})
    assert answer.status_code == 302
    assert Memory.objects.get().occurred_at == datetime(2026, 5, 1, 0, 0, tzinfo=UTC)


def test_signed_out_there_are_no_settings(client: object) -> None:
    assert client.get(ADDRESS).status_code == 302  # type: ignore[attr-defined]
