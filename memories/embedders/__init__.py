"""Embedders: what turns texts into vectors. One file for each, behind one interface, found by name."""

from memories.embedders.base import Embedder, EmbedderFailed, EmbedderLate, UnknownEmbedder, Vector
from memories.embedders.patience import waiting_at_most
from memories.embedders.registry import embedder_named

__all__ = [
    "Embedder",
    "EmbedderFailed",
    "EmbedderLate",
    "UnknownEmbedder",
    "Vector",
    "embedder_named",
    "waiting_at_most",
]
