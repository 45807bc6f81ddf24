"""These pages merge memories of the same meaning: they show candidates, ask which one remains, and undo a merge."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from config.http.errors import Conflict, Invalid
from config.http.selection import parse_ids
from memories.access import memory_for
from memories.embeddings.active_model import SLOTS
from memories.embeddings.vectors import embed_query
from memories.forms import MergeForm, SearchForm, VersionForm, format_seen_versions
from memories.lifecycle.listed_texts import listed
from memories.models import Memory
from memories.search.duplicates import likely_duplicates
from memories.search.memory_search import IS_CURRENT, nearest
from memories.services import MAX_MERGED, Owner, memories_merge, memories_of, memories_unmerge
from memories.views.agent_item import owner_page_context
from memories.views.memories import FindOwner
from teams.access import principal_of
from teams.principal import Action
from teams.versioned_text.versioned_file import StaleVersion

MAX_OFFERED = 30


def merge(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Show the memories in the query string as a form, and merge them; with fewer than two, show likely duplicates."""
    owner = find(principal_of(request), slug, Action.WRITE)
    memories = _selected_memories(owner, request.GET)
    if len(memories) < 2:  # noqa: PLR2004 - one cannot be merged
        return _render_candidates(request, owner, memories)
    form = MergeForm(request.POST if request.method == "POST" else None, memories=memories)
    if request.method != "POST" or not _is_valid(form):
        return _render_merge_form(request, owner, form)
    try:
        kept = memories_merge(owner=owner, merging=form.merging(), principal=principal_of(request))
    except StaleVersion:
        return _render_merge_form(
            request, owner, _rebased_form(form, _selected_memories(owner, request.GET)), stale=True
        )
    except Invalid as refused:
        form.add_error(None, refused.detail)
        return _render_merge_form(request, owner, form)
    others = len(memories) - 1
    said = ngettext(
        "Merged: this memory supersedes %(n)s other. You can undo it below.",
        "Merged: this memory supersedes %(n)s others. You can undo it below.",
        others,
    )
    messages.success(request, said % {"n": others})
    return redirect("memory", id_=kept.id)


def _is_valid(form: MergeForm) -> bool:
    """Return whether the form is valid, and all texts can be read; the form says what is wrong."""
    if form.is_valid() and (missing := len(form.unreadable)):
        said = ngettext(
            "%(n)s of the texts cannot be read now. Nothing was merged. Try again later, or merge the others.",
            "%(n)s of the texts cannot be read now. Nothing was merged. Try again later, or merge the others.",
            missing,
        )
        form.add_error(None, said % {"n": missing})
    return form.is_valid()


@require_POST
def unmerge(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Undo the last merge into a memory. Raises StaleVersion."""
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    form = VersionForm(request.POST)
    if form.is_valid():
        version = form.cleaned_data["version"]
        try:
            memories_unmerge(memory=memory, expected_version=version, principal=principal_of(request))
        except Conflict as refused:
            messages.info(request, refused.detail)
        else:
            messages.success(request, _("Restored: all memories are active again."))
    return redirect("memory", id_=id_)


def _selected_memories(owner: Owner, query: QueryDict) -> list[Memory]:
    """Return the current memories whose ids are in the query string, in its order."""
    ids = parse_ids(query.getlist("memory"))[:MAX_MERGED]
    found = listed(memories_of(owner).filter(IS_CURRENT, id__in=ids).defer(*SLOTS, "search")).in_bulk()
    return [found[id_] for id_ in ids if id_ in found]


def _render_candidates(request: HttpRequest, owner: Owner, memories: list[Memory]) -> HttpResponse:
    form = SearchForm(request.GET)
    query = form.cleaned_data["q"] if form.is_valid() else ""
    rows = listed(memories_of(owner).filter(IS_CURRENT).defer(*SLOTS, "search"))
    context = {
        **owner_page_context(request, owner),
        "form": form,
        "query": query,
        "pairs": [] if query else likely_duplicates(owner),
        "found": nearest(rows, embed_query(query), MAX_OFFERED)
        if query
        else rows.order_by("-created", "-id")[:MAX_OFFERED],
        "chosen": {memory.id for memory in memories},
    }
    return render(request, "memories/memory/duplicates.html", context)


def _render_merge_form(request: HttpRequest, owner: Owner, form: MergeForm, *, stale: bool = False) -> HttpResponse:
    context: dict[str, Any] = {**owner_page_context(request, owner), "form": form, "stale": stale}
    status = StaleVersion.status if stale else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/memory/merge.html", context, status=status)


def _rebased_form(form: MergeForm, memories: list[Memory]) -> MergeForm:
    """Return the form with what was typed, for the memories as another person changed them."""
    data = form.data.copy()  # type: ignore[attr-defined]
    data["seen"] = format_seen_versions(memories)
    return MergeForm(data, memories=memories)
