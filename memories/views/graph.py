"""These pages show an agent's graph and its entities, and create, edit and delete relations."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.access import agent_for, is_permitted
from agents.models import Agent
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Invalid, NotFound
from memories.embeddings.active_model import SLOTS
from memories.forms import EntitySearch, GraphForm, NewRelationForm, RelationForm
from memories.models import Entity, Relation
from memories.models.graph import SLOTS_OF_ENDS
from memories.search.graph_walk import load_graph_around
from memories.services.agent_item import agent_item_delete, agent_item_update, agent_items_create
from memories.views.agent_item import agent_crumbs, find_item, item_page_context, item_url
from memories.views.graph_svg.drawing import draw_graph, entity_kinds
from memories.views.item_kinds import ENTITY, ItemPage
from teams.access import principal_of
from teams.legal_holds import hold_on
from teams.principal import Action
from teams.versioned_text.presentation import Crumb, add_save_message
from teams.versioned_text.versioned_file import StaleVersion

MAX_MATCHES = 30


def graph(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the graph around an entity; without an entity, that of the most important entities."""
    agent = agent_for(principal_of(request), slug)
    counts = _counts(agent)
    form = GraphForm(request.GET, agent=agent, types=sorted(counts))
    form.full_clean()
    middle = form.middle()
    around = load_graph_around(agent=agent, entity=middle, depth=form.steps)
    entities = [one for one in around.entities if form.selected_type in {"", one.type} or one == middle]
    kinds = entity_kinds({**Counter(one.type for one in entities), **counts})
    drawing = draw_graph(entities, around.relations, kinds, middle.id if middle else None)
    context = {
        "agent": agent,
        "crumbs": agent_crumbs(agent),
        "may_write": is_permitted(principal_of(request), agent, Action.WRITE),
        "form": form,
        "middle": middle,
        "total": sum(counts.values()),
        "drawing": drawing,
        "kinds": [kind for kind in kinds.values() if any(node.kind is kind for node in drawing.nodes)],
        "kept": _link_parameters(form),
        "matches": _matching_entities(agent, form.query) if form.query else None,
    }
    return render(request, "memories/graph/graph.html", context)


def _counts(agent: Agent) -> dict[str, int]:
    rows = Entity.objects.filter(agent=agent).values_list("type").annotate(count=Count("id"))
    return dict(rows.order_by("type"))


def _link_parameters(form: GraphForm) -> str:
    """Return the query string that links from one entity to the next carry on."""
    chosen = {"depth": form.cleaned_data.get("depth"), "type": form.selected_type}
    return urlencode({name: value for name, value in chosen.items() if value})


def _matching_entities(agent: Agent, query: str) -> QuerySet[Entity]:
    """Return the entities whose name or aliases contain the query, the most important first."""
    form = EntitySearch({"q": query}, agent=agent)
    rows = form.narrowed(Entity.objects.filter(agent=agent)).defer(*SLOTS)
    return rows.order_by("-salience", "id")[:MAX_MATCHES]


def entity(request: HttpRequest, slug: str, noun: ItemPage, thing_id: UUID) -> HttpResponse:
    """Show one entity with its relations, the newest first."""
    agent = agent_for(principal_of(request), slug)
    thing = find_item(noun, agent, thing_id)
    rows = Relation.objects.filter(Q(source=thing) | Q(target=thing), agent=agent)
    rows = rows.select_related("source", "target").defer(*SLOTS_OF_ENDS)
    relations, cursor = page_of(rows, request.GET)
    context = {
        **item_page_context(request, agent, noun),
        "thing": thing,
        "relations": relations,
        "total": rows.count(),
        "graph_address": f"{reverse('graph', args=[slug])}?entity={thing.pk}",
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/graph/entity.html", context)


def relation_new(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Show the form of a new relation from an entity, and create the relation."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    source = find_item(ENTITY, agent, thing_id)
    form = NewRelationForm(request.POST if request.method == "POST" else None, agent=agent)
    if request.method == "POST" and form.is_valid():
        try:
            facts = {**form.facts, "source": source}
            agent_items_create(model=Relation, agent=agent, facts=[facts], principal=principal_of(request))
        except (Conflict, Invalid) as error:
            form.refused(error)
        else:
            messages.success(request, _("Relation saved."))
            return redirect(item_url(ENTITY, agent, source))
    return _render_relation_form(request, agent, source, form)


def relation_edit(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Show the form of a relation's type, weight and direction, and save its changes."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    relation = _find_relation(agent, thing_id)
    form = RelationForm(request.POST if request.method == "POST" else None, agent=agent, stored=relation)
    if request.method != "POST" or not form.is_valid():
        return _render_relation_form(request, agent, relation.source, form)
    based_on = form.cleaned_data["version"]
    try:
        saved = agent_item_update(
            thing=relation, expected_version=based_on, changes=form.facts, principal=principal_of(request)
        )
    except StaleVersion as stale:
        return _render_relation_form(
            request, agent, relation.source, form.based_on(stale.current), theirs=stale.current
        )
    except (Conflict, Invalid) as error:
        form.refused(error)
        return _render_relation_form(request, agent, relation.source, form)
    add_save_message(request, saved.version, based_on)
    return redirect(item_url(ENTITY, agent, relation.source))


def relation_delete(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Ask for confirmation, and delete the relation."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    relation = _find_relation(agent, thing_id)
    back = item_url(ENTITY, agent, relation.source)
    if request.method == "POST":
        agent_item_delete(thing=relation, principal=principal_of(request))
        messages.success(request, _("Relation deleted."))
        return redirect(back)
    context = {
        **_relation_page_context(request, agent, relation.source),
        "thing": relation,
        "relation": relation,
        "back": back,
        "hold": hold_on("relations", relation.pk),
    }
    return render(request, "memories/agent_item/delete.html", context)


def _find_relation(agent: Agent, relation_id: UUID) -> Relation:
    rows = Relation.objects.filter(agent=agent).select_related("source", "target")
    found = rows.defer(*SLOTS_OF_ENDS).filter(id=relation_id).first()
    if found is None:
        raise NotFound(_("This relation"))
    return found


def _relation_page_context(request: HttpRequest, agent: Agent, source: Entity) -> dict[str, Any]:
    return item_page_context(request, agent, ENTITY, Crumb(source.name, item_url(ENTITY, agent, source)))


def _render_relation_form(
    request: HttpRequest, agent: Agent, source: Entity, form: RelationForm, theirs: Any = None
) -> HttpResponse:
    context = {
        **_relation_page_context(request, agent, source),
        "form": form,
        "source": source,
        "relation": form.stored,
        "theirs": theirs,
        "back": item_url(ENTITY, agent, source),
    }
    status = StaleVersion.status if theirs else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/graph/relation_form.html", context, status=status)
