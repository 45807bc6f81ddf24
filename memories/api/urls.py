"""The addresses of memories under /api/v1/, those of agents and those of teams."""

from typing import Any

from django.urls import URLPattern, path

from agents.access import agent_for
from memories.api.memories import MemoryDetail, MemoryList, MemoryVersionList
from memories.api.search import MemorySearch
from teams.access import team_for


def addresses(owners: str, find: Any) -> list[URLPattern]:
    """The addresses below one kind of owner."""
    root = f"{owners}/<slug:slug>/memories"
    return [
        path(root, MemoryList.as_view(find=find)),
        path(f"{root}/search", MemorySearch.as_view(find=find)),
        path(f"{root}/<uuid:id_>", MemoryDetail.as_view(find=find)),
        path(f"{root}/<uuid:id_>/versions", MemoryVersionList.as_view(find=find)),
    ]


urlpatterns = [*addresses("agents", agent_for), *addresses("teams", team_for)]
