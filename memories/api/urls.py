"""These URLs under /api/v1/ lead to memories, other items of agents, exports, imports and jobs."""

from typing import Any

from django.urls import URLPattern, path

from agents.access import agent_for
from memories.api.agent_item import ItemBatch, ItemDetail, ItemList
from memories.api.archive import AgentExport, Export, ImportApply, ImportDetail, ImportNew, TeamExport
from memories.api.documents import DOCUMENTS, ChunkList
from memories.api.events import EVENTS, SESSIONS
from memories.api.graph import ENTITIES, RELATIONS, GraphView
from memories.api.item_kinds import ItemEndpoint
from memories.api.jobs import JobDetail, JobList, JobRetry
from memories.api.memories import MemoryBatch, MemoryDetail, MemoryList, MemoryMerge, MemorySearch, MemoryVersionList
from memories.api.patterns import PATTERNS
from memories.api.storage_policies import (
    PolicyDetail,
    PolicyList,
    PolicyPreview,
    PolicyVersionList,
    ReportList,
    ReportUndo,
)
from memories.api.task_stack import TASKS, TaskStack, TaskStackPop, TaskStackPush
from memories.api.threads import THREADS
from memories.api.tools import TOOLS
from teams.access import team_for


def memory_paths(owners: str, find: Any) -> list[URLPattern]:
    """Return the URL patterns of the memories of one kind of owner: "agents" or "teams"."""
    root = f"{owners}/<slug:slug>/memories"
    return [
        path(root, MemoryList.as_view(find=find)),
        path(f"{root}/batch", MemoryBatch.as_view(find=find)),
        path(f"{root}/search", MemorySearch.as_view(find=find)),
        path(f"{root}/merge", MemoryMerge.as_view(find=find)),
        path(f"{root}/<uuid:id_>", MemoryDetail.as_view(find=find)),
        path(f"{root}/<uuid:id_>/versions", MemoryVersionList.as_view(find=find)),
    ]


ENDPOINTS = (SESSIONS, EVENTS, ENTITIES, RELATIONS, PATTERNS, DOCUMENTS, THREADS, TOOLS, TASKS)
AGENT = "agents/<slug:slug>"


def item_paths(endpoint: ItemEndpoint) -> list[URLPattern]:
    """Return the URL patterns of one kind of agents' items."""
    root = f"{AGENT}/{endpoint.name}"
    return [
        path(root, ItemList.as_view(endpoint=endpoint)),
        path(f"{root}/batch", ItemBatch.as_view(endpoint=endpoint)),
        path(f"{root}/<uuid:id_>", ItemDetail.as_view(endpoint=endpoint)),
    ]


urlpatterns = [
    *memory_paths("agents", agent_for),
    *memory_paths("teams", team_for),
    *(address for endpoint in ENDPOINTS for address in item_paths(endpoint)),
    path(f"{AGENT}/documents/<uuid:id_>/chunks", ChunkList.as_view()),
    path(f"{AGENT}/graph", GraphView.as_view()),
    path(f"{AGENT}/task-stack", TaskStack.as_view()),
    path(f"{AGENT}/task-stack/push", TaskStackPush.as_view()),
    path(f"{AGENT}/task-stack/pop", TaskStackPop.as_view()),
    path(f"{AGENT}/export", AgentExport.as_view()),
    path("teams/<slug:slug>/export", TeamExport.as_view()),
    path("export", Export.as_view()),
    path("import", ImportNew.as_view()),
    path("import/<uuid:id_>", ImportDetail.as_view()),
    path("import/<uuid:id_>/apply", ImportApply.as_view()),
    *(
        one
        for root in ("", "teams/<slug:slug>/")
        for one in (
            path(f"{root}kv-policies", PolicyList.as_view()),
            path(f"{root}kv-policies/<slug:content_type>", PolicyDetail.as_view()),
            path(f"{root}kv-policies/<slug:content_type>/preview", PolicyPreview.as_view()),
            path(f"{root}kv-policies/<slug:content_type>/versions", PolicyVersionList.as_view()),
        )
    ),
    path("lifecycle-reports", ReportList.as_view()),
    path("lifecycle-reports/<uuid:id_>/undo", ReportUndo.as_view()),
    path("jobs", JobList.as_view()),
    path("jobs/<uuid:id_>", JobDetail.as_view()),
    path("jobs/<uuid:id_>/retry", JobRetry.as_view()),
]
