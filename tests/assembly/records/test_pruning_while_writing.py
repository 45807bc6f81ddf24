"""Records are written while what they are made of is pruned: each of them replays, and no piece is left behind."""

from functools import partial

import pytest

from agents.models import Agent
from assembly.models import Assembly, Piece, UnusedPiece
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.insert_sql import stored_pieces
from assembly.records.pruning import unused_prune
from assembly.records.reader import load_record, replay
from assembly.records.seal_verification import VerificationCounts, text_findings
from teams.principal import SYSTEM
from tests.assembly.records.conftest import Ago, AsOwner, as_owner
from tests.concurrency import at_once

__all__ = ["as_owner"]
ROUNDS = 8


@pytest.mark.usefixtures("committed_database")
def test_no_record_loses_what_it_is_made_of(agent: Agent, ago: Ago, as_owner: AsOwner) -> None:
    for turn in range(ROUNDS):
        first = ago(agent, 40, topic=f"before {turn}")
        UnusedPiece.objects.bulk_create([UnusedPiece(piece=one) for one in first.told], ignore_conflicts=True)
        as_owner("assemblies", "DELETE FROM assemblies")  # whatever holds the pieces goes; writers still know them
        at_once([partial(_made, agent, f"{turn}"), unused_prune, unused_prune, partial(_made, agent, "x")])
        for assembly in Assembly.objects.all():
            assert replay(load_record(assembly)).identical
        assert list(text_findings(VerificationCounts())) == []
    assert len(stored_pieces.among(Piece.objects.values_list("id", flat=True))) == Piece.objects.count()


def _made(agent: Agent, topic: str) -> None:
    assemble(agent=agent, asked=AssemblyRequest(topic=topic), principal=SYSTEM)
