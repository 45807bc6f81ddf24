"""Frozen texts in an S3-compatible store, and what is refused."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3  # type: ignore[import-untyped]
import pytest
from moto.server import ThreadedMotoServer

from agents.models import Agent
from memories.lifecycle import frozen_texts
from memories.lifecycle.frozen_texts import FrozenTextUnreachable, freeze, thaw
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM

NOW = datetime.datetime(2026, 11, 25, tzinfo=datetime.UTC)
TEXTS = ["", "Tea", "漢字 " * 500]


@pytest.fixture
def store(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A bucket of a server that this test starts."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")):
        monkeypatch.setenv(name, value)
    settings.FROZEN_FOLDER = tmp_path
    settings.FROZEN_S3_BUCKET = f"frozen-{uuid4()}"  # the server keeps its buckets for the whole process
    settings.FROZEN_S3_ENDPOINT = f"http://{host}:{port}"
    settings.FROZEN_S3_REGION = "us-east-1"
    client = boto3.client("s3", endpoint_url=settings.FROZEN_S3_ENDPOINT, region_name="us-east-1")
    client.create_bucket(Bucket=settings.FROZEN_S3_BUCKET)
    try:
        yield client
    finally:
        frozen_texts._object_store.cache_clear()
        server.stop()


def test_texts_that_are_frozen_together_are_one_object(store: Any, settings: Any) -> None:
    kept = freeze(TEXTS, NOW)
    [found] = store.list_objects_v2(Bucket=settings.FROZEN_S3_BUCKET)["Contents"]
    assert {one["name"] for one in kept} == {found["Key"]}
    assert found["Key"].startswith("2026-11/")
    assert [thaw(one) for one in kept] == TEXTS


def test_an_object_that_is_gone_is_named(store: Any, settings: Any) -> None:
    [kept] = freeze(TEXTS[1:2], NOW)
    store.delete_object(Bucket=settings.FROZEN_S3_BUCKET, Key=kept["name"])
    with pytest.raises(FrozenTextUnreachable, match=kept["name"]):
        thaw(kept)


def test_what_is_in_files_is_read_after_a_store_is_configured(settings: Any, tmp_path: Path, store: Any) -> None:
    bucket, settings.FROZEN_S3_BUCKET = settings.FROZEN_S3_BUCKET, ""
    in_files = freeze(TEXTS, NOW)
    settings.FROZEN_S3_BUCKET = bucket
    assert [thaw(one) for one in (*in_files, *freeze(TEXTS, NOW))] == TEXTS * 2


@pytest.mark.django_db
def test_a_memory_comes_back_from_the_store(agent: Agent, store: Any, settings: Any) -> None:
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=TEXTS[2])], principal=SYSTEM)
    things_move(MEMORIES, [memory.id], Tier.FROZEN)
    assert Memory.objects.get().text == TEXTS[2]
    assert store.list_objects_v2(Bucket=settings.FROZEN_S3_BUCKET)["KeyCount"] == 1


def test_months_have_files_of_their_own(settings: Any, tmp_path: Path) -> None:
    settings.FROZEN_FOLDER = tmp_path
    kept = [one for days in (0, 3, 30) for one in freeze(TEXTS, NOW + datetime.timedelta(days=days))]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2026-11.texts", "2026-12.texts"]
    assert [thaw(one) for one in kept] == TEXTS * 3
    assert (tmp_path / "2026-11.texts").stat().st_mode & 0o077 == 0


def test_a_name_leads_nowhere_else(settings: Any, tmp_path: Path) -> None:
    settings.FROZEN_FOLDER = tmp_path / "frozen"
    (tmp_path / "secret").write_text("secret")
    [kept] = freeze(["Tea"], NOW)
    with pytest.raises(FrozenTextUnreachable):
        thaw({**kept, "name": "../secret"})
