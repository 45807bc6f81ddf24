"""A page whose text has a secret says where it is, and keeps what was typed."""

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import draft_in, goals, publish

TEXT = "For guests, the wifi password is Blue-Otter42! today."
SAID = "Line 1 has what looks like a secret (password)"


def test_a_new_memory_keeps_its_text_in_the_form(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    data = {"kind": "fact", "text": TEXT, "salience": "0.5", "credibility": "0.5", "version": "0"}
    response = signed_in(editor).post("/agents/luna/memories/new/", data)
    assert response.status_code == 422
    assert SAID in text_of(response)
    assert TEXT in text_of(response)
    assert not Memory.objects.exists()


def test_an_edited_memory_keeps_its_text_in_the_form(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Before"), principal=SYSTEM)
    data = {"kind": "fact", "text": TEXT, "salience": "0.5", "credibility": "0.5", "version": "1"}
    response = signed_in(editor).post(f"/memories/{memory.id}/edit/", data)
    assert response.status_code == 422
    assert SAID in text_of(response)
    assert TEXT in text_of(response)
    memory.refresh_from_db()
    assert memory.text == "Before"


def test_a_note_is_refused_and_stays_in_the_form(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Before"), principal=SYSTEM)
    data = {"kind": "fact", "text": "After", "salience": "0.5", "credibility": "0.5", "version": "1", "note": TEXT}
    pages = {"edit": data, "retire": {"version": "1", "reason": TEXT}}
    for page, sent in pages.items():
        response = signed_in(editor).post(f"/memories/{memory.id}/{page}/", sent)
        assert response.status_code == 422
        assert SAID in text_of(response)
        assert TEXT in response.content.decode()
    level = {"sensitivity": "2", "note": TEXT}
    response = signed_in(editor).post(f"/sensitivity/memory/{memory.id}/", level)
    assert (response.status_code, SAID in text_of(response)) == (422, True)
    memory.refresh_from_db()
    assert (memory.text, memory.version, memory.retired_because) == ("Before", 1, "")


def test_a_file_stays_a_draft(signed_in: SignedIn, editor: User, team: Team) -> None:
    response = publish(signed_in(editor), TEXT)
    assert SAID in text_of(response)
    assert goals(team).version == 1
    draft = draft_in(team, editor)
    assert draft is not None
    assert draft.content == TEXT


def test_instructions_of_a_new_agent_stay_in_the_form(signed_in: SignedIn, admin: User, team: Team) -> None:
    data = {"name": "Nia", "slug": "nia", "instructions": TEXT, "timezone": "UTC", "teams": [str(team.id)]}
    response = signed_in(admin).post("/agents/new/", data)
    assert response.status_code == 422
    assert SAID in text_of(response)
    assert not Agent.objects.filter(slug="nia").exists()


def test_an_admin_of_the_team_chooses_in_its_settings(signed_in: SignedIn, owner: User, team: Team) -> None:
    page = signed_in(owner).get("/teams/demo/settings/")
    assert "Keys and passwords in texts" in text_of(page)
    data = {"name": "Demo", "version": team.version, "secret_handling": "mask"}
    assert signed_in(owner).post("/teams/demo/settings/", data).status_code == 302
    team.refresh_from_db()
    assert team.secret_handling == "mask"
