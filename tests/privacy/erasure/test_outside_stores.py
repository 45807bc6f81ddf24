"""An erasure reaches what is outside of the tables: an object store, a shared cache on Redis, and stored summaries."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from agents.models import Agent
from assembly.models import StoredProfile, StoredSummary, StoredText
from assembly.models.encryption import read_texts
from assembly.pipeline import shared_answers
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.caching.background_writes import background_writes
from config.caching.redis_store import PREFIX
from config.db.statements import fetch_rows
from memories.lifecycle.frozen_texts import thaw
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Event, Session
from memories.services import MemoryFacts, memory_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.conftest import NOW
from tests.assembly.pipeline.summaries.conftest import ServerOf, server_of  # noqa: F401 - a fixture
from tests.assembly.pipeline.summaries.summary_factories import saying
from tests.assembly.pipeline.summaries.test_in_contexts import PROFILE
from tests.memories.lifecycle.test_frozen_texts import store  # noqa: F401 - a fixture
from tests.privacy.erasure.world import damage, erase, follow_all, run_all_jobs, tables_with
from tests.privacy.subject_factories import NAME, link_all, scanned_subject
from tests.scaling.debian_servers import redis

SAID = f"{NAME} walks from the quay to the lighthouse and back."
LONG = f"{NAME} walks along the harbour wall. The walk starts at the old quay. Somebody lost a glove there. " * 12


@pytest.fixture
def walker(committed_database: str, agent: Agent) -> Agent:
    """An agent with long outputs of tools about the person, which have no room together."""
    file_create(file=StoredProfile(name="short", content=PROFILE), author=SYSTEM.author)
    session = Session.objects.create(agent=agent, started_at=NOW)
    for number in range(3):
        content = {"output": f"Walk {number}. {LONG}"}
        Event.objects.create(
            agent=agent, session=session, type="tool_result", tool="walks", content=content, size=900, occurred_at=NOW
        )
    return agent


@pytest.fixture
def shared(settings: Any) -> Iterator[Redis]:
    """A Redis server that this test starts, with the shared cache."""
    with redis() as address:
        settings.CACHE_URL, settings.SHARED_CACHE_BYTES = address, 10_000_000
        shared_answers.shared_answers.cache_clear()
        client = Redis.from_url(address)
        yield client
        client.close()
    settings.CACHE_URL = ""
    shared_answers.shared_answers.cache_clear()


def values(client: Redis) -> list[bytes]:
    """All answers on the server, as they are stored."""
    found = [key for key in client.keys(PREFIX + b"*") if client.type(key) == b"string"]
    return [client.get(key) for key in found]  # type: ignore[misc]


def share_answer(agent: Agent, client: Redis) -> None:
    """Make answers about the person until one is on the server, which a busy machine may not reach in time."""
    for number in range(20):
        asked = AssemblyRequest(topic=f"Tea, and {NAME}? {number}")
        assert NAME in assemble(agent=agent, asked=asked, principal=SYSTEM).content
        background_writes.flush()
        if values(client):
            return
    pytest.fail("No answer reached the server.")


def objects(client: Any, bucket: str) -> list[bytes]:
    """All objects in the bucket."""
    listed = client.list_objects_v2(Bucket=bucket).get("Contents", [])
    return [client.get_object(Bucket=bucket, Key=one["Key"])["Body"].read() for one in listed]


def summaries() -> list[str]:
    """All stored texts that are a summary."""
    known = StoredSummary.objects.values("summary_sha256")
    rows = StoredText.objects.filter(sha256__in=known).values_list("sha256", "text", "sealed")
    return [str(text) for text in read_texts(rows).values()]


def frozen_rows() -> list[dict[str, Any]]:
    rows = fetch_rows("SELECT frozen::text FROM memories WHERE frozen IS NOT NULL")
    return [json.loads(kept) for (kept,) in rows]


def test_nothing_of_the_person_is_left_outside(
    walker: Agent,
    server_of: ServerOf,  # noqa: F811
    store: Any,  # noqa: F811
    shared: Redis,
    settings: Any,
) -> None:
    mentioning, other = (
        memory_create(owner=walker, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
        for text in (f"{NAME} likes tea.", "Tea is green.")
    )
    run_all_jobs()
    asked = AssemblyRequest(topic="Who walks at the harbour?", profile="short", now=NOW)
    with server_of(saying(SAID)):
        told = assemble(agent=walker, asked=asked, principal=SYSTEM)
    assert SAID in told.content
    share_answer(walker, shared)
    follow_all()
    things_move(MEMORIES, [mentioning.id, other.id], Tier.FROZEN)
    before = frozen_rows()
    assert len(before) == 2
    assert len(objects(store, settings.FROZEN_S3_BUCKET)) == 1
    assert SAID in summaries()

    subject = scanned_subject()
    link_all(subject)
    erasure = erase(subject)
    run_all_jobs()

    assert erasure.report["caches"]["shared_answers"] is True
    assert values(shared) == []
    assert not any(NAME in text for text in summaries())
    assert tables_with("Zora Quell") == {}
    # The object still has the sealed bytes, and nobody has their key: rows keep it, and this row is gone.
    remaining = [one["key"] for one in frozen_rows()]
    assert [thaw(one) for one in frozen_rows()] == ["Tea is green."]
    [gone] = [one for one in before if one["key"] not in remaining]
    assert tables_with(gone["key"]) == {}
    assert not any(NAME.encode() in stored for stored in objects(store, settings.FROZEN_S3_BUCKET))
    assert damage() == []
