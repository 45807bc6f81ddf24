"""Home: what needs me, what is mine, what changed lately and by whom, which contexts may need a look."""

from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agents.models import Agent
from assembly.models import Alert, Assembly
from config.pages.changes import changes_lately
from config.pages.drafts import kept_drafts
from config.pages.room import files_over_room
from teams.models import Membership, Team
from teams.principal import Principal
from teams.views.asking import asking

DRAFTS, FULL_FILES, CONTEXTS, OWNED = 5, 5, 5, 12


def home(request: HttpRequest) -> HttpResponse:
    """What the person comes back to."""
    principal = asking(request)
    contexts = Assembly.objects.visible_to(principal).filter(~Q(warnings=[]) | Q(truncated=True))
    drafts = kept_drafts(principal)
    context = {
        "drafts": drafts[:DRAFTS],
        "more_drafts": len(drafts) > DRAFTS,
        "full_files": files_over_room(principal)[:FULL_FILES],
        **_owned(principal),
        "days": changes_lately(principal),
        "alerts_waiting": Alert.objects.visible_to(principal).waiting().count(),
        "contexts": contexts.listed().order_by("-created", "-id")[:CONTEXTS],
    }
    return render(request, "pages/home.html", context)


def _owned(principal: Principal) -> dict[str, Any]:
    """The agents and teams that the person sees, those of the person's own teams first."""
    own = Membership.objects.filter(user_id=principal.id)
    agents = Agent.objects.visible_to(principal).annotate(
        mine=Exists(own.filter(team__agent_links__agent=OuterRef("pk")))
    )
    teams = Team.objects.visible_to(principal).annotate(mine=Exists(own.filter(team=OuterRef("pk"))))
    return {name: rows.order_by("-mine", "name")[:OWNED] for name, rows in (("agents", agents), ("teams", teams))}
