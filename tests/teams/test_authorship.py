"""An agent's key leaves alone what people wrote in a team, unless the team allows it."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.authentication import principal_of_key
from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.rules.services import rule_create
from config.http.errors import Forbidden
from memories.archive.memory_import import memory_import
from memories.models import Memory
from memories.services import (
    MemoryFacts,
    MergeRequest,
    facts_of,
    memories_merge,
    memories_unmerge,
    memory_create,
    memory_update,
)
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import team_update
from tests.client import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.finding("4c")]

RULE = "then: {exclude: [{source: daily_logs}]}\n"
CHANGES: list[tuple[str, dict[str, Any] | None]] = [
    ("PATCH", {"text": "Forged."}),
    ("PATCH", {"pinned": True}),
    ("PATCH", {"archived": True, "archive_reason": "Wrong."}),
    ("PATCH", {"superseded_by": "other"}),
    ("PATCH", {"salience": 0.0}),
    ("DELETE", None),
]


@pytest.fixture
def key(agent: Agent) -> Principal:
    """The agent's key as a principal, which may write files, too."""
    principal = principal_of_key(api_key_create(agent=agent, scopes=ApiKey.Scope.values)[1])
    assert principal
    return principal


def written_by(principal: Principal, team: Team, text: str = "Doors open at nine.") -> Memory:
    return memory_create(owner=team, facts=MemoryFacts(kind="fact", text=text), principal=principal)


def allow(team: Team) -> None:
    team.refresh_from_db()
    team_update(team=team, expected_version=team.version, name=team.name, agents_may_change_texts=True)


def changed(memory: Memory, principal: Principal, **changes: Any) -> Memory:
    return memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=facts_of(memory),
        superseded_by=None,
        principal=principal,
        **changes,
    )


@pytest.mark.parametrize(("method", "body"), CHANGES)
def test_a_key_changes_no_memory_that_a_person_wrote(
    method: str, body: dict[str, Any] | None, team: Team, editor: User, agent_api: Api
) -> None:
    memory, other = written_by(editor.principal, team), written_by(SYSTEM, team, "Imported.")
    sent = {**body, "superseded_by": str(other.id)} if body and "superseded_by" in body else body
    for one in (memory, other):
        if sent and sent.get("superseded_by") == str(one.id):
            continue
        answer = agent_api.send(method, f"teams/care/memories/{one.id}", sent, if_match='"1"')
        assert problem(answer) == (403, "forbidden")
        assert "Ask an admin of the team" in answer.json()["detail"]
        one.refresh_from_db()
        assert one.version == 1
    allow(team)
    answer = agent_api.send(method, f"teams/care/memories/{memory.id}", sent, if_match='"1"')
    assert answer.status_code in {200, 204}


@pytest.mark.parametrize(("method", "body"), CHANGES)
def test_a_key_changes_what_keys_wrote(method: str, body: dict[str, Any] | None, team: Team, agent_api: Api) -> None:
    made, other = (agent_api.post("teams/care/memories", {"kind": "fact", "text": text}).json() for text in ("A", "B"))
    sent = {**body, "superseded_by": other["id"]} if body and "superseded_by" in body else body
    answer = agent_api.send(method, f"teams/care/memories/{made['id']}", sent, if_match='"1"')
    assert answer.status_code in {200, 204}


def test_what_a_person_touched_counts_as_written_by_people(team: Team, editor: User, key: Principal) -> None:
    memory = changed(written_by(key, team), editor.principal, pinned=True)
    with pytest.raises(Forbidden):
        changed(memory, key, pinned=False)
    allow(team)
    memory = changed(memory, key, pinned=False)
    Team.objects.filter(pk=team.pk).update(agents_may_change_texts=False)
    with pytest.raises(Forbidden):
        changed(memory, key, pinned=True)
    assert changed(memory, editor.principal, pinned=True).pinned


def test_a_key_neither_merges_what_people_wrote_nor_undoes_it(
    team: Team, editor: User, key: Principal, agent_api: Api
) -> None:
    theirs, own, other = written_by(editor.principal, team), written_by(key, team, "A"), written_by(key, team, "B")
    for keep in (theirs, own):
        merging = MergeRequest(keep.id, {theirs.id: 1, own.id: 1})
        with pytest.raises(Forbidden):
            memories_merge(owner=team, merging=merging, principal=key)
    body = {"keep": str(own.id), "memories": [{"id": str(one.id), "version": 1} for one in (theirs, own)]}
    assert problem(agent_api.post("teams/care/memories/merge", body)) == (403, "forbidden")
    assert not Memory.objects.filter(version__gt=1).exists()
    merged = memories_merge(owner=team, merging=MergeRequest(own.id, {own.id: 1, other.id: 1}), principal=key)
    assert memories_unmerge(memory=merged, expected_version=2, principal=key).version == 3
    again = memories_merge(
        owner=team, merging=MergeRequest(own.id, {own.id: 3, other.id: 3}), principal=editor.principal
    )
    with pytest.raises(Forbidden):
        memories_unmerge(memory=again, expected_version=4, principal=key)


def test_an_import_with_a_key_changes_nothing_of_people(team: Team, editor: User, key: Principal) -> None:
    from memories.archive.digests import ImportState
    from memories.archive.sections import ImportChange

    memory = written_by(editor.principal, team)
    values = {"kind": "fact", "text": "Forged."}
    change = ImportChange(name="x", what="memory", state=ImportState.CHANGED, version=1, item=(memory.id, values, None))
    with pytest.raises(Forbidden):
        memory_import(change=change, principal=key, note="")
    memory_import(change=change, principal=editor.principal, note="")
    memory.refresh_from_db()
    assert memory.text == "Forged."


def test_a_key_with_the_scope_changes_no_file_and_no_rule_of_people(
    team: Team, agent: Agent, editor: User, as_person: Callable[[User], Api]
) -> None:
    api = Api(api_key_create(agent=agent, scopes=ApiKey.Scope.values)[1])
    assert api.put("teams/care/files/GOALS", {"content": "By the agent."}, if_match='"1"').status_code == 200
    assert api.put("teams/care/files/GOALS", {"content": "Again."}, if_match='"2"').status_code == 200
    assert as_person(editor).put("teams/care/files/GOALS", {"content": "Ours."}, if_match='"3"').status_code == 200
    assert problem(api.put("teams/care/files/GOALS", {"content": "x"}, if_match='"4"')) == (403, "forbidden")
    rule_create(name="ours", content=RULE, owner=team, principal=editor.principal)
    assert problem(api.put("rules/ours", {"content": f"{RULE}\n"}, if_match='"1"')) == (403, "forbidden")
    assert problem(api.delete("rules/ours", if_match='"1"')) == (403, "forbidden")
    allow(team)
    assert api.put("teams/care/files/GOALS", {"content": "x"}, if_match='"4"').status_code == 200
    assert api.delete("rules/ours", if_match='"1"').status_code == 204


def test_agents_own_memories_are_theirs(agent: Agent, editor: User, agent_api: Api) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="x"), principal=editor.principal)
    assert agent_api.patch(f"agents/ada/memories/{memory.id}", {"text": "y"}, if_match='"1"').status_code == 200


def test_admins_of_the_team_allow_it(
    team: Team, owner: User, editor: User, agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    assert agent_api.get("teams/care").json()["agents_may_change_texts"] is False
    body = {"agents_may_change_texts": True}
    for api in (as_person(editor), agent_api):
        assert problem(api.patch("teams/care", body, if_match='"1"')) == (403, "forbidden")
    answer = as_person(owner).patch("teams/care", body, if_match='"1"')
    assert (answer.json()["agents_may_change_texts"], answer.json()["version"], answer.json()["name"]) == (
        True, 2, team.name,
    )  # fmt: skip
    assert as_person(owner).patch("teams/care", {"agents_may_change_texts": 1}, if_match='"2"').status_code == 422
    assert as_person(owner).patch("teams/care", {"name": "Care"}, if_match='"2"').json()["agents_may_change_texts"]
