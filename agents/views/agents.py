"""Pages: the list of agents, a new agent, and what its admins change."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max, Prefetch, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from agents.access import agent_for, manages_all_teams, unmanaged_teams
from agents.forms import AgentForm, AgentSettingsForm
from agents.models import Agent
from agents.services import agent_create, agent_delete, agent_update
from config.http.errors import Conflict
from teams.access import principal_of, require_admin
from teams.forms import DeletionForm
from teams.models import Team, admins_of
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion

PER_PAGE = 60


def agent_list(request: HttpRequest) -> HttpResponse:
    """The agents that the person may read, by name."""
    principal = principal_of(request)
    agents = (
        Agent.objects.visible_to(principal)
        .annotate(empty_files=Count("files", filter=Q(files__content="")), last_change=Max("files__updated_at"))
        .prefetch_related(Prefetch("teams", Team.objects.visible_to(principal).order_by("name")))
        .order_by("name", "slug")
    )
    page = Paginator(agents, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "agents/agent_list.html", {"page": page})


def agent_new(request: HttpRequest) -> HttpResponse:
    """A new agent, by an admin of the organisation."""
    principal = principal_of(request)
    require_admin(principal)
    form = AgentForm(request.POST or None, principal=principal)
    if request.method == "POST" and form.is_valid():
        try:
            agent = agent_create(**form.cleaned_data, principal=principal)
        except Conflict:
            form.add_error("slug", _("There is an agent with this short name already. Choose another."))
        else:
            messages.success(request, _("The agent is there. Say who it is in Identity."))
            return redirect("agent_page", slug=agent.slug)
    return render(request, "agents/agent_new.html", {"form": form}, status=422 if form.errors else 200)


def agent_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """An agent's name, time zone and teams."""
    principal = principal_of(request)
    agent = agent_for(principal, slug, Action.MANAGE)
    form = AgentSettingsForm(request.POST or None, initial=_form_values(agent), principal=principal)
    if request.method == "POST" and form.is_valid():
        try:
            agent_update(agent=agent, **_service_arguments(form.cleaned_data, agent, principal))
        except StaleVersion as stale:
            form.data = _with_newest_version(request, stale.current.version)
            form.add_error(
                None,
                _(
                    "Somebody changed these settings meanwhile. Nothing was saved yet; what you chose is below. "
                    "Save again to make it so."
                ),
            )
        else:
            messages.success(request, _("Saved."))
            return _redirect_back(principal, slug)
    visible = Team.objects.visible_to(principal).values("id")
    elsewhere = unmanaged_teams(principal, agent).filter(id__in=visible)
    context = {
        "agent": agent,
        "form": form,
        "elsewhere": elsewhere,
        "manages_all_teams": manages_all_teams(principal, agent),
    }
    return render(request, "agents/settings.html", context, status=422 if form.errors else 200)


def agent_delete_view(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks whether the agent shall go, and deletes it; where other teams share it, says who can decide that."""
    principal = principal_of(request)
    agent = agent_for(principal, slug, Action.MANAGE)
    form = DeletionForm(request.POST or None, slug=slug)
    if request.method == "POST" and form.is_valid():
        agent_delete(agent=agent, principal=principal)
        messages.success(
            request, _("The agent %(name)s is deleted. What it was told stays on record.") % {"name": agent.name}
        )
        return redirect("agent_list")
    if not manages_all_teams(principal, agent):
        return render(request, "agents/delete_shared.html", {"agent": agent, **_other_teams_context(agent, principal)})
    return render(request, "agents/delete.html", {"agent": agent, "form": form}, status=422 if form.errors else 200)


def _other_teams_context(agent: Agent, principal: Principal) -> dict[str, Any]:
    """The teams in which the agent works and that the person does not administer, with their admins."""
    others = unmanaged_teams(principal, agent)
    visible = others.filter(id__in=Team.objects.visible_to(principal).values("id")).order_by("name")
    rows = [{"team": team, "admins": list(admins_of(team))} for team in visible]
    return {"rows": rows, "has_unseen": others.count() > len(rows)}


def _with_newest_version(request: HttpRequest, version: int) -> QueryDict:
    """What was sent, now made from the newest version."""
    sent = request.POST.copy()
    sent["version"] = str(version)
    return sent


def _form_values(agent: Agent) -> dict[str, Any]:
    return {"version": agent.version, "name": agent.name, "timezone": agent.timezone, "teams": list(agent.teams.all())}


def _service_arguments(chosen: dict[str, Any], agent: Agent, principal: Principal) -> dict[str, Any]:
    """What the service is asked for; the teams that the person is no admin of stay as they are."""
    others = set(agent.teams.all()) - set(Team.objects.manageable_by(principal))
    return {
        "expected_version": chosen["version"],
        "name": chosen["name"],
        "timezone": chosen["timezone"],
        "teams": [*others, *chosen["teams"]],
        "principal": principal,
    }


def _redirect_back(principal: Principal, slug: str) -> HttpResponse:
    # Who took the agent out of the last team that both are in does not see it any more.
    seen = Agent.objects.visible_to(principal).filter(slug=slug).exists()
    return redirect("agent_page", slug=slug) if seen else redirect("agent_list")
