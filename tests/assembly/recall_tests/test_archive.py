"""Recall tests in archives: they come back as they were, in another installation, too, and only to who may write."""

import json

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_delete
from assembly.models import RecallTest
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import (
    RecallFacts,
    recall_test_archive,
    recall_test_create,
    recall_test_delete,
    recall_test_run,
    recall_test_save,
)
from memories.archive.sections import scope_of_agent, scope_of_everything, scope_of_team
from memories.archive.services import import_begin, import_create
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.sensitivity import Sensitivity
from teams.services import erase
from tests.archives import packed, texts_in, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(agent: Agent, team: Team, memory: Memory) -> list[RecallTest]:
    """A test of the team that names a file and a text, and an archived one of the agent that names a memory."""
    goals = team.files.get(file_key="GOALS")
    of_team = RecallFacts(
        name="Goals",
        topic="What do we want?",
        budget=2_000,
        expectations=[Expectation("include", ref=f"team_file:{goals.id}"), Expectation("exclude", text="guess")],
    )
    of_agent = RecallFacts(name="Couriers", expectations=[Expectation("include", ref=f"memory:{memory.id}")])
    tests = [
        recall_test_create(agent=None, team=team, facts=of_team, principal=SYSTEM),
        recall_test_create(agent=agent, team=None, facts=of_agent, principal=SYSTEM),
    ]
    recall_test_archive(test=tests[1], archived=True, principal=SYSTEM)
    return tests


def shown(archive: bytes, principal: Principal = SYSTEM) -> dict[str, str]:
    plan = import_create(archive=archive, file_name="all.zip", principal=principal)
    return {step["name"]: step["state"] for step in plan.steps if step["unit"] == "recall-tests"}


def done(archive: bytes, principal: Principal = SYSTEM) -> list[list[str]]:
    plan = import_create(archive=archive, file_name="all.zip", principal=principal)
    finished = import_begin(plan=plan, chosen=(), principal=principal)
    return [left for outcome in finished.outcome.values() for left in outcome["left"]]


def names_in(archive: bytes) -> set[str]:
    return {name for name in texts_in(archive) if name.startswith("recall-tests/")} - {"recall-tests/recall-tests.json"}


def test_they_come_back_as_they_were(kept: list[RecallTest]) -> None:
    facts = RecallFacts(name="Vault", topic="Which vault?", expectations=[Expectation("include", text="vault")])
    level = Sensitivity.CONFIDENTIAL
    secret = recall_test_save(test=kept[0], facts=facts, expected_version=1, principal=SYSTEM, sensitivity=level)
    archive = zipped(scope_of_everything(SYSTEM))
    assert shown(archive) == {}
    for test in kept:
        recall_test_delete(test=test, principal=SYSTEM)
    assert set(shown(archive).values()) == {"new"}
    assert done(archive) == []
    assert zipped(scope_of_everything(SYSTEM)) == archive
    assert {test.id for test in RecallTest.objects.all()} == {test.id for test in kept}
    assert RecallTest.objects.get(name="Couriers").archived is not None
    assert RecallTest.objects.get(id=secret.id).sensitivity == level
    assert json.loads(texts_in(archive)[f"recall-tests/{secret.id}.json"])["sensitivity"] == "confidential"


def test_they_come_with_their_owners_to_another_installation(kept: list[RecallTest], agent: Agent, team: Team) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    agent_delete(agent=agent, principal=SYSTEM)
    erase("teams", team.id, SYSTEM)
    assert not RecallTest.objects.exists()
    assert done(archive) == []
    goals = RecallTest.objects.get(name="Goals")
    assert goals.team is not None
    file = goals.team.files.get(file_key="GOALS")
    assert [one["ref"] for one in goals.expectations] == [f"team_file:{file.id}", ""]
    assert recall_test_run(test=goals, principal=SYSTEM).report.outcomes
    assert zipped(scope_of_everything(SYSTEM)) == archive


def test_each_export_has_the_tests_of_its_owners(kept: list[RecallTest], agent: Agent, team: Team) -> None:
    of_team, of_agent = (f"recall-tests/{test.id}.json" for test in kept)
    assert names_in(zipped(scope_of_team(team, SYSTEM))) == {of_team}
    assert names_in(zipped(scope_of_agent(agent, SYSTEM))) == {of_agent}
    document = json.loads(texts_in(zipped(scope_of_team(team, SYSTEM)))[of_team])
    assert document["expectations"] == [
        {"kind": "include", "ref": f"teams/{team.slug}/GOALS.md"},
        {"kind": "exclude", "text": "guess"},
    ]


def test_what_was_changed_here_stays(kept: list[RecallTest]) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    facts = RecallFacts(name="Renamed", expectations=[Expectation("include", text="tea")])
    recall_test_save(test=kept[0], facts=facts, expected_version=1, principal=SYSTEM)
    assert set(shown(archive).values()) == {"newer"}
    assert done(archive) == []
    assert RecallTest.objects.get(id=kept[0].id).name == "Renamed"


def test_only_who_may_write_there_imports_them(
    kept: list[RecallTest], team: Team, editor: User, teammate: User, outsider: User
) -> None:
    archive = zipped(scope_of_team(team, SYSTEM))
    recall_test_delete(test=kept[0], principal=SYSTEM)
    assert set(shown(archive, editor.principal).values()) == {"new"}
    assert set(shown(archive, teammate.principal).values()) == {"refused"}
    assert set(shown(archive, outsider.principal).values()) == {"refused"}
    assert done(archive, editor.principal) == []
    assert RecallTest.objects.filter(id=kept[0].id).exists()


def test_an_agents_key_changes_no_test_of_people_by_an_import(kept: list[RecallTest], agent: Agent, team: Team) -> None:
    RecallTest.objects.update(version=2)
    archive = zipped(scope_of_everything(SYSTEM))
    RecallTest.objects.update(version=1, name="Older")
    by_people = shown(archive)
    row, _key = api_key_create(agent=agent, name="key", scopes=["read", "write", "files:write", "team-files:write"])
    key = Principal(
        kind="agent_key", id=row.id, agent_id=agent.id, team_ids=frozenset({team.id}), scopes=frozenset(row.scopes)
    )
    assert "refused" not in by_people.values()
    assert set(shown(archive, key).values()) == {"refused"}
    assert done(archive, key) == []
    assert {test.name for test in RecallTest.objects.all()} == {"Older"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one", "{}"),
        ("0195f3a2-7c7e-7000-8000-000000000001", "["),
        ("0195f3a2-7c7e-7000-8000-000000000001", "[" * 40_000),
        ("0195f3a2-7c7e-7000-8000-000000000001", "[]"),
        ("0195f3a2-7c7e-7000-8000-000000000001", '{"team": "care", "name": "x"}'),
        ("0195f3a2-7c7e-7000-8000-000000000001",
         '{"team": "gone", "name": "x", "expectations": [{"kind": "include", "text": "x"}]}'),
        ("0195f3a2-7c7e-7000-8000-000000000001",
         '{"team": "care", "name": "\\u0000", "expectations": [{"kind": "include", "text": "x"}]}'),
    ],
)  # fmt: skip
def test_what_is_no_test_is_refused(kept: list[RecallTest], name: str, text: str) -> None:
    assert shown(packed({f"recall-tests/{name}.json": text})) == {f"recall-tests/{name}.json": "refused"}


def test_an_item_that_is_not_here_is_named(kept: list[RecallTest], team: Team) -> None:
    [(name, text)] = [
        (name, text.decode()) for name, text in texts_in(zipped(scope_of_team(team, SYSTEM))).items()
        if name == f"recall-tests/{kept[0].id}.json"
    ]  # fmt: skip
    recall_test_delete(test=kept[0], principal=SYSTEM)
    [[_name, reason]] = done(packed({name: text.replace("GOALS.md", "PLANS.md")}))
    assert f"There is no item “teams/{team.slug}/PLANS.md” here." in reason


def test_the_test_of_another_team_is_not_taken_over(kept: list[RecallTest], agent: Agent) -> None:
    document = {"agent": agent.slug, "name": "x", "expectations": [{"kind": "include", "text": "x"}]}
    name = f"recall-tests/{kept[0].id}.json"
    assert shown(packed({name: json.dumps(document)})) == {name: "refused"}
