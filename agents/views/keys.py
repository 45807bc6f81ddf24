"""The keys of an agent: listed, made and shown once, revoked."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from agents.access import agent_for, manages_all_teams
from agents.key_forms import ApiKeyForm
from agents.key_grants import teams_reached
from agents.keys import NOT_ALL_TEAMS, api_key_create, api_key_revoke
from agents.models import Agent, ApiKey
from config.http.errors import Forbidden
from teams.access import Action
from teams.views.asking import asking


@never_cache  # it may show a key
def keys(request: HttpRequest, slug: str) -> HttpResponse:
    """The keys of an agent; makes new ones, each shown once."""
    agent = _agent(request, slug)
    form = ApiKeyForm(request.POST or None)
    made, secret = None, ""
    if request.method == "POST" and form.is_valid():
        made, secret = api_key_create(agent=agent, **form.facts(), principal=asking(request))
        form = ApiKeyForm()
    labels = dict(ApiKey.Scope.choices)
    found, works_in, now = (
        list(agent.api_keys.order_by("revoked", "-created", "-id")),
        set(agent.teams.all()),
        timezone.now(),
    )
    reached = teams_reached(found)
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
    context = {"agent": agent, "form": form, "rows": rows, "made": made, "secret": secret}
    return render(request, "agents/keys.html", context, status=422 if form.errors else 200)


def revoke(request: HttpRequest, slug: str, key_id: UUID) -> HttpResponse:
    """Asks whether a key shall be of no use any more, and revokes it."""
    agent = _agent(request, slug)
    key = get_object_or_404(ApiKey, pk=key_id, agent=agent)
    if request.method == "POST":
        api_key_revoke(key=key, principal=asking(request))
        messages.success(request, _("The key %(name)s is of no use any more.") % {"name": key.name or key.lookup})
        return redirect("agent_keys", slug=slug)
    return render(request, "agents/key_revoke.html", {"agent": agent, "key": key})


def _agent(request: HttpRequest, slug: str) -> Agent:
    principal = asking(request)
    agent = agent_for(principal, slug, Action.MANAGE)
    if not manages_all_teams(principal, agent):
        raise Forbidden(_(NOT_ALL_TEAMS))
    return agent
