"""Exports: the page that says what is in one, and the download."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.access import agent_for
from memories.bundle.download import download_of
from memories.bundle.rooms import Scope
from memories.bundle.scopes import scope_of_agent, scope_of_everything, scope_of_team
from teams.access import team_for
from teams.views.asking import asking
from teams.views.document import Crumb


def agent_export(request: HttpRequest, slug: str) -> HttpResponse:
    """What the archive of an agent holds."""
    scope = _of_agent(request, slug)
    name = scope.agents[0].name
    crumbs = (Crumb(_("Agents"), reverse("agent_list")), Crumb(name, reverse("agent_page", args=[slug])))
    return _page(request, scope, kind="agent", name=name, address=f"{request.path}download/", crumbs=crumbs)


def agent_export_download(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The archive of an agent."""
    return download_of(_of_agent(request, slug))


def team_export(request: HttpRequest, slug: str) -> HttpResponse:
    """What the archive of a team holds."""
    scope = _of_team(request, slug)
    name = scope.teams[0].name
    crumbs = (Crumb(_("Teams"), reverse("team_list")), Crumb(name, reverse("team_page", args=[slug])))
    return _page(request, scope, kind="team", name=name, address=f"{request.path}download/", crumbs=crumbs)


def team_export_download(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The archive of a team."""
    return download_of(_of_team(request, slug))


def organisation_export(request: HttpRequest) -> HttpResponse:
    """What the archive of everything holds, for admins of the organisation."""
    scope = scope_of_everything(asking(request))
    return _page(request, scope, kind="organisation", name=_("everything"), address=f"{request.path}download/")


def organisation_export_download(request: HttpRequest) -> HttpResponseBase:
    """The archive of everything, for admins of the organisation."""
    return download_of(scope_of_everything(asking(request)))


def _of_agent(request: HttpRequest, slug: str) -> Scope:
    principal = asking(request)
    return scope_of_agent(agent_for(principal, slug), principal)


def _of_team(request: HttpRequest, slug: str) -> Scope:
    principal = asking(request)
    return scope_of_team(team_for(principal, slug), principal)


def _page(
    request: HttpRequest, scope: Scope, *, kind: str, name: str, address: str, crumbs: tuple[Crumb, ...] = ()
) -> HttpResponse:
    context = {"scope": scope, "kind": kind, "name": name, "crumbs": crumbs, "address": address}
    return render(request, "memories/export.html", context)
