"""The list of agents, and new ones."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from agents.forms import AgentForm
from agents.models import Agent
from agents.services import agent_create
from config.http.errors import Conflict
from teams.access import require_admin
from teams.models import Team
from teams.views.asking import asking

PER_PAGE = 60


def agent_list(request: HttpRequest) -> HttpResponse:
    """The agents that the person may read, by name."""
    principal = asking(request)
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
    principal = asking(request)
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
