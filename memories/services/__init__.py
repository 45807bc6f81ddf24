"""Writes about what agents and teams keep, one file per noun."""

from memories.services import item_hooks  # noqa: F401 - they say how their things are prepared
from memories.services.agent_item import Facts, kept_create, kept_delete, kept_update
from memories.services.batch_errors import Flaw, Flawed, Taken, Unfit
from memories.services.event import events_create
from memories.services.item_hooks import thread_update
from memories.services.memory import (
    BATCH_ROWS,
    MAX_PINNED,
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
from memories.services.memory_merging import MOST_MERGED, Merging, memories_merge, memories_separate, merging_into
from memories.services.task_stack import task_path, task_peek, task_pop, task_push

__all__ = [
    "BATCH_ROWS",
    "MAX_PINNED",
    "MOST_MERGED",
    "Facts",
    "Flaw",
    "Flawed",
    "MemoryFacts",
    "Merging",
    "Owner",
    "Taken",
    "Unfit",
    "events_create",
    "facts_of",
    "kept_create",
    "kept_delete",
    "kept_update",
    "memories_create",
    "memories_merge",
    "memories_of",
    "memories_separate",
    "memory_create",
    "memory_delete",
    "memory_update",
    "merging_into",
    "owner_of",
    "task_path",
    "task_peek",
    "task_pop",
    "task_push",
    "thread_update",
]
