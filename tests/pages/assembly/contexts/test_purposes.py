"""Pages tell previews and tests from what agents were told."""

import pytest

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of

pytestmark = pytest.mark.finding("E1")


@pytest.fixture
def preview(agent: Agent, team: Team, owner: User, signed_in: SignedIn) -> Assembly:
    signed_in(owner).post("/preview/", {"agent": agent.slug, "team": team.slug, "topic": "Tides"})
    return Assembly.objects.get()


def test_the_page_of_a_preview_says_so(preview: Assembly, signed_in: SignedIn, owner: User) -> None:
    assert preview.purpose == "preview"
    assert "Preview for Luna:" in text_of(signed_in(owner).get(f"/contexts/{preview.id}/"))


def test_a_preview_can_be_sensitive_and_masked(
    agent: Agent, team: Team, owner: User, editor: User, signed_in: SignedIn
) -> None:
    Agent.objects.filter(id=agent.id).update(clearance=3)
    sent = {"agent": agent.slug, "team": team.slug, "topic": "Tides", "sensitivity": "3", "privacy_mode": "mask"}
    refused = signed_in(editor).post("/preview/", sent)
    assert refused.status_code == 422
    assert "at most confidential for you" in text_of(refused)
    assert not Assembly.objects.exists()
    assert signed_in(owner).post("/preview/", sent).status_code == 302
    made = Assembly.objects.get()
    assert (made.sensitivity, made.request["privacy_mode"], made.request["sensitivity"]) == (3, "mask", "restricted")


def test_the_list_marks_previews_and_can_leave_them_out(
    preview: Assembly, agent: Agent, team: Team, signed_in: SignedIn, owner: User
) -> None:
    told = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="Ferry"), principal=SYSTEM).assembly
    both = text_of(signed_in(owner).get("/contexts/"))
    assert both.count(">preview<") == 1
    assert f"/contexts/{told.id}/" in both
    only = text_of(signed_in(owner).get("/contexts/?purpose=agent"))
    assert f"/contexts/{told.id}/" in only
    assert f"/contexts/{preview.id}/" not in only
    assert f"/contexts/{preview.id}/" in text_of(signed_in(owner).get("/contexts/?purpose=preview"))


def test_pages_of_agent_and_team_list_what_agents_were_told_alone(
    preview: Assembly, signed_in: SignedIn, owner: User
) -> None:
    for address in ("/agents/luna/", "/teams/demo/", "/"):
        assert str(preview.id) not in text_of(signed_in(owner).get(address))
