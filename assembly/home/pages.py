"""This module has the start page, and the pages of an agent, a team and a memory, which show data of several apps."""

import datetime
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.access import agent_for
from agents.access import is_permitted as may_agent
from agents.guidance import AGENT_FILES
from agents.log_calendar import CalendarDay, load_days
from agents.models import Agent
from agents.services import agent_files_ensure
from assembly.conflicts.counts import recount_open_conflicts
from assembly.home.checklist import first_steps
from assembly.home.draft_list import draft_rows
from assembly.home.file_cards import file_cards, find_oversized_files
from assembly.home.recent_changes import find_recent_changes
from assembly.models import Alert, Assembly, AssemblyQuerySet
from assembly.records.usage import memory_uses
from assembly.records.warnings import load_outcome_bodies
from config.http.cursors import next_page_url, page_of
from memories.access import memory_for
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.listed_texts import listed
from memories.lifecycle.use_counts import thing_opened
from memories.models import Memory, MemoryVersion
from memories.search.item_counts import item_counts
from memories.services import last_merge, memories_of, owner_of
from memories.views.agent_item import owner_page_context
from teams.access import is_permitted as may_team
from teams.access import principal_of, team_for
from teams.guidance import TEAM_FILES
from teams.models import Membership, Team, User
from teams.principal import Action, Principal


def _newest(contexts: AssemblyQuerySet, most: int) -> list[Assembly]:
    """Return the newest of the contexts with the fields of a row."""
    found = list(contexts.listed().order_by("-created", "-id")[:most])
    load_outcome_bodies(found)
    return found


DRAFTS, FULL_FILES, HOME_CONTEXTS, OWNED = 5, 5, 5, 12


def home(request: HttpRequest) -> HttpResponse:
    """Show the start page: what needs the person's attention, their agents and teams, and recent changes."""
    principal = principal_of(request)
    contexts = Assembly.objects.for_agents().visible_to(principal).filter(~Q(warnings=[]) | Q(truncated=True))
    drafts = draft_rows(principal)
    context = {
        "drafts": drafts[:DRAFTS],
        "more_drafts": len(drafts) > DRAFTS,
        "full_files": find_oversized_files(principal)[:FULL_FILES],
        **_visible_owners(principal),
        "days": find_recent_changes(principal),
        "alerts_waiting": Alert.objects.visible_to(principal).waiting().count(),
        "open_conflicts": recount_open_conflicts(cast("User", request.user)),
        "contexts": _newest(contexts, HOME_CONTEXTS),
    }
    if principal.is_admin and not cast("User", request.user).hides_first_steps:
        steps = first_steps(request.build_absolute_uri("/").rstrip("/"))
        context["steps"] = steps if not all(step.is_done for step in steps) else ()
    return render(request, "assembly/home/home.html", context)


@require_POST
def first_steps_hide(request: HttpRequest) -> HttpResponse:
    """Hide the checklist of first steps on the person's start page."""
    User.objects.filter(id=cast("User", request.user).id).update(hides_first_steps=True)
    messages.success(request, _("Checklist hidden."))
    return redirect("home")


def _visible_owners(principal: Principal) -> dict[str, Any]:
    """Return the agents and teams that the person sees, those of the person's own teams first."""
    own = Membership.objects.filter(user_id=principal.id)
    agents = Agent.objects.visible_to(principal).annotate(
        mine=Exists(own.filter(team__agent_links__agent=OuterRef("pk")))
    )
    teams = Team.objects.visible_to(principal).annotate(mine=Exists(own.filter(team=OuterRef("pk"))))
    return {name: rows.order_by("-mine", "name")[:OWNED] for name, rows in (("agents", agents), ("teams", teams))}


DAYS, AGENT_MEMORIES, AGENT_CONTEXTS = 14, 6, 6


def agent_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an agent."""
    principal = principal_of(request)
    agent = agent_for(principal, slug)
    agent_files_ensure(agent)
    contexts = Assembly.objects.for_agents().visible_to(principal).filter(agent_id=agent.id)
    context = {
        "agent": agent,
        "may_edit": may_agent(principal, agent, Action.EDIT),
        "may_manage": may_agent(principal, agent, Action.MANAGE),
        "cards": file_cards(principal, agent.files.all(), AGENT_FILES, "agent_file", agent),
        "teams": Team.objects.visible_to(principal).filter(agent_links__agent=agent).order_by("name"),
        "days": _days(agent),
        "kept": item_counts(agent),
        "memories": listed(memories_of(agent))
        .defer(*SLOTS)
        .annotate(at=Coalesce("occurred_at", "created"))
        .order_by("-at", "-id")[:AGENT_MEMORIES],
        "contexts": _newest(contexts, AGENT_CONTEXTS),
    }
    return render(request, "assembly/home/agent.html", context)


def _days(agent: Agent) -> list[CalendarDay]:
    """Return the last days up to today in the agent's time zone, oldest first."""
    today = agent.today(timezone.now())
    return load_days(agent, today - datetime.timedelta(days=DAYS - 1), today)


TEAM_MEMORIES, TEAM_CONTEXTS = 6, 6


def team_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a team."""
    principal = principal_of(request)
    team = team_for(principal, slug)
    contexts = Assembly.objects.for_agents().visible_to(principal).filter(team_id=team.id)
    context = {
        "team": team,
        "may_edit": may_team(principal, team, Action.EDIT),
        "may_manage": may_team(principal, team, Action.MANAGE),
        "cards": file_cards(principal, team.files.all(), TEAM_FILES, "team_file", team),
        "memberships": team.memberships.select_related("user").order_by("user__name", "user__username"),
        "agents": Agent.objects.filter(team_links__team=team).order_by("name"),
        "memories": listed(memories_of(team))
        .defer(*SLOTS)
        .annotate(at=Coalesce("occurred_at", "created"))
        .order_by("-at", "-id")[:TEAM_MEMORIES],
        "contexts": _newest(contexts, TEAM_CONTEXTS),
    }
    return render(request, "assembly/home/team.html", context)


VERSIONS, PREDECESSORS, USES = 6, 20, "20"


def memory_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a memory."""
    principal = principal_of(request)
    memory = memory_for(principal, id_)
    thing_opened(memory)
    uses = memory_uses(memory, principal)
    found, cursor = page_of(uses.contexts, {"limit": USES, **request.GET.dict()})
    decided = uses.decisions_by_context(found)
    context = {
        **owner_page_context(request, owner_of(memory)),
        "memory": memory,
        "successor": listed(Memory.objects.filter(supersedes=memory)).defer(*SLOTS, "search").first(),
        "predecessors": listed(memory.supersedes.defer(*SLOTS, "search")).order_by("id")[:PREDECESSORS],
        "merging": last_merge(memory),
        "versions": list(MemoryVersion.objects.filter(file=memory)[:VERSIONS]),
        "more_versions": memory.version > VERSIONS,
        "uses": uses,
        "contexts": [(context, decided[context.id]) for context in found],
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/home/memory.html", context)
