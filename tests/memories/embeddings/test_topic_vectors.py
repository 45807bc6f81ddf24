"""A server embeds a topic once; afterwards its vector comes from the disk, and from nowhere if that is of no use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.caching.shared_cache import SharedCache
from config.caching.sqlite_store import SQLiteStore
from memories.embeddings import topic_vectors
from memories.embeddings.active_model import EmbeddingModel
from memories.embeddings.vectors import _embed_query
from tests.http_endpoints import Endpoint, Handler, giving, serving

TINY = EmbeddingModel("openai:tiny-1", 3, "embedding")
BUNDLED = EmbeddingModel("wordllama:256", 256, "embedding")
TOPIC = "When does the ferry leave?"
NewProcess = Callable[[], None]


def embedding(handler: Handler) -> None:
    rows = [[float(len(text)), 2.0, 0.0] for text in handler.endpoint.seen[-1].body["input"]]
    giving({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})(handler)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "topic_vectors.sqlite3"


@pytest.fixture
def new_process(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewProcess]:
    opened: list[SQLiteStore] = []

    def begin() -> None:
        opened.append(SQLiteStore(file, 1_000_000))
        cache = SharedCache("disk", "topic_vectors", opened[-1])
        monkeypatch.setattr(topic_vectors, "topic_vectors", lambda: cache)

    begin()
    yield begin
    for store in opened:
        store.close()


@contextmanager
def server(settings: Any) -> Iterator[Endpoint]:
    with serving(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        yield endpoint


def embedded(text: str = TOPIC, space: EmbeddingModel = TINY) -> list[float]:
    found = _embed_query(text, space)
    assert found
    assert found.text == text
    return [float(value) for value in found.vector]


def test_a_server_embeds_each_topic_once(new_process: NewProcess, settings: Any) -> None:
    with server(settings) as endpoint:
        first = embedded()
        assert embedded() == first
        new_process()
        assert embedded() == first
        assert len(endpoint.seen) == 1
        assert embedded("Another topic") != first
        assert len(endpoint.seen) == 2


def test_another_model_or_another_server_has_vectors_of_its_own(new_process: NewProcess, settings: Any) -> None:
    with server(settings) as endpoint:
        embedded()
        embedded(space=EmbeddingModel("openai:tiny-2", 3, "embedding"))
        assert len(endpoint.seen) == 2
        settings.EMBEDDER_URL += "/"
        embedded()
        assert len(endpoint.seen) == 3


def test_no_text_is_on_the_disk(new_process: NewProcess, file: Path, settings: Any) -> None:
    with server(settings):
        embedded()
    content = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert content
    assert b"ferry" not in content


def test_a_damaged_file_costs_a_request_to_the_server(new_process: NewProcess, file: Path, settings: Any) -> None:
    with server(settings) as endpoint:
        first = embedded()
        for path in file.parent.iterdir():
            path.unlink()
        file.write_bytes(b"garbage" * 1_000)
        new_process()
        assert embedded() == first
        assert len(endpoint.seen) == 2


def test_the_bundled_embedder_needs_no_disk(new_process: NewProcess, file: Path) -> None:
    assert embedded(space=BUNDLED) == embedded(space=BUNDLED)
    assert not file.exists()


@pytest.mark.parametrize(("limit", "is_there"), [(0, False), (1_000_000, True)])
def test_the_setting_says_how_much_there_may_be(limit: int, is_there: bool, tmp_path: Path, settings: Any) -> None:
    settings.DISK_CACHE_BYTES, settings.DATA_DIR = limit, tmp_path
    topic_vectors.topic_vectors.cache_clear()
    try:
        cache = topic_vectors.topic_vectors()
    finally:
        topic_vectors.topic_vectors.cache_clear()
    assert (cache.used_and_limit() is not None) == is_there
