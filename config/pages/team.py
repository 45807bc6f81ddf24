"""The page of a team: its files, people, agents and memories, and what its agents were told."""

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.models import Agent
from assembly.models import Assembly
from config.pages.cards import file_cards
from memories.services import memories_of
from memories.spaces import SLOTS
from teams.access import Action, team_for
from teams.access import may as may_team
from teams.guidance import TEAM_FILES
from teams.views.asking import asking

MEMORIES, CONTEXTS = 6, 6


def team_page(request: HttpRequest, slug: str) -> HttpResponse:
    """A team, and what its agents are told."""
    principal = asking(request)
    team = team_for(principal, slug)
    contexts = Assembly.objects.visible_to(principal).filter(team_id=team.id)
    context = {
        "team": team,
        "may_edit": may_team(principal, team, Action.EDIT),
        "may_manage": may_team(principal, team, Action.MANAGE),
        "cards": file_cards(principal, team.files.all(), TEAM_FILES, "team_file", team.slug),
        "memberships": team.memberships.select_related("user").order_by("user__name", "user__username"),
        "agents": Agent.objects.filter(team_links__team=team).order_by("name"),
        "memories": memories_of(team)
        .defer(*SLOTS)
        .annotate(at=Coalesce("occurred_at", "created"))
        .order_by("-at", "-id")[:MEMORIES],
        "contexts": contexts.listed().order_by("-created", "-id")[:CONTEXTS],
    }
    return render(request, "pages/team.html", context)
