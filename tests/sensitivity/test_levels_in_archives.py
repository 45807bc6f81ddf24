"""Exports name the levels of texts, and imports bring them back: they never lower one, nor go beyond who imports."""

from typing import Any

import pytest

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_delete
from assembly.models import RecallTest
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create
from memories.archive.sections import scope_of_agent, scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.models import ImportPlan, Memory
from memories.services import MemoryFacts, memory_create
from teams.models import OrganisationFile, Team, TeamFile, User
from teams.organisation.services import organisation_file_delete
from teams.principal import SYSTEM, Principal
from teams.sensitivity import Sensitivity, reading_as
from teams.services import team_delete
from teams.versioned_text.versioned_file import file_save
from tests.archives import packed, texts_in, zipped
from tests.sensitivity.restricted_things import (
    MARKER,
    SECRET_DAY,
    add_files,
    add_memories,
    add_organisation_file,
    raise_level,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def stocked(agent: Agent, team: Team) -> Agent:
    """An agent and a team with texts of several levels of every kind that archives have."""
    add_files(agent, team, MARKER)
    add_memories(agent, team, MARKER)
    add_organisation_file()
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="Sell tea.", expected_version=goals.version, author=SYSTEM.author)
    raise_level(TeamFile, goals.pk, Sensitivity.CONFIDENTIAL)
    raise_level(AgentFile, agent.files.get(file_key="IDENTITY").pk, Sensitivity.PUBLIC)
    for level in (Sensitivity.PUBLIC, Sensitivity.CONFIDENTIAL):
        facts = MemoryFacts(kind="fact", text=f"Tea is {level.word}", sensitivity=level)
        memory_create(owner=agent, facts=facts, principal=SYSTEM)
    expected = [Expectation("include", ref=f"memory:{Memory.objects.filter(sensitivity=3)[0].id}")]
    recall = RecallFacts(name=f"{MARKER} recall", topic="tea", expectations=expected)
    recall_test_create(agent=agent, team=team, facts=recall, principal=SYSTEM)
    return agent


def levels() -> dict[str, int]:
    """The level of each text, by what it is in archives."""
    found: dict[str, int] = {str(memory.id): memory.sensitivity for memory in Memory.objects.all()}
    for model in (AgentFile, TeamFile, OrganisationFile):
        found |= {f"{model.__name__} {file.file_key}": file.sensitivity for file in model.objects.all()}
    found |= {f"log {log.date}": log.sensitivity for log in DailyLog.objects.all()}
    return found | {f"test {test.name}": test.sensitivity for test in RecallTest.objects.all()}


def imported(archive: bytes, principal: Principal) -> ImportPlan:
    with reading_as(principal):
        plan = import_create(archive=archive, file_name="texts.zip", principal=principal)
        return import_begin(plan=plan, chosen=(), principal=principal)


def left(plan: ImportPlan) -> dict[str, str]:
    """What an import did not store, with the reasons."""
    return {name: reason for outcome in plan.outcome.values() for name, reason in outcome["left"]}


def test_every_level_comes_back(stocked: Agent, team: Team) -> None:
    raise_level(
        AgentFile, stocked.files.get(file_key="IDENTITY").pk, Sensitivity.INTERNAL
    )  # a new file is never public
    archive, before = zipped(scope_of_everything(SYSTEM)), levels()
    assert set(before.values()) == {0, 1, 2, 3}
    agent_delete(agent=stocked, principal=SYSTEM)
    team_delete(team=team, principal=SYSTEM)
    for file in OrganisationFile.objects.all():
        organisation_file_delete(file=file, principal=SYSTEM)
    assert not levels().keys() & before.keys()
    assert left(imported(archive, SYSTEM)) == {}
    assert levels() == before
    assert zipped(scope_of_everything(SYSTEM)) == archive


def test_an_import_lowers_nothing_and_raises_what_the_archive_says(stocked: Agent) -> None:
    archive, before = zipped(scope_of_everything(SYSTEM)), levels()
    raise_level(AgentFile, stocked.files.get(file_key="IDENTITY").pk, Sensitivity.RESTRICTED)
    memory = Memory.objects.get(text__startswith="Tea is public")
    raise_level(Memory, memory.pk)
    imported(archive, SYSTEM)
    assert levels() == before | {"AgentFile IDENTITY": 3, str(memory.pk): 3}


def test_who_lacks_the_clearance_exports_and_imports_nothing_above_it(
    stocked: Agent, team: Team, owner: User, editor: User
) -> None:
    for scope in (scope_of_agent(stocked, editor.principal),):
        with reading_as(editor.principal):
            assert MARKER.encode() not in b"".join(texts_in(zipped(scope)).values())
    with reading_as(owner.principal):
        whole = texts_in(zipped(scope_of_agent(stocked, owner.principal)))
    before, texts = levels(), {memory.id: memory.text for memory in Memory.objects.all()}
    changed: dict[str, Any] = {name: text.replace(b" tea", b" cake") for name, text in whole.items()}
    plan = imported(packed(changed), editor.principal)
    # Nothing that stands there is changed or lowered, and the plan shows none of it.
    assert {name: level for name, level in levels().items() if name in before} == before
    assert {memory.id: memory.text for memory in Memory.objects.filter(id__in=texts)} == texts
    assert "of tea" not in str(plan.steps)
    # What the archive says to be restricted is refused, not stored as something that others may read.
    assert not Memory.objects.filter(agent=stocked).exclude(id__in=texts).exists()
    assert any("you cannot make this restricted" in reason for reason in left(plan).values()), left(plan)
    log = DailyLog.objects.get(agent=stocked, date=SECRET_DAY)
    assert (log.sensitivity, "cake" in log.content) == (Sensitivity.RESTRICTED, False)
