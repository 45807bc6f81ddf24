"""The pages of a team's files."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from config.http.errors import Forbidden
from teams.access import is_permitted, principal_of, team_for
from teams.guidance import TEAM_FILES
from teams.models import Team, TeamFile
from teams.principal import Action
from teams.versioned_text import views as document_history
from teams.versioned_text import views as versioned_text_views
from teams.versioned_text.editor import views as editor_views
from teams.versioned_text.presentation import Crumb, TextPage, save_as_person
from teams.versioned_text.versioned_file import file_save


def edit(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """The editor of a team's file; people who may only read are led to its newest version."""
    try:
        found = _document(request, slug, key, Action.EDIT)
    except Forbidden:
        if request.method == "POST":
            raise
        return redirect(_document(request, slug, key).current_address)
    return editor_views.edit(request, found, save_as_person(request, file_save, found.file))


def history(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show all versions of a team's file."""
    return document_history.history(request, _document(request, slug, key))


def version(request: HttpRequest, slug: str, key: str, number: int) -> HttpResponse:
    """Show a version of a team's file."""
    return document_history.version(request, _document(request, slug, key), number)


def compare(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show the difference of two versions of a team's file, or of a version and the draft."""
    return versioned_text_views.compare(request, _document(request, slug, key))


@require_POST
def restore(request: HttpRequest, slug: str, key: str, number: int) -> HttpResponse:
    """Restore an old version of a team's file."""
    found = _document(request, slug, key, Action.EDIT)
    return versioned_text_views.restore(request, found, number, save_as_person(request, file_save, found.file))


def _document(request: HttpRequest, slug: str, key: str, action: Action = Action.READ) -> TextPage:
    principal = principal_of(request)
    team = team_for(principal, slug, action)
    guidance = TEAM_FILES[key]
    address = reverse("team_file", args=[slug, key])
    return TextPage(
        file=get_object_or_404(TeamFile, team=team, file_key=key),
        guidance=guidance,
        key=key,
        heading=_("%(name)s of %(owner)s") % {"name": guidance.name, "owner": team.name},
        crumbs=(Crumb(_("Teams"), reverse("team_list")), Crumb(team.name, reverse("team_page", args=[slug]))),
        readers=_readers(team),
        edit_address=address,
        history_address=f"{address}history/",
        may_edit=action is Action.EDIT or is_permitted(principal, team, Action.EDIT),
    )


def _readers(team: Team) -> str:
    count = team.agent_links.count()
    if not count:
        return _("There are no agents in this team yet.")
    return ngettext(
        "Used by: %(count)s agent of this team",
        "Used by: %(count)s agents of this team",
        count,
    ) % {"count": count}
