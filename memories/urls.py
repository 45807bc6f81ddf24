"""These URLs lead to the pages of memories, other items of an agent, imports, exports and jobs."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, include, path

from agents.access import agent_for
from memories.views import (
    agent_item,
    archive,
    documents,
    events,
    graph,
    jobs,
    memories,
    memory,
    memory_merging,
    memory_selection,
    memory_versions,
    sensitivity,
    storage,
    task_stack,
    threads,
)
from memories.views.item_kinds import DOCUMENT, ENTITY, PATTERN, THREAD, TOOL, ItemPage
from memories.views.memories import FindOwner
from teams.access import team_for


def item_paths(noun: ItemPage, read: Callable[..., Any] = agent_item.item_detail) -> list[URLPattern]:
    """Return the URL patterns of one kind of agent item; `read` is the view that shows one item."""
    chosen = {"noun": noun}
    return [
        path(f"{noun.plural}/", agent_item.item_list, chosen, name=noun.plural),
        path(f"{noun.plural}/new/", agent_item.item_new, chosen, name=f"{noun.key}_new"),
        path(f"{noun.plural}/<uuid:thing_id>/", read, chosen, name=noun.key),
        path(f"{noun.plural}/<uuid:thing_id>/edit/", agent_item.item_edit, chosen, name=f"{noun.key}_edit"),
        path(f"{noun.plural}/<uuid:thing_id>/delete/", agent_item.item_delete, chosen, name=f"{noun.key}_delete"),
    ]


def memory_paths(owner: str, find: FindOwner) -> list[URLPattern]:
    """Return the URL patterns of the memories of an agent or a team; `find` looks the owner up by its slug."""
    given = {"find": find}
    return [
        path("memories/", memories.memory_list, given, name=f"{owner}_memories"),
        path("memories/new/", memories.memory_new, given, name=f"{owner}_memory_new"),
        path("memories/selected/", memory_selection.selection, given, name=f"{owner}_memory_selection"),
        path("memories/merge/", memory_merging.merge, given, name=f"{owner}_memory_merge"),
    ]


memory_urls = [
    path("edit/", memory.memory_edit, name="memory_edit"),
    path("pin/", memory.memory_pin, name="memory_pin"),
    path("retire/", memory.memory_retire, name="memory_retire"),
    path("bring-back/", memory.memory_restore, name="memory_bring_back"),
    path("separate/", memory_merging.unmerge, name="memory_separate"),
    path("versions/", memory_versions.versions, name="memory_versions"),
    path("versions/<int:number>/", memory_versions.version, name="memory_version"),
    path("versions/<int:number>/restore/", memory_versions.restore, name="memory_restore"),
]

agent_urls = [
    path("export/", archive.agent_export, name="agent_export"),
    path("export/download/", archive.agent_export_download, name="agent_export_download"),
    *memory_paths("agent", agent_for),
    path("events/", events.timeline, name="events"),
    path("events/<uuid:event_id>/", events.event, name="event"),
    path("sessions/", events.sessions, name="sessions"),
    path("sessions/<uuid:session_id>/", events.session, name="session"),
    path("graph/", graph.graph, name="graph"),
    *item_paths(ENTITY, graph.entity),
    path("entities/<uuid:thing_id>/relations/new/", graph.relation_new, name="relation_new"),
    path("relations/<uuid:thing_id>/edit/", graph.relation_edit, name="relation_edit"),
    path("relations/<uuid:thing_id>/delete/", graph.relation_delete, name="relation_delete"),
    *item_paths(PATTERN),
    *item_paths(THREAD),
    path("threads/<uuid:thing_id>/switch/", threads.toggle_status, name="thread_switch"),
    *item_paths(TOOL),
    *item_paths(DOCUMENT, documents.document),
    path("tasks/", task_stack.tasks, name="tasks"),
    path("tasks/push/", task_stack.push, name="task_push"),
    path("tasks/pop/", task_stack.pop, name="task_pop"),
]

urlpatterns = [
    path("export/", archive.organisation_export, name="organisation_export"),
    path("export/download/", archive.organisation_export_download, name="organisation_export_download"),
    path("import/", archive.import_new, name="import_new"),
    path("import/<uuid:id_>/", archive.import_plan, name="import_plan"),
    path("import/<uuid:id_>/apply/", archive.import_apply, name="import_apply"),
    path("storage/", storage.storage, name="storage"),
    path("storage/reports/<uuid:id_>/", storage.storage_report, name="storage_report"),
    path("storage/reports/<uuid:id_>/undo/", storage.storage_report_undo, name="storage_report_undo"),
    path("storage/<slug:content_type>/", storage.storage_policy, name="storage_policy"),
    path("teams/<slug:slug>/storage/", storage.storage, name="team_storage"),
    path("teams/<slug:slug>/storage/<slug:content_type>/", storage.storage_policy, name="team_storage_policy"),
    path("sensitivity/<slug:kind>/<uuid:id_>/", sensitivity.sensitivity, name="sensitivity"),
    path("jobs/", jobs.jobs, name="job_list"),
    path("jobs/<uuid:id_>/", jobs.job, name="job"),
    path("jobs/<uuid:id_>/retry/", jobs.retry, name="job_retry"),
    path("agents/<slug:slug>/", include(agent_urls)),
    path("teams/<slug:slug>/export/", archive.team_export, name="team_export"),
    path("teams/<slug:slug>/export/download/", archive.team_export_download, name="team_export_download"),
    path("teams/<slug:slug>/", include(memory_paths("team", team_for))),
    path("memories/<uuid:id_>/", include(memory_urls)),
]
