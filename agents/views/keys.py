"""The pages of API keys: those of an agent, those of a team, and all keys of the organisation."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from agents.access import agent_for, manages_all_teams
from agents.key_forms import AdminKeyForm, ApiKeyForm, KeyFilterForm
from agents.key_grants import key_grant, key_in_team, key_withdraw, keys_in_team, reaching_key_ids, teams_by_key
from agents.keys import NOT_ALL_TEAMS, api_key_create, api_key_revoke
from agents.models import Agent, ApiKey
from config.http.errors import Forbidden
from config.http.shown_once import show_once, take_shown_once
from teams.access import principal_of, require_admin, team_for
from teams.principal import Action


@never_cache  # it may show a key
def agent_keys(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the keys of an agent, and create keys, each shown once."""
    agent = _find_agent(request, slug)
    form = ApiKeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made, secret = api_key_create(agent=agent, **form.facts(), principal=principal_of(request))
        show_once(request, f"keys of {agent.pk}", name=made.name, secret=secret)
        return redirect("agent_keys", slug=slug)
    labels = dict(ApiKey.Scope.choices)
    found, works_in, now = (
        list(agent.api_keys.order_by("revoked", "-created", "-id")),
        set(agent.teams.all()),
        timezone.now(),
    )
    reached = teams_by_key(found)
    rows = [
        {
            "key": key,
            "scopes": [labels[scope] for scope in key.scopes],
            "teams": reached[key.id],
            "beyond": sorted(works_in - set(reached[key.id]), key=lambda team: team.name),
            "is_usable": key.is_usable(now),
        }
        for key in found
    ]
    created = take_shown_once(request, f"keys of {agent.pk}")
    context = {"agent": agent, "form": form, "rows": rows, "created": created}
    return render(request, "agents/keys.html", context, status=422 if form.errors else 200)


def agent_key_revoke(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Ask for confirmation, and revoke a key of the agent."""
    agent = _find_agent(request, slug)
    key = get_object_or_404(ApiKey, pk=key_id, agent=agent)
    if request.method == "POST":
        api_key_revoke(key=key, principal=principal_of(request))
        messages.success(request, _("API key “%(name)s” revoked.") % {"name": key.name or key.lookup})
        return redirect("agent_keys", slug=slug)
    return render(request, "agents/key_revoke.html", {"agent": agent, "key": key})


def _find_agent(request: HttpRequest, slug: str) -> Agent:
    principal = principal_of(request)
    agent = agent_for(principal, slug, Action.MANAGE)
    if not manages_all_teams(principal, agent):
        raise Forbidden(_(NOT_ALL_TEAMS))
    return agent


PER_PAGE = 50


@never_cache  # it may show a key
def key_list(request: HttpRequest) -> HttpResponse:
    """Show all keys, newest first, and create admin keys, each shown once."""
    principal = principal_of(request)
    require_admin(principal)
    form = AdminKeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made, secret = api_key_create(agent=None, **form.facts(), principal=principal)
        show_once(request, "admin keys", name=made.name, secret=secret)
        return redirect("key_list")
    filters, now = KeyFilterForm(request.GET or None), timezone.now()
    keys = filters.narrowed(ApiKey.objects.select_related("agent"), now).order_by("-created", "-id")
    page = Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
    found, labels = list(page.object_list), dict(ApiKey.Scope.choices)
    reached = teams_by_key(found)
    rows = [
        {
            "key": key,
            "teams": reached[key.id],
            "scopes": [labels[scope] for scope in key.scopes],
            "is_usable": key.is_usable(now),
        }
        for key in found
    ]
    created = take_shown_once(request, "admin keys")
    context = {"page": page, "rows": rows, "filters": filters, "form": form, "created": created}
    return render(request, "agents/key_list.html", context, status=422 if form.errors else 200)


def key_revoke(request: HttpRequest, key_id: UUID) -> HttpResponse:
    """Ask for confirmation, and revoke a key of an agent or an admin."""
    principal = principal_of(request)
    require_admin(principal)
    key = get_object_or_404(ApiKey.objects.select_related("agent"), pk=key_id)
    if request.method == "POST":
        api_key_revoke(key=key, principal=principal)
        messages.success(request, _("API key “%(name)s” revoked.") % {"name": key})
        return redirect("key_list")
    return render(request, "agents/key_revoke.html", {"agent": None, "key": key})


def team_keys(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the usable keys of the team's agents, with their scopes and whether they have access to the team."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    reaching, labels = reaching_key_ids(team), dict(ApiKey.Scope.choices)
    rows = [
        {"key": key, "reaches": key.id in reaching, "scopes": [labels[scope] for scope in key.scopes]}
        for key in keys_in_team(team)
    ]
    return render(request, "agents/team_keys.html", {"team": team, "rows": rows})


@require_POST
def team_key_grant(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Give a key access to the team."""
    principal = principal_of(request)
    team = team_for(principal, slug, Action.MANAGE)
    key = key_in_team(team, key_id)
    key_grant(key=key, team=team, principal=principal)
    messages.success(request, _("The key %(key)s now has access to %(team)s.") % {"key": key, "team": team.name})
    return redirect("team_keys", slug=slug)


@require_POST
def team_key_withdraw(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Remove a key's access to the team."""
    principal = principal_of(request)
    team = team_for(principal, slug, Action.MANAGE)
    key = key_in_team(team, key_id)
    key_withdraw(key=key, team=team, principal=principal)
    messages.success(request, _("The key %(key)s no longer has access to %(team)s.") % {"key": key, "team": team.name})
    return redirect("team_keys", slug=slug)
