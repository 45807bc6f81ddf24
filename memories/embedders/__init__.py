"""Embedders: what turns texts into vectors. One file for each, behind one interface, found by name."""

from memories.embedders.base import Embedder, EmbedderFailed, UnknownEmbedder, Vector
from memories.embedders.registry import embedder_named

__all__ = ["Embedder", "EmbedderFailed", "UnknownEmbedder", "Vector", "embedder_named"]
