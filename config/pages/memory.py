"""The page of a memory: what it says, what became of it, and which contexts used it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.uses import uses_of
from config.http.cursors import next_address, page_of
from memories.access import memory_for
from memories.models import Memory, MemoryVersion
from memories.services import merging_into, owner_of
from memories.spaces import SLOTS
from memories.views.keeper import frame
from teams.views.asking import asking

VERSIONS, PREDECESSORS, USES = 6, 20, "20"


def memory_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """One memory, whole."""
    principal = asking(request)
    memory = memory_for(principal, id_)
    uses = uses_of(memory, principal)
    found, cursor = page_of(uses.contexts, {"limit": USES, **request.GET.dict()})
    decided = uses.in_each(found)
    context = {
        **frame(request, owner_of(memory)),
        "memory": memory,
        "successor": Memory.objects.filter(supersedes=memory).defer(*SLOTS, "search").first(),
        "predecessors": memory.supersedes.defer(*SLOTS, "search").order_by("id")[:PREDECESSORS],
        "merging": merging_into(memory),
        "versions": list(MemoryVersion.objects.filter(file=memory)[:VERSIONS]),
        "more_versions": memory.version > VERSIONS,
        "uses": uses,
        "contexts": [(context, decided[context.id]) for context in found],
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/memory.html", context)
