"""These pages list and search the memories of an agent or team, and create new ones."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from config.http.cursors import next_page_url, page_of
from memories.embeddings.vectors import embed_query
from memories.forms import MemoryForm, MemoryListForm
from memories.search.memory_search import nearest
from memories.services import Owner, memory_create
from memories.views.agent_item import owner_page_context
from teams.access import principal_of
from teams.principal import Action

FindOwner = Callable[..., Owner]
"""A function that returns the owner with a slug: `agent_for` or `team_for`."""

MAX_NEAREST = 30


def memory_list(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Show the owner's memories, filtered and ordered by the query string."""
    owner = find(principal_of(request), slug)
    form = MemoryListForm(request.GET, owner=owner)
    context = {**owner_page_context(request, owner), "form": form, "narrows": any(form.cleaned_data.values())}
    if form.meaning:
        vector = embed_query(form.meaning)
        context |= {"found": nearest(form.rows(), vector, MAX_NEAREST), "unknown": vector is None}
    else:
        found, cursor = page_of(form.rows(), request.GET, keys=form.keys)
        context |= {"found": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "memories/memory/list.html", context)


def memory_new(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Show the form of a new memory, and create the memory."""
    owner = find(principal_of(request), slug, Action.WRITE)
    form = MemoryForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        memory = memory_create(owner=owner, facts=form.facts(), principal=principal_of(request))
        messages.success(request, _("Saved."))
        return redirect("memory", id_=memory.id)
    context = {
        **owner_page_context(request, owner),
        "form": form,
        "back": owner_page_context(request, owner)["list_address"],
    }
    return render(request, "memories/memory/form.html", context, status=422 if form.errors else 200)
