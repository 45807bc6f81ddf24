"""The page that compares any two contexts."""

import re
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from agents.models import Agent
from assembly.access import assembly_for
from assembly.comparison.explain import compare_records
from assembly.comparison.presentation import explained_page
from assembly.models import Assembly, AssemblyQuerySet
from config.http.errors import NotFound
from teams.access import principal_of
from teams.models import Team
from teams.principal import Principal

ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
PICKED = 2
MAX_SUGGESTIONS = 20
"""The number of newest contexts that are offered as choices."""
LISTED = ("id", "created", "agent_id", "agent_name", "team_id", "team_name", "topic", "tokens", "budget", "sensitivity")


def compare(request: HttpRequest) -> HttpResponse:
    """Show both contexts side by side; if one is missing, offer contexts to choose from."""
    principal = principal_of(request)
    if picked := request.GET.getlist("pick"):
        return _picked(request, picked)
    before, after = (_find_context(principal, request.GET.get(name, "")) for name in ("before", "after"))
    faults = [found for found in (before, after) if isinstance(found, str)]
    if isinstance(before, Assembly) and isinstance(after, Assembly):
        return _comparison_page(request, before, after)
    if before is None and isinstance(after, Assembly):
        return redirect(f"{reverse('context_compare')}?{urlencode({'before': str(after.id)})}")
    first = before if isinstance(before, Assembly) else None
    return _choice_page(request, principal, first, faults)


def _picked(request: HttpRequest, picked: list[str]) -> HttpResponse:
    """Lead from the list to the comparison of the two contexts that were selected in it, the older one first."""
    principal = principal_of(request)
    found = [context for text in picked if isinstance(context := _find_context(principal, text), Assembly)]
    if len(found) != len(picked) or len(found) != PICKED:
        messages.error(request, _("Select two contexts to compare them."))
        return redirect("context_list")
    older, newer = sorted(found, key=lambda context: context.created)
    query = urlencode({"before": str(older.id), "after": str(newer.id)})
    return redirect(f"{reverse('context_compare')}?{query}")


def _find_context(principal: Principal, text: str) -> Assembly | str | None:
    """Return the context with this id or address; None for an empty text; else an error message."""
    if not text.strip():
        return None
    found = ID.search(text)
    if found is None:
        return _("No context found. Paste its URL or ID.")
    try:
        return assembly_for(principal, UUID(found[0]))
    except NotFound:
        return _("Context not found. Check the URL and your permissions.")


def _comparison_page(request: HttpRequest, before: Assembly, after: Assembly) -> HttpResponse:
    """Return the page of both contexts, with what changed between them."""
    found = compare_records(before, after)
    agent = Agent.objects.filter(id=before.agent_id).first() if before.agent_id == after.agent_id else None
    both_in = before.team_id if before.team_id == after.team_id else None
    team = Team.objects.filter(id=both_in).first() if both_in else None
    page = {
        "before": before,
        "after": after,
        "is_backward": after.created < before.created,
        **explained_page(found, agent, team),
    }
    return render(request, "assembly/comparison/two_contexts.html", page)


def _choice_page(
    request: HttpRequest, principal: Principal, before: Assembly | None, faults: list[str]
) -> HttpResponse:
    contexts = Assembly.objects.visible_to(principal).order_by("-created", "-id")
    if before:
        contexts = contexts.filter(agent_id=before.agent_id).exclude(id=before.id)
    page: dict[str, Any] = {
        "before": before,
        "contexts": _suggestion_rows(contexts),
        "fault": faults[0] if faults else "",
        "typed": request.GET.get("after", ""),
    }
    return render(request, "assembly/comparison/choose_two.html", page, status=404 if faults else 200)


def _suggestion_rows(contexts: AssemblyQuerySet) -> list[Assembly]:
    return list(contexts.only(*LISTED)[:MAX_SUGGESTIONS])
