"""The page of an agent: its files, teams, days, what it keeps, and its contexts."""

import datetime

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from agents.access import agent_for
from agents.access import may as may_agent
from agents.calendar import Day, days_of
from agents.guidance import AGENT_FILES
from agents.models import Agent
from agents.services import agent_files_ensure
from assembly.models import Assembly
from config.pages.cards import file_cards
from memories.kept_counts import kept_counts
from memories.services import memories_of
from memories.spaces import SLOTS
from teams.access import Action
from teams.models import Team
from teams.views.asking import asking

DAYS, MEMORIES, CONTEXTS = 14, 6, 6


def agent_page(request: HttpRequest, slug: str) -> HttpResponse:
    """An agent, and what it would be told."""
    principal = asking(request)
    agent = agent_for(principal, slug)
    agent_files_ensure(agent)
    contexts = Assembly.objects.visible_to(principal).filter(agent_id=agent.id)
    context = {
        "agent": agent,
        "may_edit": may_agent(principal, agent, Action.EDIT),
        "may_manage": may_agent(principal, agent, Action.MANAGE),
        "cards": file_cards(principal, agent.files.all(), AGENT_FILES, "agent_file", agent.slug),
        "teams": Team.objects.visible_to(principal).filter(agent_links__agent=agent).order_by("name"),
        "days": _days(agent),
        "kept": kept_counts(agent),
        "memories": memories_of(agent)
        .defer(*SLOTS)
        .annotate(at=Coalesce("occurred_at", "created"))
        .order_by("-at", "-id")[:MEMORIES],
        "contexts": contexts.listed().order_by("-created", "-id")[:CONTEXTS],
    }
    return render(request, "pages/agent.html", context)


def _days(agent: Agent) -> list[Day]:
    """The last days up to today, where the agent works; oldest first."""
    today = agent.today(timezone.now())
    return days_of(agent, today - datetime.timedelta(days=DAYS - 1), today)
