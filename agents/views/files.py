"""The pages of an agent's files."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.access import agent_for, is_permitted
from agents.guidance import AGENT_FILES
from agents.models import AgentFile
from config.http.errors import Forbidden
from teams.access import principal_of
from teams.principal import Action
from teams.versioned_text import views as document_history
from teams.versioned_text import views as versioned_text_views
from teams.versioned_text.editor import views as editor_views
from teams.versioned_text.presentation import Crumb, TextPage, save_as_person
from teams.versioned_text.versioned_file import file_save


def edit(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """The editor of an agent's file; people who may only read are led to its newest version."""
    try:
        found = _document(request, slug, key, Action.EDIT)
    except Forbidden:
        if request.method == "POST":
            raise
        return redirect(_document(request, slug, key).current_address)
    return editor_views.edit(request, found, save_as_person(request, file_save, found.file))


def history(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show all versions of an agent's file."""
    return document_history.history(request, _document(request, slug, key))


def version(request: HttpRequest, slug: str, key: str, number: int) -> HttpResponse:
    """Show a version of an agent's file."""
    return document_history.version(request, _document(request, slug, key), number)


def compare(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show the difference of two versions of an agent's file, or of a version and the draft."""
    return versioned_text_views.compare(request, _document(request, slug, key))


@require_POST
def restore(request: HttpRequest, slug: str, key: str, number: int) -> HttpResponse:
    """Restore an old version of an agent's file."""
    found = _document(request, slug, key, Action.EDIT)
    return versioned_text_views.restore(request, found, number, save_as_person(request, file_save, found.file))


def _document(request: HttpRequest, slug: str, key: str, action: Action = Action.READ) -> TextPage:
    principal = principal_of(request)
    agent = agent_for(principal, slug, action)
    guidance = AGENT_FILES[key]
    address = reverse("agent_file", args=[slug, key])
    return TextPage(
        file=get_object_or_404(AgentFile, agent=agent, file_key=key),
        guidance=guidance,
        key=key,
        heading=_("%(name)s of %(owner)s") % {"name": guidance.name, "owner": agent.name},
        crumbs=(Crumb(_("Agents"), reverse("agent_list")), Crumb(agent.name, reverse("agent_page", args=[slug]))),
        readers=_("Used by: %(name)s") % {"name": agent.name},
        edit_address=address,
        history_address=f"{address}history/",
        may_edit=action is Action.EDIT or is_permitted(principal, agent, Action.EDIT),
    )
