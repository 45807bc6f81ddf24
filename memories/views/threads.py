"""The view in this module resolves a thread, or makes it active again."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.access import agent_for
from memories.forms import VersionForm
from memories.models import ThreadStatus
from memories.services.item_hooks import thread_update
from memories.views.agent_item import find_item
from memories.views.item_kinds import THREAD
from teams.access import principal_of
from teams.principal import Action


@require_POST
def toggle_status(request: HttpRequest, slug: str, thing_id: UUID) -> HttpResponse:
    """Resolve an active thread, or make a resolved one active. Raises StaleVersion."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    thread = find_item(THREAD, agent, thing_id)
    form = VersionForm(request.POST)
    if form.is_valid():
        active = thread.status == ThreadStatus.ACTIVE
        thread_update(
            thing=thread,
            expected_version=form.cleaned_data["version"],
            changes={"status": ThreadStatus.RESOLVED if active else ThreadStatus.ACTIVE},
            principal=principal_of(request),
        )
        said = _("“%(name)s” resolved. You can reopen it.") if active else _("“%(name)s” reopened.")
        messages.success(request, said % {"name": thread.title})
    return redirect("threads", slug=slug)
