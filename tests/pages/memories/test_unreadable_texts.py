"""Pages with lists show what cannot be read now as such, and everything else."""

from pathlib import Path
from typing import Any

from agents.models import Agent
from memories.lifecycle.thing_tables import EVENTS, MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Memory
from memories.services import MemoryFacts, events_create, memories_create
from teams.models import User
from teams.principal import SYSTEM
from teams.sealing.fields import UNREADABLE_NOTICE
from tests.pages.conftest import SignedIn


def frozen_without_a_store(agent: Agent, folder: Path) -> list[Memory]:
    """Three memories, two of which cannot be read."""
    facts = [MemoryFacts(kind="fact", text=f"Tea number {number}") for number in range(3)]
    memories = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    things_move(MEMORIES, [memory.id for memory in memories[:2]], Tier.FROZEN)
    for file in folder.iterdir():
        file.unlink()
    return memories


def test_merging_shows_the_rest_and_merges_nothing_that_cannot_be_read(
    agent: Agent, owner: User, signed_in: SignedIn, settings: Any, tmp_path: Path
) -> None:
    settings.FROZEN_FOLDER = tmp_path
    memories = frozen_without_a_store(agent, tmp_path)
    client = signed_in(owner)
    page = client.get("/agents/luna/memories/merge/")
    assert (page.status_code, page.content.decode().count(UNREADABLE_NOTICE)) == (200, 2)
    assert "Tea number 2" in page.content.decode()
    address = "/agents/luna/memories/merge/?" + "&".join(f"memory={one.id}" for one in memories)
    page = client.get(address)
    assert (page.status_code, "2 of these texts cannot be read now" in page.content.decode()) == (200, True)
    seen = " ".join(f"{one.id}@1" for one in memories)
    refused = client.post(address, {"keep": str(memories[2].id), "text": "All", "seen": seen})
    assert (refused.status_code, "Nothing was merged" in refused.content.decode()) == (422, True)
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_exports_say_how_many_texts_are_missing_and_have_no_holes(
    agent: Agent, owner: User, signed_in: SignedIn, settings: Any, tmp_path: Path
) -> None:
    settings.FROZEN_FOLDER = tmp_path
    memories = frozen_without_a_store(agent, tmp_path)
    client = signed_in(owner)
    archive = client.get("/agents/luna/export/download/")
    assert (archive.status_code, "2 of 2 archived memories cannot be read now" in archive.content.decode()) == (
        503,
        True,
    )
    picks = [f"{one.id}:1" for one in memories]
    answer = client.post("/agents/luna/memories/selected/", {"action": "export", "pick": picks}, follow=True)
    assert "Nothing was exported: the texts of 2 of the selected memories" in answer.content.decode()
    answer = client.post("/agents/luna/memories/selected/", {"action": "pin", "pick": picks}, follow=True)
    assert "The texts of 2 memories cannot be read now" in answer.content.decode()
    assert "Pinned: 1." in answer.content.decode()
    assert list(Memory.objects.filter(pinned=True)) == [memories[2]]


def test_lists_are_shown_without_the_store_of_frozen_texts(
    agent: Agent, owner: User, signed_in: SignedIn, settings: Any, tmp_path: Path
) -> None:
    settings.FROZEN_FOLDER = tmp_path
    facts = [MemoryFacts(kind="fact", text=f"Tea number {number}") for number in range(3)]
    memories = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": {"text": "Milk"}}], principal=SYSTEM)
    things_move(MEMORIES, [memory.id for memory in memories[:2]], Tier.FROZEN)
    things_move(EVENTS, [event.id], Tier.FROZEN)
    for file in tmp_path.iterdir():
        file.unlink()
    client = signed_in(owner)
    for page, notices in (("", 2), ("memories/", 2), ("events/", 1)):
        response = client.get(f"/agents/luna/{page}")
        shown = response.content.decode()
        assert (response.status_code, shown.count(f">{UNREADABLE_NOTICE}<")) == (200, notices), page
        assert ("Tea number 2" in shown, shown.count("unreadable now")) == (notices == 2, 2 * (notices == 2))
    assert client.get(f"/memories/{memories[0].id}/").status_code == 503
    assert client.get(f"/memories/{memories[2].id}/").status_code == 200
