"""The page of one entity: what is known of it, and how it is related."""

from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agents.access import agent_for
from config.http.cursors import next_address, page_of
from memories.models import Relation
from memories.models.graph import SLOTS_OF_ENDS
from memories.views.kept import frame, thing_of
from memories.views.nouns import Noun
from teams.views.asking import asking


def entity(request: HttpRequest, slug: str, noun: Noun, thing_id: UUID) -> HttpResponse:
    """One entity with its relations, the newest first."""
    agent = agent_for(asking(request), slug)
    thing = thing_of(noun, agent, thing_id)
    rows = Relation.objects.filter(Q(source=thing) | Q(target=thing), agent=agent)
    rows = rows.select_related("source", "target").defer(*SLOTS_OF_ENDS)
    relations, cursor = page_of(rows, request.GET)
    context = {
        **frame(request, agent, noun),
        "thing": thing,
        "relations": relations,
        "total": rows.count(),
        "graph_address": f"{reverse('graph', args=[slug])}?entity={thing.pk}",
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/entity.html", context)
