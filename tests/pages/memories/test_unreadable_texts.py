"""Pages with lists show what cannot be read now as such, and everything else."""

from pathlib import Path
from typing import Any

from agents.models import Agent
from memories.lifecycle.thing_tables import EVENTS, MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.services import MemoryFacts, events_create, memories_create
from teams.models import User
from teams.principal import SYSTEM
from teams.sealing.fields import UNREADABLE_NOTICE
from tests.pages.conftest import SignedIn


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
