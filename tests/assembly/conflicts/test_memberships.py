"""An agent that joins a team is compared with it; its conflicts with a team that it left wait for nobody."""

from collections.abc import Sequence

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_update
from assembly.conflicts.counts import conflicts_to_decide
from assembly.conflicts.find import count_open_conflicts
from assembly.conflicts.presentation import conflict_views
from assembly.conflicts.services import OutdatedConflict, conflict_resolve
from assembly.models import Alert, AlertKind, Conflict, UncomparedItem
from memories.models import Document, Entity, Memory
from memories.services import agent_items_create, facts_of, memory_update
from memories.services.document import documents_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember, run_jobs
from tests.assembly.monitoring.alerts.test_conflict_alerts import met

pytestmark = pytest.mark.django_db


def put_in(agent: Agent, teams: Sequence[Team]) -> None:
    agent.refresh_from_db()
    agent_update(
        agent=agent,
        expected_version=agent.version,
        name=agent.name,
        timezone=agent.timezone,
        teams=teams,
        principal=SYSTEM,
    )


def test_an_agent_that_joins_a_team_is_compared_with_its_texts(team: Team) -> None:
    solo = agent_create(slug="solo", name="Solo")
    remember(solo, EIGHTY)
    remember(team, NINETY)
    run_jobs()
    assert not Conflict.objects.exists()
    put_in(solo, [team])
    run_jobs()
    conflict = Conflict.objects.waiting().get()
    assert (conflict.agent, conflict.team) == (solo, team)


def test_all_texts_of_the_agent_that_contexts_may_include_are_noted_once(agent: Agent) -> None:
    documents_create(agent=agent, facts=[{"path": "hours.md", "content": EIGHTY}], principal=SYSTEM)
    agent_items_create(model=Entity, agent=agent, facts=[{"type": "desk", "name": "Support"}], principal=SYSTEM)
    memory, archived = remember(agent, EIGHTY), remember(agent, "Tea is served at noon.")
    memory_update(
        memory=archived,
        expected_version=1,
        facts=facts_of(archived),
        superseded_by=None,
        retired_because="old",
        principal=SYSTEM,
    )
    UncomparedItem.objects.all().delete()
    put_in(agent, [*agent.teams.all(), team_create(slug="second", name="Second")])
    files = {(file.id, "agent_file") for file in agent.files.all()}
    noted = {
        *UncomparedItem.objects.filter(kind__in=["memory", "agent_file", "document", "entity"]).values_list(
            "item", "kind"
        )
    }
    assert noted - files == {
        (Memory.objects.get(id=memory.id).id, "memory"),
        (Document.objects.get().id, "document"),
        (Entity.objects.get().id, "entity"),
    }
    assert files <= noted
    UncomparedItem.objects.all().delete()
    put_in(agent, [*agent.teams.all()])
    put_in(agent, [])
    assert not UncomparedItem.objects.exists()


def test_a_conflict_with_a_team_that_the_agent_left_waits_for_nobody(
    agent: Agent, team: Team, editor: User, admin: User
) -> None:
    conflict = found_conflict(agent, team)
    met(agent, team)
    assert count_open_conflicts() == conflicts_to_decide(editor.principal).count() == 1
    put_in(agent, [])
    assert not Conflict.objects.waiting().exists()
    assert count_open_conflicts() == conflicts_to_decide(admin.principal).count() == 0
    assert Alert.objects.get(kind=AlertKind.CONFLICT_OPEN).closed is not None
    with pytest.raises(OutdatedConflict, match="no longer works in the team"):
        conflict_resolve(conflict=conflict, choice="left", principal=admin.principal)
    [view] = conflict_views(admin.principal, [conflict])
    assert "no longer works in the team" in view.why_not_waiting
    assert not view.may_decide
    put_in(agent, [team])
    assert Conflict.objects.waiting().get() == conflict
    run_jobs()
    assert Conflict.objects.waiting().get() == conflict


def test_a_decision_holds_when_the_agent_comes_back(agent: Agent, team: Team, editor: User) -> None:
    conflict_resolve(conflict=found_conflict(agent, team), choice="both", principal=editor.principal)
    put_in(agent, [])
    run_jobs()
    put_in(agent, [team])
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.status, conflict.resolution) == ("resolved", "both")
