"""These pages list and search the memories of an agent or team, and create new ones."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.models import Agent
from config.http.cursors import next_page_url, page_of
from config.http.errors import Invalid
from config.http.filter_chips import filter_chips
from config.http.late_reads import may_be_late
from config.http.shown_once import take_shown_once
from memories.embeddings.vectors import embed_query
from memories.forms import MemoryForm, MemoryListForm
from memories.lifecycle.listed_texts import listed
from memories.models.memory import MAX_REASON_CHARACTERS
from memories.search.memory_search import nearest
from memories.services import Owner, memory_create
from memories.views.agent_item import owner_page_context
from teams.access import principal_of
from teams.principal import Action

FindOwner = Callable[..., Owner]
"""A function that returns the owner with a slug: `agent_for` or `team_for`."""

MAX_NEAREST = 30


@may_be_late
def memory_list(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Show the owner's memories, filtered and ordered by the query string."""
    owner = find(principal_of(request), slug)
    form = MemoryListForm(request.GET, owner=owner)
    context = {
        **owner_page_context(request, owner),
        "form": form,
        "narrows": any(form.cleaned_data.values()),
        "chips": filter_chips(request, form),
        "selection_address": reverse(f"{_kind(owner)}_memory_selection", args=[slug]),
        "max_reason": MAX_REASON_CHARACTERS,
        "undo": undo_offer(request, owner),
    }
    if form.meaning:
        vector = embed_query(form.meaning)
        context |= {"found": nearest(form.rows(), vector, MAX_NEAREST), "unknown": vector is None}
    else:
        found, cursor = page_of(listed(form.rows()), request.GET, keys=form.keys)
        context |= {"found": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "memories/memory/list.html", context)


def list_name(owner: Owner) -> str:
    """Return the URL name of the list of the owner's memories."""
    return f"{_kind(owner)}_memories"


def _kind(owner: Owner) -> str:
    return "agent" if isinstance(owner, Agent) else "team"


def undo_offer(request: HttpRequest, owner: Owner) -> dict[str, Any]:
    """Return what the list needs to offer to undo the last action; empty if there was none just before."""
    offered = take_shown_once(request, undo_page(owner))
    return {"action": offered["action"], "picks": offered["picks"].split()} if offered else {}


def undo_page(owner: Owner) -> str:
    return f"memories of {owner.pk}"


def memory_new(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Show the form of a new memory, and create the memory."""
    owner = find(principal_of(request), slug, Action.WRITE)
    form = MemoryForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            memory = memory_create(owner=owner, facts=form.facts(), principal=principal_of(request))
        except Invalid as refused:
            form.add_error("text", refused.detail)
        else:
            messages.success(request, _("Saved."))
            return redirect("memory", id_=memory.id)
    context = {
        **owner_page_context(request, owner),
        "form": form,
        "back": owner_page_context(request, owner)["list_address"],
    }
    return render(request, "memories/memory/form.html", context, status=422 if form.errors else 200)
