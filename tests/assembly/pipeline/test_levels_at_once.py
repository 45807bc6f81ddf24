"""Writers and workers that derive levels at the same time: no saved text is missed."""

from django.db import transaction

from agents.services import agent_create
from assembly.pipeline.level_derivation import noted_levels_derive
from memories.models import Job
from memories.services import MemoryFacts, memory_create
from memories.services.memory import memory_update
from teams.principal import SYSTEM
from tests.assembly.long_texts import LONG, OTHER, extracted, run_jobs, stored_levels
from tests.concurrency import at_once


def test_an_item_that_is_saved_again_meanwhile_is_taken_after_its_commit(committed_database: str) -> None:
    agent = agent_create(slug="eve", name="Eve", teams=[])
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="message", text=LONG), principal=SYSTEM)
    with transaction.atomic():
        facts = MemoryFacts(kind="message", text=OTHER)
        memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
        at_once([noted_levels_derive])
        assert not Job.objects.filter(kind="derive_levels"), "its text cannot be read yet"
    assert run_jobs() == 1
    assert stored_levels(OTHER) == extracted(OTHER)
    assert not stored_levels(LONG)


def test_workers_share_what_is_noted(committed_database: str) -> None:
    agent = agent_create(slug="eve", name="Eve", teams=[])
    texts = [f"{LONG} {number}" for number in range(30)]
    for text in texts:
        memory_create(owner=agent, facts=MemoryFacts(kind="message", text=text), principal=SYSTEM)
    at_once([noted_levels_derive] * 4)
    items = [item for job in Job.objects.filter(kind="derive_levels") for item in job.arguments["items"]]
    assert len(items) == len(set(items)) == 30
    run_jobs()
    assert all(map(stored_levels, texts))
