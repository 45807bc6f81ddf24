"""Writes about what agents and teams keep, one file per noun."""

from memories.services.memory import (
    BATCH_ROWS,
    MemoryFacts,
    Owner,
    facts_of,
    memories_create,
    memories_of,
    memory_create,
    memory_delete,
    memory_update,
    owner_of,
)

__all__ = [
    "BATCH_ROWS",
    "MemoryFacts",
    "Owner",
    "facts_of",
    "memories_create",
    "memories_of",
    "memory_create",
    "memory_delete",
    "memory_update",
    "owner_of",
]
