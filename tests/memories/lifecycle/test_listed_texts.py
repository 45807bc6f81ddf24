"""Where the store of frozen texts cannot be read, lists still show all their things; a thing itself is refused."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from agents.models import Agent
from memories.lifecycle import listed_texts, tiered_text
from memories.lifecycle.frozen_texts import FrozenTextUnreachable, thaw
from memories.lifecycle.listed_texts import is_readable, listed
from memories.lifecycle.thing_tables import EVENTS, MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Event, Memory
from memories.services import MemoryFacts, events_create, memories_create
from teams.principal import SYSTEM
from teams.sealing.fields import UNREADABLE_NOTICE
from tests.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.FROZEN_FOLDER = tmp_path
    return tmp_path


def freeze_some(agent: Agent) -> list[Memory]:
    facts = [MemoryFacts(kind="fact", text=f"Tea number {number}") for number in range(4)]
    memories = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": {"text": "Milk"}}], principal=SYSTEM)
    things_move(MEMORIES, [memory.id for memory in memories[:3]], Tier.FROZEN)
    things_move(EVENTS, [event.id], Tier.FROZEN)
    return memories


def break_store(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def test_lists_of_the_api_say_what_cannot_be_read(agent: Agent, agent_api: Api, folder: Path) -> None:
    memories = freeze_some(agent)
    wanted = {memory.text for memory in memories}
    found = agent_api.get("agents/ada/memories").json()["results"]
    assert {one["text"] for one in found} == wanted
    assert all(one["is_readable"] for one in found)
    break_store(folder)
    found = agent_api.get("agents/ada/memories").json()["results"]
    assert sorted(one["text"] for one in found) == ["Tea number 3"] + [UNREADABLE_NOTICE] * 3
    assert [one["is_readable"] for one in found].count(False) == 3
    [event] = agent_api.get("agents/ada/events").json()["results"]
    assert (event["content"], event["is_readable"]) == ({"text": UNREADABLE_NOTICE}, False)
    for path in (f"memories/{memories[0].id}", f"events/{event['id']}"):
        refused = agent_api.get(f"agents/ada/{path}")
        assert (refused.status_code, refused.json()["code"]) == (503, "frozen_text_unreachable")
    assert agent_api.get(f"agents/ada/memories/{memories[3].id}").status_code == 200


def test_a_page_reads_its_frozen_texts_at_the_same_time(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    memories = freeze_some(agent)
    together = threading.Barrier(3, timeout=10)

    def read(frozen: Any) -> str:
        together.wait()  # in vain, unless all three are being read
        return thaw(frozen)

    monkeypatch.setattr(tiered_text, "thaw", read)
    assert [one.text for one in listed(Memory.objects.order_by("id"))] == [memory.text for memory in memories]


def test_a_list_does_not_wait_for_long(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze_some(agent)
    answered = threading.Event()

    def read(frozen: Any) -> str:
        answered.wait()
        return thaw(frozen)

    monkeypatch.setattr(tiered_text, "thaw", read)
    monkeypatch.setattr(listed_texts, "LIST_SECONDS", 0.05)
    try:
        assert [is_readable(one.text) for one in listed(Memory.objects.order_by("id"))] == [False] * 3 + [True]
    finally:
        answered.set()


def test_a_notice_is_never_saved(agent: Agent, folder: Path) -> None:
    memories = freeze_some(agent)
    (stored,) = folder.iterdir()
    text = stored.read_bytes()
    break_store(folder)
    rows: list[Memory | Event] = [*listed(Memory.objects.filter(id=memories[0].id)), *listed(Event.objects.all())]
    assert len(rows) == 2
    for row in rows:
        with pytest.raises(FrozenTextUnreachable), transaction.atomic():
            row.save()
    stored.write_bytes(text)
    assert (Memory.objects.get(id=memories[0].id).text, Event.objects.get().content) == (
        memories[0].text,
        {"text": "Milk"},
    )
