"""What agents and teams keep, one file per noun."""

from memories.models.document import Chunk, Document
from memories.models.event import Event, EventType
from memories.models.graph import Entity, Relation
from memories.models.import_plan import ImportPlan, ImportStatus
from memories.models.job import Job, JobStatus
from memories.models.memory import Memory, MemoryVersion
from memories.models.pattern import Pattern
from memories.models.session import Session
from memories.models.space import EmbeddingSpace
from memories.models.task import TaskFrame, TaskStatus
from memories.models.thread import Thread, ThreadStatus
from memories.models.tool import Tool

__all__ = [
    "Chunk",
    "Document",
    "EmbeddingSpace",
    "Entity",
    "Event",
    "EventType",
    "ImportPlan",
    "ImportStatus",
    "Job",
    "JobStatus",
    "Memory",
    "MemoryVersion",
    "Pattern",
    "Relation",
    "Session",
    "TaskFrame",
    "TaskStatus",
    "Thread",
    "ThreadStatus",
    "Tool",
]
