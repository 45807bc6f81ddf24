"""No browser and no proxy stores what is private: every route, whatever it answers."""

import datetime
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import daily_log_append
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from tests.client import Api
from tests.pages.conftest import SignedIn

PARTS = {"uuid": "00000000-0000-7000-8000-000000000000", "int": "1", "slug": "luna", "str": "x", "path": "x"}
OTHER_PARTS = {"team_file_key": "GOALS", "agent_file_key": "IDENTITY"}


def addresses(entries: Iterable[URLPattern | URLResolver] | None = None, before: str = "/") -> Iterator[str]:
    """An address for every route, whether what it names exists or not."""
    for entry in get_resolver().url_patterns if entries is None else entries:
        here = before + re.sub(r"<(?:(\w+):)?\w+>", _part, str(entry.pattern))
        if isinstance(entry, URLPattern):
            yield re.sub(r"\(\?P<format>.*|[$^]", "", here)
        else:
            yield from addresses(entry.url_patterns, here)


def _part(match: re.Match[str]) -> str:
    known = PARTS | OTHER_PARTS | {"day": "2026-03-01", "date": "2026-03-01"}
    return known.get(match[1] or "str", "x")


def is_private(response: Any) -> bool:
    named = {part.strip() for part in response.headers["Cache-Control"].split(",")}
    return {"no-store", "private"} <= named or named == {"no-store"}


@pytest.mark.finding("6.3")
def test_no_answer_of_any_route_may_be_stored(signed_in: SignedIn, admin: User, agent: Agent, team: Team) -> None:
    browser, stranger = signed_in(admin), Client()
    walked = sorted(set(addresses()))
    assert len(walked) > 200
    storable = []
    for address in walked:
        answers = [stranger.get(address)] + ([] if "logout" in address else [browser.get(address)])
        storable += [(address, answer.status_code) for answer in answers if not is_private(answer)]
    assert storable == []


@pytest.mark.finding("6.3")
def test_pages_that_show_something_private_may_not_be_stored(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    daily_log_append(agent=agent, date=datetime.date(2026, 3, 1), text="Met.", principal=owner.principal)
    context = assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly
    owner.set_password("a quite long password")
    owner.save()
    browser = signed_in(owner)
    browser.post("/accounts/reauthenticate/", {"password": "a quite long password"})
    for address in (
        "/",
        f"/contexts/{context.id}/",
        f"/contexts/{context.id}/json/file/",
        "/agents/luna/logs/2026-03-01/",
        "/agents/luna/memories/",
        "/agents/luna/files/IDENTITY/",
        "/accounts/2fa/totp/activate/",
        "/accounts/sessions/",
    ):
        response = browser.get(address)
        assert response.status_code == 200, address
        assert is_private(response), address


@pytest.mark.finding("6.3")
def test_conditional_requests_of_the_api_work_as_before(agent: Agent) -> None:
    api = Api(api_key_create(agent=agent, name="key", scopes=["files:write"])[1])
    first = api.get("agents/luna/files/IDENTITY")
    assert first.status_code == 200
    assert is_private(first)
    again = api.get("agents/luna/files/IDENTITY", if_none_match=first["ETag"])
    stale = api.put("agents/luna/files/IDENTITY", {"content": "x"}, if_match='"99"')
    assert (again.status_code, stale.status_code) == (304, 412)
    assert again["ETag"] == first["ETag"]
    assert api.put("agents/luna/files/IDENTITY", {"content": "x"}, if_match=first["ETag"]).status_code == 200


def test_static_files_may_be_stored(client: Client, settings: Any) -> None:
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = True
    response = client.get("/static/css/tokens.css")
    assert response.getvalue()
    assert "no-store" not in response["Cache-Control"]
    response.close()
