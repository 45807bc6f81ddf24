"""Changing the embedder while everything is in use: the free slot is filled, indexed, and then made the active one."""

from memories.reembedding.changing import change_begun, filled, lacking_rows, switched
from memories.reembedding.forgetting import forget_other
from memories.reembedding.meaning_index import index_built
from memories.reembedding.turn import one_at_a_time

__all__ = [
    "change_begun",
    "filled",
    "forget_other",
    "index_built",
    "lacking_rows",
    "one_at_a_time",
    "switched",
]
