"""The memories of an agent or a team: the newest, or the nearest to a search."""

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.access import agent_for
from config.http.cursors import next_address, page_of
from memories.directions import direction_of
from memories.forms import SearchForm
from memories.search import memories_find
from memories.services import Owner, memories_of
from memories.spaces import SLOTS
from teams.access import team_for
from teams.views.asking import asking

NEAREST = 30


def agent_memories(request: HttpRequest, slug: str) -> HttpResponse:
    """What an agent keeps."""
    return _memories(request, agent_for(asking(request), slug), "agent")


def team_memories(request: HttpRequest, slug: str) -> HttpResponse:
    """What a team keeps."""
    return _memories(request, team_for(asking(request), slug), "team")


def _memories(request: HttpRequest, owner: Owner, kind: str) -> HttpResponse:
    form = SearchForm(request.GET)
    query = form.cleaned_data["q"] if form.is_valid() else ""
    vector = direction_of(query)
    context = {"owner": owner, "kind": kind, "form": form, "query": query, "unknown": bool(query) and vector is None}
    if query:
        found = memories_find(owner=owner, vector=vector, similar=NEAREST, recent=0) if vector is not None else []
        context |= {"found": found}
    else:
        rows = memories_of(owner).defer(*SLOTS).annotate(at=Coalesce("occurred_at", "created"))
        memories, cursor = page_of(rows, request.GET)
        context |= {"found": memories, "next": next_address(request.path, request.GET.dict(), cursor)}
    return render(request, "memories/memory_list.html", context)
