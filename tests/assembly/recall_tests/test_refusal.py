"""A guard binds whoever publishes; a refusal tells of a test only what the author may read."""

from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent, AgentFile, ApiKey
from assembly.models import RecallTest
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.publication import find_guarded_text, publication_guard_set
from assembly.recall_tests.services import RecallFacts, recall_test_create
from memories.services import MemoryFacts, memory_create
from teams.models import Reading, Team, User
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_save
from tests.assembly.recall_tests.conftest import RULE_TEXT
from tests.client import Answer, Api, problem

pytestmark = pytest.mark.django_db

PATH = "agents/ada/files/KNOWLEDGE"
BROKEN = "# Refunds\n\nAsk the finance team.\n"
REFUSED = "Nothing was published: 1 recall test fails with this text. "
UNREADABLE = "It cannot be named to you. Ask an organisation admin."
CODE = "The vault code is 7351."
VAULT = "The vault is in the cellar, behind the second door on the left of the stairs. " * 8 + CODE


@pytest.fixture
def guarded(knowledge: AgentFile) -> AgentFile:
    publication_guard_set(text=find_guarded_text(SYSTEM, knowledge.about), guarded=True, principal=SYSTEM)
    return knowledge


@pytest.fixture
def cleared(agent: Agent) -> Agent:
    """The agent, whose contexts may have what is restricted."""
    agent.clearance = Sensitivity.RESTRICTED
    agent.save()
    return agent


def restricted_test(agent: Agent, team: Team, *expectations: Expectation, name: str = "Vyqx") -> RecallTest:
    facts = RecallFacts(name=name, topic=f"{name} on refunds", expectations=expectations)
    return recall_test_create(agent=agent, team=team, facts=facts, principal=SYSTEM, sensitivity=Sensitivity.RESTRICTED)


def internal_test(agent: Agent, team: Team, *texts: str, **facts: Any) -> RecallTest:
    wanted = [Expectation("include", text=text) for text in texts]
    facts = {"name": "Plain", "topic": "vault code", "expectations": wanted, **facts}
    return recall_test_create(agent=agent, team=team, facts=RecallFacts(**facts), principal=SYSTEM)


def restricted_memory(agent: Agent, text: str) -> None:
    facts = MemoryFacts(kind="fact", text=text, sensitivity=Sensitivity.RESTRICTED)
    memory_create(owner=agent, facts=facts, principal=SYSTEM)


def published(api: Api, file: AgentFile, content: str = BROKEN) -> Answer:
    return api.put(PATH, {"content": content}, if_match=f'"{file.version}"')


def test_a_restricted_test_binds_those_who_may_not_read_it_and_is_not_told(
    guarded: AgentFile, agent: Agent, team: Team, editor: User, caplog: pytest.LogCaptureFixture
) -> None:
    restricted_test(agent, team, Expectation("include", text=RULE_TEXT))
    key = api_key_create(agent=agent, scopes=["read", ApiKey.Scope.WRITE_FILES], principal=SYSTEM)[1]
    for api in (Api(person=editor.principal), Api(key)):
        refused = published(api, guarded)
        assert problem(refused) == (409, "publication_refused")
        said = refused.json()
        assert (said["detail"], said["tests"]) == (REFUSED + UNREADABLE, [])
        for told in (refused.content.decode(), caplog.text):
            assert "Vyqx" not in told
            assert "scanned" not in told
    guarded.refresh_from_db()
    assert RULE_TEXT in guarded.content
    assert not Reading.objects.exists()
    assert published(Api(person=editor.principal), guarded, f"{RULE_TEXT} Always.").status_code == 200


def test_who_may_read_the_test_is_told_which_and_why(guarded: AgentFile, agent: Agent, team: Team, owner: User) -> None:
    test = restricted_test(agent, team, Expectation("include", text=RULE_TEXT))
    refused = published(Api(person=owner.principal), guarded)
    assert refused.json()["detail"].startswith(f"{REFUSED}“Vyqx” for Ada: “{RULE_TEXT}”: It is in the published")
    assert [one["id"] for one in refused.json()["tests"]] == [str(test.id)]


def test_some_of_several_are_named_and_the_others_counted(
    guarded: AgentFile, refund_test: RecallTest, agent: Agent, team: Team, editor: User
) -> None:
    for name in ("Vyqx", "Wyqx"):
        restricted_test(agent, team, Expectation("include", text=RULE_TEXT), name=name)
    detail = published(Api(person=editor.principal), guarded).json()["detail"]
    assert detail.startswith("Nothing was published: 3 recall tests fail with this text. “Refunds” for Ada: ")
    assert detail.endswith(" 2 of them cannot be named to you. Ask an organisation admin.")
    assert "yqx" not in detail


def test_notes_name_a_restricted_test_to_those_who_may_read_it_and_this_reading_is_logged(
    guarded: AgentFile, agent: Agent, team: Team, editor: User, owner: User
) -> None:
    test = restricted_test(agent, team, Expectation("include", text="Nobody wrote this."))
    restricted_test(agent, team, Expectation("exclude", text="Nobody wrote this."), name="Other")
    for person, notes in ((editor, 0), (owner, 1)):
        saved = published(Api(person=person.principal), guarded, f"{RULE_TEXT} {person.name}")
        assert (saved.status_code, len(saved.json().get("notes", []))) == (200, notes)
        guarded.refresh_from_db()

    assert [(line.actor_name, line.things) for line in Reading.objects.all()] == [(owner.name, [test.id])]


def test_reasons_are_those_of_a_context_for_the_author(
    guarded: AgentFile, cleared: Agent, team: Team, editor: User, owner: User
) -> None:
    restricted_memory(cleared, VAULT)
    internal_test(cleared, team, CODE, name="Room", budget=150)
    internal_test(cleared, team, RULE_TEXT)
    reasons = []
    for person in (editor, owner):
        refused = published(Api(person=person.principal), guarded).json()
        [room] = [one for one in refused["tests"] if one["name"] == "Room"]
        assert (room["broken"], "“Plain” for Ada: " in refused["detail"]) == (False, True)
        reasons.append(room["failures"][0]["reason"])
    assert reasons == ["No candidate has this text.", "Truncated: 565 of 647 characters are included."]


def test_a_test_is_judged_by_the_contexts_of_its_agent_and_told_by_those_of_the_author(
    guarded: AgentFile, cleared: Agent, team: Team, editor: User, owner: User
) -> None:
    """A restricted memory has the rule, too, so the text breaks nothing, although it seems so to an editor."""
    restricted_memory(cleared, RULE_TEXT)
    internal_test(cleared, team, RULE_TEXT, "Nobody wrote this.")
    for person, notes in ((editor, 0), (owner, 1)):
        saved = published(Api(person=person.principal), guarded, f"Ask {person.name}.")
        assert (saved.status_code, len(saved.json().get("notes", []))) == (200, notes)
        guarded.refresh_from_db()
        guarded = file_save(file=guarded, content=RULE_TEXT, expected_version=guarded.version, author=SYSTEM.author)
