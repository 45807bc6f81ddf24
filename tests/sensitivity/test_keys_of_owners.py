"""The key of a deleted agent or team is destroyed once nothing is sealed under it."""

from datetime import timedelta
from unittest import mock
from uuid import UUID, uuid4

import pytest
from django.db import ProgrammingError, transaction
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_delete
from assembly.models import Alert, Assembly, Proposal, RecallResult, RecallTest, UnusedKey
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.followers import new_assemblies_follow
from assembly.records.pruning import records_prune
from assembly.records.unused_keys import RETIREMENT, unused_keys_destroy
from config.db.statements import fetch_rows
from config.keys import store
from config.keys.sealed_texts import LIVE, records_owner
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sealing.owners import owners_in_use
from teams.sensitivity import Sensitivity
from teams.services import team_delete
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.records.conftest import keep

pytestmark = pytest.mark.django_db


def a_memory(owner: Agent | Team, text: str = "The vault opens with 4711.") -> Memory:
    facts = MemoryFacts(kind="fact", text=text, sensitivity=Sensitivity.RESTRICTED)
    return memory_create(owner=owner, facts=facts, principal=SYSTEM)


def destroyed(*owners: UUID) -> set[UUID]:
    """Those of the owners whose keys are gone."""
    gone = store.is_destroyed([LIVE + owner.bytes for owner in owners])
    return {owner for owner in owners if LIVE + owner.bytes in gone}


def run_job_twice() -> None:
    """Let the job retire what is listed, and destroy it later."""
    now = timezone.now()
    unused_keys_destroy(now)
    unused_keys_destroy(now + RETIREMENT)
    store.forget_keys()


def test_the_keys_of_what_was_deleted_are_destroyed_and_those_of_others_are_not(agent: Agent, team: Team) -> None:
    other, ours = Agent.objects.create(slug="other", name="Other"), Team.objects.create(slug="ours", name="Ours")
    spared = a_memory(other)
    for owner in (agent, team, ours):
        a_memory(owner)
    agent_delete(agent=agent, principal=SYSTEM)
    team_delete(team=ours, principal=SYSTEM)
    assert destroyed(agent.id, ours.id) == set()
    run_job_twice()
    assert destroyed(agent.id, ours.id, other.id, team.id) == {agent.id, ours.id}
    assert Memory.objects.get(id=spared.id).text == spared.text
    assert not UnusedKey.objects.exists()


def test_a_key_stays_while_anything_is_sealed_under_it(agent: Agent, team: Team) -> None:
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.CONFIDENTIAL)
    agent.refresh_from_db()
    mine, ours = a_memory(agent), a_memory(team, "The vault opens with 4712.")
    conflict_between(mine, ours)
    asked = AssemblyRequest(topic="Which vault?", sensitivity=Sensitivity.CONFIDENTIAL)
    long_ago = timezone.now() - timedelta(days=40)
    with mock.patch("assembly.records.record.timezone.now", return_value=long_ago):
        record = assemble(agent=agent, asked=asked, principal=SYSTEM).assembly
    new_assemblies_follow()
    agent_id, of_records = agent.id, records_owner(agent.id)
    assert owners_in_use([agent.id, team.id, of_records]) == {agent.id, team.id, of_records}
    agent_delete(agent=agent, principal=SYSTEM)
    run_job_twice()
    assert destroyed(agent.id, of_records, team.id) == {agent.id}
    assert Assembly.objects.get(id=record.id).topic == "Which vault?"
    keep(30)
    records_prune()
    assert not Assembly.objects.exists()
    assert owners_in_use([of_records]) == {of_records}, "the alert of the conflict is sealed under it, too"
    unused_keys_destroy(timezone.now() + 2 * RETIREMENT)
    assert destroyed(agent.id, of_records, team.id) == {agent.id, of_records}
    assert not Alert.everything.filter(agent_id=agent_id).exists()


def test_what_was_derived_from_contexts_of_a_deleted_agent_goes_with_the_last_of_them(agent: Agent, team: Team) -> None:
    other = Agent.objects.create(slug="other", name="Other")
    test = RecallTest.objects.create(team=team, name="Vaults", topic="vaults", expectations=[])
    for one in (agent, other):
        sealed, plain = (
            {"agent_id": one.id, "agent_slug": one.slug, "agent_name": one.name, "sensitivity": level}
            for level in (Sensitivity.RESTRICTED, Sensitivity.INTERNAL)
        )
        for number, facts in enumerate((sealed, plain)):
            Alert.objects.create(
                **facts, profile_name="default", kind="file_cut", thing=f"memory:{number}", cause="1",
                name="The vault opens with 4711.", opened=timezone.now(),
            )  # fmt: skip
            Proposal.objects.create(
                **facts, assembly_id=uuid4(), wishes={"note": "4711"}, basis="record", tokens_before=1, tokens_after=1,
                came_in=0, went=0, proposed_by="system",
            )  # fmt: skip
            RecallResult.objects.create(
                **facts, test_id=test.id, test_version=1, trigger="person", passed=False, profile_name="default",
                profile_version=1, tokens=1, outcomes=[{"passed": False, "reason": "4711"}], requested_by="system",
            )  # fmt: skip
    agent_id, keys = agent.id, [records_owner(agent.id), records_owner(other.id)]
    with pytest.raises(ProgrammingError), transaction.atomic():
        fetch_rows("SELECT prune_sealed_results(%s)", [other.id])
    agent_delete(agent=agent, principal=SYSTEM)
    run_job_twice()
    assert destroyed(*keys) == {keys[0]}
    for model in (Alert, Proposal, RecallResult):
        left = model.everything.values_list("agent_id", "sensitivity")
        assert sorted(left) == sorted([(agent_id, 1), (other.id, 1), (other.id, 3)]), model
