"""These functions create, change and delete memories and other items of agents; each module is about one kind."""

from memories.services import item_hooks  # noqa: F401 - registers the functions that run before items are saved
from memories.services.agent_item import Facts, agent_item_delete, agent_item_update, agent_items_create
from memories.services.batch_errors import BatchError, BatchRefused, DuplicateInBatch, InvalidBatch
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
    memory_level_set,
    memory_update,
    owner_of,
)
from memories.services.memory_merging import (
    MAX_MERGED,
    MergeRequest,
    last_merge,
    memories_merge,
    memories_unmerge,
    memory_supersede,
)
from memories.services.task_stack import task_path, task_peek, task_pop, task_push

__all__ = [
    "BATCH_ROWS",
    "MAX_MERGED",
    "MAX_PINNED",
    "BatchError",
    "BatchRefused",
    "DuplicateInBatch",
    "Facts",
    "InvalidBatch",
    "MemoryFacts",
    "MergeRequest",
    "Owner",
    "agent_item_delete",
    "agent_item_update",
    "agent_items_create",
    "events_create",
    "facts_of",
    "last_merge",
    "memories_create",
    "memories_merge",
    "memories_of",
    "memories_unmerge",
    "memory_create",
    "memory_delete",
    "memory_level_set",
    "memory_supersede",
    "memory_update",
    "owner_of",
    "task_path",
    "task_peek",
    "task_pop",
    "task_push",
    "thread_update",
]
