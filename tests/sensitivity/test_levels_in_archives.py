"""Exports name the levels of texts, and imports bring them back: they never lower one, nor go beyond who imports."""

import datetime
import json
from typing import Any

import pytest

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_delete, daily_log_create
from assembly.models import RecallTest
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create
from memories.archive.sections import scope_of_agent, scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.models import ImportPlan, Memory
from memories.services import MemoryFacts, memory_create
from teams.activity.models import Activity
from teams.models import OrganisationFile, Team, TeamFile, User
from teams.organisation.services import organisation_file_create, organisation_file_delete
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
    organisation_file_create(key="open", title="Open", content="Tea.", principal=SYSTEM, sensitivity=Sensitivity.PUBLIC)
    day = datetime.date(2026, 1, 5)
    daily_log_create(agent=agent, date=day, content="Tea.", principal=SYSTEM, sensitivity=Sensitivity.PUBLIC)
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


def planned(archive: bytes, principal: Principal) -> dict[str, dict[str, Any]]:
    """The steps of the plan by name."""
    with reading_as(principal):
        plan = import_create(archive=archive, file_name="texts.zip", principal=principal)
    return {step["name"]: step for step in plan.steps}


def left(plan: ImportPlan) -> dict[str, str]:
    """What an import did not store, with the reasons."""
    return {name: reason for outcome in plan.outcome.values() for name, reason in outcome["left"]}


def test_every_level_comes_back(stocked: Agent, team: Team) -> None:
    archive, before = zipped(scope_of_everything(SYSTEM)), levels()
    assert {before["AgentFile IDENTITY"], before["OrganisationFile open"], before["log 2026-01-05"]} == {0}
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


def test_equal_texts_rise_to_the_level_of_the_archive(stocked: Agent, team: Team, owner: User) -> None:
    archive, before = zipped(scope_of_everything(SYSTEM)), levels()
    for model in (AgentFile, TeamFile, OrganisationFile, DailyLog, RecallTest):
        for row in model.everything.filter(sensitivity__gt=Sensitivity.INTERNAL):
            raise_level(model, row.pk, Sensitivity.INTERNAL)
    assert levels() != before
    texts = {file.file_key: file.content for file in TeamFile.objects.filter(team=team)}
    steps = planned(archive, SYSTEM)
    goals = steps["teams/care/GOALS.md"]
    assert (goals["state"], goals["lines"]) == ("changed", [])
    assert goals["reason"] == "It is internal here, and becomes confidential."
    assert left(imported(archive, SYSTEM)) == {}
    assert levels() == before
    assert {file.file_key: file.content for file in TeamFile.objects.filter(team=team)} == texts
    said = Activity.objects.filter(
        action="sensitivity.changed", target=f"team_file:{team.files.get(file_key='GOALS').pk}"
    )
    assert [line.detail["sensitivity"] for line in said] == ["confidential"]
    assert planned(archive, SYSTEM) == {}


def test_the_plan_says_which_texts_stay_above_the_archive(stocked: Agent, team: Team, owner: User) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    public = Memory.objects.get(text="Tea is public")
    for model, id_ in (
        (AgentFile, stocked.files.get(file_key="IDENTITY").pk),
        (OrganisationFile, OrganisationFile.objects.get(file_key="open").pk),
        (DailyLog, DailyLog.objects.get(date="2026-01-05").pk),
        (Memory, public.pk),
        (TeamFile, team.files.get(file_key="GOALS").pk),
    ):
        raise_level(model, id_, Sensitivity.RESTRICTED)
    before = levels()
    steps = planned(archive, SYSTEM)
    named = {"agents/ada/IDENTITY.md", "organisation/open.md", "agents/ada/memory/2026-01-05.md",
             f"agents/ada/MEMORY.md/{public.id}", "teams/care/GOALS.md"}  # fmt: skip
    assert steps.keys() == named
    assert {step["state"] for step in steps.values()} == {"refused"}
    assert "It stays restricted, although it is public in the archive" in steps["organisation/open.md"]["reason"]
    imported(archive, SYSTEM)
    assert levels() == before
    # Of a text that is changed in the archive, the change is stored, and the level stays.
    texts: dict[str, Any] = texts_in(archive)
    changed = packed({**texts, "organisation/open.md": "Coffee.", "agents/ada/memory/2026-01-05.md": "Coffee."})
    step = planned(changed, SYSTEM)["organisation/open.md"]
    assert step["state"] == "changed"
    assert "It stays restricted" in step["reason"]
    imported(changed, SYSTEM)
    assert OrganisationFile.objects.get(file_key="open").content == "Coffee."
    assert DailyLog.objects.get(date="2026-01-05").content == "Coffee."
    assert levels() == before


def test_texts_that_were_raised_from_internal_are_not_listed(stocked: Agent, team: Team) -> None:
    """An export does not name what is internal, and whoever raises texts does not want to hear of it each time."""
    archive = zipped(scope_of_everything(SYSTEM))
    raise_level(TeamFile, team.files.get(file_key="CONTEXT").pk, Sensitivity.CONFIDENTIAL)
    assert planned(archive, SYSTEM) == {}


def test_only_who_may_set_a_level_imports_it(stocked: Agent, team: Team, owner: User, editor: User) -> None:
    """An editor brings in nothing public and nothing restricted; an admin of the team does both."""
    archive: dict[str, Any] = {
        "agents/ada/memory/2026-02-01.md": "A public day.",
        "agents/ada/memory/2026-02-02.md": "A restricted day.",
        "agents/ada/memory/2026-02-03.md": "A confidential day.",
        "agents/ada/agent.json": json.dumps(
            {
                "sensitivity": {
                    "memory/2026-02-01.md": "public",
                    "memory/2026-02-02.md": "restricted",
                    "memory/2026-02-03.md": "confidential",
                }
            }
        ),
    }
    refused = left(imported(packed(archive), editor.principal))
    assert refused.keys() == {"agents/ada/memory/2026-02-01.md", "agents/ada/memory/2026-02-02.md"}
    assert "Only an admin of the team may lower" in refused["agents/ada/memory/2026-02-01.md"]
    assert "you cannot make this restricted" in refused["agents/ada/memory/2026-02-02.md"]
    assert levels()["log 2026-02-03"] == Sensitivity.CONFIDENTIAL
    assert left(imported(packed(archive), owner.principal)) == {}
    now = levels()
    assert [now[f"log 2026-02-0{day}"] for day in (1, 2, 3)] == [0, 3, 2]
