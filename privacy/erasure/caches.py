"""Caches with copies of texts are emptied. Those of a process are invalidated by change counters."""

from assembly.pipeline.shared_answers import shared_answers
from memories.embeddings.topic_vectors import topic_vectors


def caches_clear() -> dict[str, bool]:
    """Empty the caches that processes share and the one on this machine's disk; say of each whether it answered."""
    return {"shared_answers": shared_answers().clear(), "topic_vectors": topic_vectors().clear()}
