"""Each merge into a memory can be undone, the last one first."""

import pytest

from agents.models import Agent
from config.http.errors import Conflict
from memories.models import Memory
from memories.services import MemoryFacts, MergeRequest, last_merge, memories_merge, memories_unmerge, memory_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db


def created(agent: Agent, text: str) -> Memory:
    return memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)


def merged(agent: Agent, kept: Memory, other: Memory, text: str) -> Memory:
    merging = MergeRequest(kept.id, {kept.id: kept.version, other.id: other.version}, text)
    return memories_merge(owner=agent, merging=merging, principal=SYSTEM)


def separated(memory: Memory, other: Memory | None = None) -> Memory:
    return memories_unmerge(
        memory=memory, expected_version=memory.version, other=other.id if other else None, principal=SYSTEM
    )


def test_merges_are_undone_one_after_the_other(agent: Agent) -> None:
    kept, first, second = (created(agent, text) for text in ("Tea.", "Tea at four.", "Tea on Sundays."))
    kept = merged(agent, kept, first, "Tea at four.")
    kept = merged(agent, kept, second, "Tea at four on Sundays.")
    kept = separated(kept)
    assert (kept.text, Memory.objects.get(superseded_by=kept)) == ("Tea at four.", first)
    merge = last_merge(kept)
    assert merge
    assert merge.merged == [first.id]
    kept = separated(kept)
    assert kept.text == "Tea."
    assert not Memory.objects.exclude(superseded_by=None).exists()
    assert last_merge(kept) is None
    with pytest.raises(Conflict):
        separated(kept)


def test_an_earlier_merge_is_undone_and_the_later_one_stays(agent: Agent) -> None:
    kept, first, second = (created(agent, text) for text in ("Tea.", "Tea at four.", "Tea on Sundays."))
    kept = merged(agent, kept, first, "Tea at four.")
    kept = separated(merged(agent, kept, second, "Tea at four."), first)
    assert (kept.text, Memory.objects.get(superseded_by=kept)) == ("Tea at four.", second)
    with pytest.raises(Conflict):
        separated(kept, first)
