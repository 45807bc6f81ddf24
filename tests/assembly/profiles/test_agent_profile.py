"""The context profile of an agent: used where a request names none, and what its texts are measured against."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_create, agent_update
from assembly.home.file_cards import find_oversized_files
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create, profile_delete
from assembly.simulation.draft_preview.services import preview_drafts
from config.http.errors import Conflict, Invalid
from teams.models import Activity, Team, User
from teams.principal import SYSTEM
from tests.archives import packed
from tests.assembly.conftest import write
from tests.assembly.profiles.test_services import BRIEF
from tests.client import Api, errors_of
from tests.memories.archive.test_plan import done, shown

pytestmark = pytest.mark.django_db
TIGHT = BRIEF + "  - {key: knowledge, heading: Knowledge, layer: L7, source: agent_files, shape: text, cap: 40}\n"


@pytest.fixture(autouse=True)
def tight() -> None:
    profile_create(name="tight", content=TIGHT, principal=SYSTEM)


def told(agent: Agent, **asked: Any) -> Assembly:
    return assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest(**asked)).assembly


def with_profile(agent: Agent, name: str) -> Agent:
    facts: dict[str, Any] = {"name": agent.name, "timezone": agent.timezone, "teams": list(agent.teams.all())}
    version = Agent.objects.get(id=agent.id).version
    return agent_update(agent=agent, expected_version=version, profile=name, principal=SYSTEM, **facts)


def test_a_request_without_a_profile_gets_the_agents(agent: Agent) -> None:
    assert told(agent).profile_name == "conversation"
    agent = with_profile(agent, "tight")
    assert (told(agent).profile_name, told(agent).budget) == ("tight", 500)
    assert told(agent, profile="coding").profile_name == "coding", "what is named counts"
    agent = with_profile(agent, "coding")
    assert told(agent).profile_name == "coding", "although a context was assembled a moment ago"
    found = preview_drafts(agent=agent, asked=AssemblyRequest(), texts={})
    assert found.after.inputs.profile.name == "coding"


def test_over_rest_it_is_set_read_and_used(admin_api: Api, agent_api: Api, agent: Agent) -> None:
    made = admin_api.post("agents", {"slug": "luna", "name": "Luna", "profile": "tight"}).json()
    assert made["profile"] == admin_api.get("agents/luna").json()["profile"] == "tight"
    assert admin_api.get("agents/ada").json()["profile"] == ""
    assert admin_api.patch("agents/ada", {"profile": "tight"}, if_match='"1"').json()["profile"] == "tight"
    assert agent_api.post("assemblies", {"agent": "ada"}).json()["profile"] == "tight"
    body = {"agent": "ada", "profile": "conversation"}
    assert agent_api.post("assemblies", body).json()["profile"] == "conversation"
    assert Activity.objects.latest("created").detail == {"profile": "tight", "before": {"profile": ""}}
    assert admin_api.patch("agents/ada", {"profile": ""}, if_match='"2"').json()["profile"] == ""


@pytest.mark.parametrize("name", ["nothing", "a" * 61, "\x00", 3])
def test_an_unknown_profile_is_refused(name: object, admin_api: Api, agent: Agent) -> None:
    assert errors_of(admin_api.patch("agents/ada", {"profile": name}, if_match='"1"')) == {"profile"}
    assert errors_of(admin_api.post("agents", {"slug": "luna", "name": "Luna", "profile": name})) == {"profile"}
    assert not Agent.objects.exclude(profile="").exists()


def test_a_profile_that_an_agent_uses_is_not_deleted(agent: Agent, admin: User) -> None:
    agent = with_profile(agent, "tight")
    with pytest.raises(Conflict, match="Agents use the profile tight: Ada"):
        profile_delete(name="tight", principal=admin.principal)
    with_profile(agent, "")
    profile_delete(name="tight", principal=admin.principal)
    with pytest.raises(Invalid, match="There is no profile “tight”"):
        with_profile(agent, "tight")


def test_files_are_too_long_for_the_profile_of_their_agent(agent: Agent, team: Team, admin: User) -> None:
    other = agent_create(slug="eve", name="Eve", teams=[team])
    for one in (agent, other):
        write(one, "KNOWLEDGE", "Quills bend under wet ink. " * 20)
    assert find_oversized_files(admin.principal) == []
    with_profile(agent, "tight")
    [over] = find_oversized_files(admin.principal)
    assert (over.owner, over.name, over.room.most) == ("Ada", "Knowledge", 40)


def test_pages_offer_it_and_measure_against_it(agent: Agent, team: Team, admin: User, settings: Any) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    write(agent, "KNOWLEDGE", "Quills bend under wet ink. " * 20)
    browser = Client()
    browser.force_login(admin)
    facts = {"version": 1, "name": "Ada", "timezone": "UTC", "teams": [team.id], "profile": "tight"}
    assert browser.post("/agents/ada/settings/", {**facts, "profile": "nothing"}).status_code == 422
    assert browser.post("/agents/ada/settings/", facts).status_code == 302
    assert '<option value="tight" selected>' in browser.get("/agents/ada/settings/").content.decode()
    editor = browser.get("/agents/ada/files/KNOWLEDGE/").content.decode()
    assert "/ 40 tokens" in editor
    assert 'hx-post="/size/KNOWLEDGE/?profile=tight"' in editor
    sent = {"content": "Quills bend. " * 60}
    assert "/ 40 tokens" in browser.post("/size/KNOWLEDGE/?profile=tight", sent).content.decode()
    assert "/ 2,000 tokens" in browser.post("/size/KNOWLEDGE/", sent).content.decode()
    assert browser.post("/size/KNOWLEDGE/?profile=nothing", sent).status_code == 422
    assert browser.post("/size/KNOWLEDGE/?profile=%00", sent).status_code == 404
    assert "/ 40 tokens" in browser.get("/agents/ada/").content.decode()
    preview = browser.post("/preview/", {"agent": "ada", "team": "", "profile": "", "topic": ""}, follow=True)
    assert Assembly.objects.latest("created").profile_name == "tight", preview.content


def test_an_archive_carries_it(agent: Agent) -> None:
    assert done(shown(packed({"agents/ada/agent.json": '{"profile": "tight"}'}))) == []
    agent.refresh_from_db()
    assert agent.profile == "tight"
    [[name, reason]] = done(shown(packed({"agents/ada/agent.json": '{"profile": "nothing"}'})))
    assert name == "agents/ada/agent.json"
    assert "There is no profile “nothing”" in reason
