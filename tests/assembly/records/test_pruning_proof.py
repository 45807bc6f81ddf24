"""What was pruned stays provable as pruned, and nothing else passes for it."""

from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Assembly, Seal
from assembly.records.pruning import records_prune
from assembly.records.seal_verification import VerificationCounts, verify_records
from tests.assembly.records.conftest import Ago, AsOwner, as_owner, keep, kinds

__all__ = ["as_owner"]
pytestmark = pytest.mark.usefixtures("committed_database")


def test_what_was_pruned_stays_provable_and_nothing_else_passes_for_it(
    agent: Agent, ago: Ago, as_owner: AsOwner
) -> None:
    old, young = ago(agent, 40), ago(agent, 20)
    keep(30)
    records_prune()
    tally = VerificationCounts()
    assert list(verify_records(tally)) == []
    assert (tally.records, tally.pruned) == (1, 1)
    _forge_line(as_owner, young)
    assert kinds() == ["record_missing", "pruning_forged"]
    as_owner("prunings", "UPDATE prunings SET days = 1 WHERE assemblies = %s", [[old.id]])
    assert kinds() == ["record_missing", "record_missing", "pruning_altered", "pruning_forged"]
    as_owner("prunings", "DELETE FROM prunings WHERE assemblies = %s", [[old.id]])
    assert kinds() == ["record_missing", "record_missing", "pruning_missing", "pruning_forged"]


def _forge_line(as_owner: AsOwner, record: Assembly) -> None:
    """The owner deletes a record, and writes a line as if it had been pruned."""
    facts: dict[str, Any] = {"ids": [record.id], "hashes": bytes(Seal.objects.get(number=2).hashes)}
    as_owner("assemblies", "DELETE FROM assemblies WHERE id = %s", [record.id])
    as_owner(
        "prunings",
        "INSERT INTO prunings SELECT gen_random_uuid(), now(), NULL, 30, true, 'system', %(ids)s, %(hashes)s",
        facts,
    )
