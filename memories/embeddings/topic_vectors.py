"""Vectors of topics are cached on the disk, for embedders other than the bundled one.

Texts that are stored have their vectors beside them in the database. Topics are not stored as rows, so without this
cache a server would embed the same topic again for each request. A vector follows from the embedder's name, its server
and the text, so nothing invalidates it; it is dropped after a week, so that no vector outlives its topic for long.
"""

import hashlib
import json
from functools import cache

import numpy as np
from django.conf import settings

from config.caching.shared_cache import SharedCache
from config.caching.sqlite_store import SQLiteStore
from memories.embeddings.active_model import EmbeddingModel
from memories.embeddings.base import Vector
from memories.embeddings.registry import is_bundled

LIFETIME_SECONDS = 7 * 86_400
FORMAT = np.dtype("<f4")


@cache
def topic_vectors() -> SharedCache:
    """Return the cache of topics' vectors in the data folder of this machine."""
    limit = settings.DISK_CACHE_BYTES
    store = SQLiteStore(settings.DATA_DIR / "cache" / "topic_vectors.sqlite3", limit) if limit else None
    return SharedCache("disk", "topic_vectors", store)


def find_topic_vector(space: EmbeddingModel, text: str) -> Vector | None:
    """Return the cached vector of the topic by this embedding model; None without one, or for the bundled embedder."""
    if is_bundled(space.model):
        return None
    stored = topic_vectors().get(_key(space, text))
    is_hit = stored is not None and len(stored.value) == space.dimensions * FORMAT.itemsize
    topic_vectors().count(hit=is_hit)
    return np.frombuffer(stored.value, FORMAT).astype(np.float32) if stored and is_hit else None


def store_topic_vector(space: EmbeddingModel, text: str, vector: Vector) -> None:
    """Cache the vector that the embedding model made of the topic."""
    if not is_bundled(space.model):
        topic_vectors().put(_key(space, text), vector.astype(FORMAT).tobytes(), LIFETIME_SECONDS)


def _key(space: EmbeddingModel, text: str) -> bytes:
    facts = [space.model, space.dimensions, settings.EMBEDDER_URL, text]
    return hashlib.sha256(json.dumps(facts).encode()).digest()
