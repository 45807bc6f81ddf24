"""These views edit, pin, retire or restore one memory; `assembly.home.pages` shows the memory."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from config.http.errors import Invalid
from memories.access import memory_for
from memories.forms import MemoryEditForm, RetireForm, VersionForm
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, facts_of, memory_update, owner_of
from memories.views.agent_item import owner_page_context
from teams.access import principal_of
from teams.principal import Action
from teams.versioned_text.presentation import add_save_message
from teams.versioned_text.versioned_file import StaleVersion


def memory_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the form of a memory, and save its changes.

    Where another person saved meanwhile, the page shows that version next to what was typed.
    """
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    form = MemoryEditForm(request.POST if request.method == "POST" else None, stored=memory)
    if request.method != "POST" or not form.is_valid():
        return _render_form(request, memory, form)
    based_on = form.cleaned_data["version"]
    try:
        saved = save_changes(request, memory, based_on, facts=form.facts(), note=form.cleaned_data["note"])
    except StaleVersion as stale:
        return _render_form(request, memory, form.based_on(stale.current), theirs=_newest_version(memory))
    except Invalid as refused:
        form.add_error("note" if "note" in refused.extra["errors"] else "text", refused.detail)
        return _render_form(request, memory, form)
    add_save_message(request, saved.version, based_on)
    return redirect("memory", id_=id_)


@require_POST
def memory_pin(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Pin a memory, or unpin a pinned one. Raises StaleVersion."""
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    form = VersionForm(request.POST)
    if form.is_valid():
        try:
            saved = save_changes(request, memory, form.cleaned_data["version"], pinned=not memory.pinned)
        except Invalid as refused:
            messages.error(request, refused.detail)
        else:
            said = _("Memory pinned.") if saved.pinned else _("Memory unpinned.")
            messages.success(request, said)
    return redirect("memory", id_=id_)


def memory_retire(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for the reason, and retire the memory. Raises StaleVersion."""
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    form = RetireForm(request.POST if request.method == "POST" else None, initial={"version": memory.version})
    if request.method == "POST" and form.is_valid():
        try:
            save_changes(request, memory, form.cleaned_data["version"], retired_because=form.cleaned_data["reason"])
        except Invalid as refused:
            form.add_error("reason", refused.detail)
        else:
            messages.success(request, _("Memory archived."))
            return redirect("memory", id_=id_)
    context = {**_page_context(request, memory), "form": form}
    return render(request, "memories/memory/retire.html", context, status=422 if form.errors else 200)


@require_POST
def memory_restore(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Restore a retired memory. Raises StaleVersion."""
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    form = VersionForm(request.POST)
    if form.is_valid():
        save_changes(request, memory, form.cleaned_data["version"], retired_because="")
        messages.success(request, _("Memory restored."))
    return redirect("memory", id_=id_)


def save_changes(
    request: HttpRequest, memory: Memory, based_on: int, *, facts: MemoryFacts | None = None, **changes: Any
) -> Memory:
    """Save the changes of the memory, and return it; values that are not given stay. Raises StaleVersion, Invalid."""
    return memory_update(
        memory=memory,
        expected_version=based_on,
        facts=facts or facts_of(memory),
        superseded_by=memory.superseded_by,
        principal=principal_of(request),
        **changes,
    )


def _page_context(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    return {
        **owner_page_context(request, owner_of(memory)),
        "memory": memory,
        "back": reverse("memory", args=[memory.id]),
    }


def _render_form(
    request: HttpRequest, memory: Memory, form: MemoryEditForm, theirs: MemoryVersion | None = None
) -> HttpResponse:
    """Render the form as it was filled in; with `theirs`, next to the version that another person saved."""
    context = {**_page_context(request, memory), "form": form, "theirs": theirs}
    status = StaleVersion.status if theirs else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/memory/form.html", context, status=status)


def _newest_version(memory: Memory) -> MemoryVersion | None:
    return MemoryVersion.objects.filter(file=memory).first()
