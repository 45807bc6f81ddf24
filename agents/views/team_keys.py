"""The keys of the agents in a team: which of them reach it, decided by the team's admins."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.key_grants import key_grant, key_in_team, key_withdraw, keys_in_team, keys_reaching
from agents.models import ApiKey
from teams.access import Action, team_for
from teams.views.asking import asking


def team_keys(request: HttpRequest, slug: str) -> HttpResponse:
    """The usable keys of the team's agents, with what each may do and whether it reaches the team."""
    team = team_for(asking(request), slug, Action.MANAGE)
    reaching, labels = keys_reaching(team), dict(ApiKey.Scope.choices)
    rows = [
        {"key": key, "reaches": key.id in reaching, "scopes": [labels[scope] for scope in key.scopes]}
        for key in keys_in_team(team)
    ]
    return render(request, "agents/team_keys.html", {"team": team, "rows": rows})


@require_POST
def grant(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Let a key reach the team."""
    principal = asking(request)
    team = team_for(principal, slug, Action.MANAGE)
    key = key_in_team(team, key_id)
    key_grant(key=key, team=team, principal=principal)
    messages.success(request, _("The key %(key)s reaches %(team)s now.") % {"key": key, "team": team.name})
    return redirect("team_keys", slug=slug)


@require_POST
def withdraw(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Let a key reach the team no longer."""
    principal = asking(request)
    team = team_for(principal, slug, Action.MANAGE)
    key = key_in_team(team, key_id)
    key_withdraw(key=key, team=team, principal=principal)
    messages.success(request, _("The key %(key)s does not reach %(team)s any more.") % {"key": key, "team": team.name})
    return redirect("team_keys", slug=slug)
