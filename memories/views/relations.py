"""The forms of relations. They are read on the pages of their entities."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from agents.access import agent_for
from agents.models import Agent
from config.http.errors import Conflict, Invalid, NotFound
from memories.forms import NewRelationForm, RelationForm
from memories.models import Entity, Relation
from memories.models.graph import SLOTS_OF_ENDS
from memories.services.kept import kept_create, kept_delete, kept_update
from memories.views.kept import address_of, frame, tell, thing_of
from memories.views.nouns import ENTITY
from teams.access import Action
from teams.files import StaleVersion
from teams.views.asking import asking
from teams.views.document import Crumb


def new(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """A new relation from an entity to another."""
    agent = agent_for(asking(request), slug, Action.WRITE)
    source = thing_of(ENTITY, agent, thing_id)
    form = NewRelationForm(request.POST if request.method == "POST" else None, agent=agent)
    if request.method == "POST" and form.is_valid():
        try:
            facts = {**form.facts, "source": source}
            kept_create(model=Relation, agent=agent, facts=[facts], principal=asking(request))
        except (Conflict, Invalid) as error:
            form.refused(error)
        else:
            messages.success(request, _("The relation is kept now."))
            return redirect(address_of(ENTITY, agent, source))
    return _page(request, agent, source, form)


def edit(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Another type, strength or direction of a relation."""
    agent = agent_for(asking(request), slug, Action.WRITE)
    relation = _relation(agent, thing_id)
    form = RelationForm(request.POST if request.method == "POST" else None, agent=agent, stored=relation)
    if request.method != "POST" or not form.is_valid():
        return _page(request, agent, relation.source, form)
    based_on = form.cleaned_data["version"]
    try:
        saved = kept_update(thing=relation, expected_version=based_on, changes=form.facts, principal=asking(request))
    except StaleVersion as stale:
        return _page(request, agent, relation.source, form.based_on(stale.current), theirs=stale.current)
    except (Conflict, Invalid) as error:
        form.refused(error)
        return _page(request, agent, relation.source, form)
    tell(request, saved, based_on)
    return redirect(address_of(ENTITY, agent, relation.source))


def delete(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Asks whether the relation shall go, and deletes it."""
    agent = agent_for(asking(request), slug, Action.WRITE)
    relation = _relation(agent, thing_id)
    back = address_of(ENTITY, agent, relation.source)
    if request.method == "POST":
        kept_delete(thing=relation, principal=asking(request))
        messages.success(request, _("The relation is deleted."))
        return redirect(back)
    context = {**_frame(request, agent, relation.source), "thing": relation, "relation": relation, "back": back}
    return render(request, "memories/kept_delete.html", context)


def _relation(agent: Agent, relation_id: UUID) -> Relation:
    rows = Relation.objects.filter(agent=agent).select_related("source", "target")
    found = rows.defer(*SLOTS_OF_ENDS).filter(id=relation_id).first()
    if found is None:
        raise NotFound(_("This relation"))
    return found


def _frame(request: HttpRequest, agent: Agent, source: Entity) -> dict[str, Any]:
    return frame(request, agent, ENTITY, Crumb(source.name, address_of(ENTITY, agent, source)))


def _page(request: HttpRequest, agent: Agent, source: Entity, form: RelationForm, theirs: Any = None) -> HttpResponse:
    context = {
        **_frame(request, agent, source),
        "form": form,
        "source": source,
        "relation": form.stored,
        "theirs": theirs,
        "back": address_of(ENTITY, agent, source),
    }
    status = StaleVersion.status if theirs else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/relation_form.html", context, status=status)
