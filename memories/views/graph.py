"""The graph of what an agent knows: drawn around an entity, and the same as a list."""

from collections import Counter
from urllib.parse import urlencode

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.access import agent_for, may
from agents.models import Agent
from memories.drawing.graph import drawn, kinds_of
from memories.forms import EntitySearch, GraphForm
from memories.graph import graph_around
from memories.models import Entity
from memories.spaces import SLOTS
from memories.views.kept import crumbs_to
from teams.access import Action
from teams.views.asking import asking

MATCHES = 30


def graph(request: HttpRequest, slug: str) -> HttpResponse:
    """What lies around an entity; without one, the most important entities."""
    agent = agent_for(asking(request), slug)
    counts = _counts(agent)
    form = GraphForm(request.GET, agent=agent, types=sorted(counts))
    form.full_clean()
    middle = form.middle()
    around = graph_around(agent=agent, entity=middle, depth=form.steps)
    entities = [one for one in around.entities if form.only_type in {"", one.type} or one == middle]
    kinds = kinds_of({**Counter(one.type for one in entities), **counts})
    drawing = drawn(entities, around.relations, kinds, middle.id if middle else None)
    context = {
        "agent": agent,
        "crumbs": crumbs_to(agent),
        "may_write": may(asking(request), agent, Action.WRITE),
        "form": form,
        "middle": middle,
        "total": sum(counts.values()),
        "drawing": drawing,
        "kinds": [kind for kind in kinds.values() if any(node.kind is kind for node in drawing.nodes)],
        "kept": _kept(form),
        "matches": _matches(agent, form.query) if form.query else None,
    }
    return render(request, "memories/graph.html", context)


def _counts(agent: Agent) -> dict[str, int]:
    rows = Entity.objects.filter(agent=agent).values_list("type").annotate(count=Count("id"))
    return dict(rows.order_by("type"))


def _kept(form: GraphForm) -> str:
    """What the links from one entity to the next keep of the address."""
    chosen = {"depth": form.cleaned_data.get("depth"), "type": form.only_type}
    return urlencode({name: value for name, value in chosen.items() if value})


def _matches(agent: Agent, query: str) -> QuerySet[Entity]:
    """The entities that are called like this, the most important first."""
    form = EntitySearch({"q": query}, agent=agent)
    rows = form.narrowed(Entity.objects.filter(agent=agent)).defer(*SLOTS)
    return rows.order_by("-salience", "id")[:MATCHES]
