"""The pages of agents: the list, a new agent, and the settings for its admins."""

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
from config.http.errors import Conflict, Invalid
from teams.access import principal_of, require_admin
from teams.forms import DeletionForm
from teams.legal_holds import HeldByLaw, hold_on
from teams.models import Team, admins_of
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion

PER_PAGE = 60


def agent_list(request: HttpRequest) -> HttpResponse:
    """Show the agents that the person may read, by name."""
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
    """Create an agent, as an organisation admin."""
    principal = principal_of(request)
    require_admin(principal)
    form = AgentForm(request.POST or None, principal=principal)
    if request.method == "POST" and form.is_valid():
        try:
            agent = agent_create(**form.cleaned_data, principal=principal)
        except Conflict:
            form.add_error("slug", _("An agent with this slug exists. Choose another slug."))
        except Invalid as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, _("Agent created. Next: write its Identity."))
            return redirect("agent_page", slug=agent.slug)
    return render(request, "agents/agent_new.html", {"form": form}, status=422 if form.errors else 200)


def agent_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and change an agent's name, time zone, context profile and teams."""
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
                    "Someone changed these settings meanwhile. Your changes are not saved; they are below. "
                    "Save again to apply them."
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
    """Ask for confirmation, and delete the agent. If the agent works in other teams too, show who can delete it."""
    principal = principal_of(request)
    agent = agent_for(principal, slug, Action.MANAGE)
    form = DeletionForm(request.POST or None, slug=slug)
    if request.method == "POST" and form.is_valid():
        try:
            agent_delete(agent=agent, principal=principal)
        except HeldByLaw as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(
                request, _("Agent %(name)s deleted. Records of its contexts are retained.") % {"name": agent.name}
            )
            return redirect("agent_list")
    if not manages_all_teams(principal, agent):
        return render(request, "agents/delete_shared.html", {"agent": agent, **_other_teams_context(agent, principal)})
    facts = {"agent": agent, "form": form, "hold": hold_on("agents", agent.id)}
    return render(request, "agents/delete.html", facts, status=422 if form.errors else 200)


def _other_teams_context(agent: Agent, principal: Principal) -> dict[str, Any]:
    """Return the teams of the agent that the person does not administer, with their admins, for the page."""
    others = unmanaged_teams(principal, agent)
    visible = others.filter(id__in=Team.objects.visible_to(principal).values("id")).order_by("name")
    rows = [{"team": team, "admins": list(admins_of(team))} for team in visible]
    return {"rows": rows, "has_unseen": others.count() > len(rows)}


def _with_newest_version(request: HttpRequest, version: int) -> QueryDict:
    """Return the values that were sent, based on the newest version."""
    sent = request.POST.copy()
    sent["version"] = str(version)
    return sent


def _form_values(agent: Agent) -> dict[str, Any]:
    facts = {name: getattr(agent, name) for name in ("version", "name", "timezone", "profile", "clearance")}
    return {**facts, "teams": list(agent.teams.all())}


def _service_arguments(chosen: dict[str, Any], agent: Agent, principal: Principal) -> dict[str, Any]:
    """Return the arguments of the service; teams of which the person is no admin remain."""
    others = set(agent.teams.all()) - set(Team.objects.manageable_by(principal))
    return {
        "expected_version": chosen["version"],
        "name": chosen["name"],
        "timezone": chosen["timezone"],
        "profile": chosen["profile"],
        "clearance": chosen["clearance"],
        "teams": [*others, *chosen["teams"]],
        "principal": principal,
    }


def _redirect_back(principal: Principal, slug: str) -> HttpResponse:
    # Who took the agent out of the last team that both are in does not see it any more.
    seen = Agent.objects.visible_to(principal).filter(slug=slug).exists()
    return redirect("agent_page", slug=slug) if seen else redirect("agent_list")
