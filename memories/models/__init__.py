"""These models store memories and other items that agents own; each module holds one model or a few related ones."""

from memories.models.agent_item import Pattern, Thread, ThreadStatus, Tool
from memories.models.document import Chunk, Document, chunk_ref
from memories.models.embedding import EmbeddingSpace
from memories.models.file_passage import FilePassage
from memories.models.graph import Entity, Relation
from memories.models.import_plan import ImportPlan, ImportStatus
from memories.models.job import Job, JobStatus
from memories.models.lifecycle import KVPolicyVersion, LifecycleReport, RequestedPolicy, ThingUse, TierCheck
from memories.models.memory import Memory, MemoryVersion
from memories.models.session import Event, EventType, Session, TaskFrame, TaskStatus

__all__ = [
    "Chunk",
    "Document",
    "EmbeddingSpace",
    "Entity",
    "Event",
    "EventType",
    "FilePassage",
    "ImportPlan",
    "ImportStatus",
    "Job",
    "JobStatus",
    "KVPolicyVersion",
    "LifecycleReport",
    "Memory",
    "MemoryVersion",
    "Pattern",
    "Relation",
    "RequestedPolicy",
    "Session",
    "TaskFrame",
    "TaskStatus",
    "ThingUse",
    "Thread",
    "ThreadStatus",
    "TierCheck",
    "Tool",
    "chunk_ref",
]
