"""This page shows a context as of a date, and how it differs from today's."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.access import agent_for
from agents.models import Agent
from assembly.comparison.side_by_side import ComparedContext
from assembly.contexts.exact_text import TextSection, all_text_sections
from assembly.engine.types import field_values
from assembly.simulation.time_travel.forms import AsOfForm
from assembly.simulation.time_travel.presentation import changes_since, headline, past_sections
from assembly.simulation.time_travel.services import (
    PastContext,
    assemble_as_of,
    assemble_unrecorded,
    find_nearest_contexts,
)
from config.http.errors import Invalid
from teams.access import principal_of
from teams.models import Team
from teams.principal import Principal
from teams.text_diff.comparison import compare_texts
from teams.versioned_text.presentation import Crumb


@require_safe
def as_of(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of the moment, and the context of the chosen moment."""
    principal = principal_of(request)
    agent = agent_for(principal, slug)
    teams = list(Team.objects.visible_to(principal).filter(agent_links__agent=agent).order_by("name", "slug"))
    form = _form(request, agent, teams)
    if not form.is_bound or not form.is_valid():
        return _page(request, agent, form)
    try:
        found = assemble_as_of(agent=agent, team=form.team, asked=form.asked, moment=form.moment, principal=principal)
        now = _now(agent, form) if form.cleaned_data["beside"] else None
    except Invalid as refused:
        for field in refused.extra["errors"]:
            form.add_error("day" if field == "at" else field if field in form.fields else None, refused.detail)
        return _page(request, agent, form)
    return _page(
        request, agent, form, **_page_context(principal, agent, form, found), **_comparison_with_now(found, now)
    )


def _form(request: HttpRequest, agent: Agent, teams: Sequence[Team]) -> AsOfForm:
    """Return the form as it was sent, or initially with values from the query string."""
    sent = request.GET.copy()
    known = {name: sent[name] for name in ("team", "topic", "profile", "max_tokens") if name in sent}
    return AsOfForm(sent if "day" in sent else None, agent=agent, teams=teams, initial=known)


def _page(request: HttpRequest, agent: Agent, form: AsOfForm, **facts: Any) -> HttpResponse:
    crumbs = (
        Crumb(_("Agents"), reverse("agent_list")),
        Crumb(agent.name, reverse("agent_page", args=[agent.slug])),
        Crumb(_("Actions"), reverse("agent_as_of", args=[agent.slug])),
    )
    page = {"agent": agent, "form": form, "crumbs": crumbs, **facts}
    return render(request, "assembly/simulation/time_travel/time_travel.html", page, status=422 if form.errors else 200)


def _now(agent: Agent, form: AsOfForm) -> ComparedContext:
    return assemble_unrecorded(agent=agent, team=form.team, asked=form.asked, now=timezone.now())


def _page_context(principal: Principal, agent: Agent, form: AsOfForm, found: PastContext) -> dict[str, Any]:
    """Return the context in the words of the page."""
    return {
        "found": found,
        "headline": headline(found, agent),
        "sections": past_sections(found.context, agent.slug, form.team.slug if form.team else ""),
        "pieces": _text_sections(found.context),
        "near": find_nearest_contexts(agent=agent, team=form.team, moment=found.moment, principal=principal),
    }


def _text_sections(made: ComparedContext) -> list[TextSection]:
    """Return the exact text by section."""
    return all_text_sections([field_values(section) for section in made.sections], made.decisions, made.content)


def _comparison_with_now(found: PastContext, now: ComparedContext | None) -> dict[str, Any]:
    """Return the differences from today's context, if they were requested."""
    if now is None:
        return {}
    difference = compare_texts(found.context.content, now.content, source=True)
    return {"now": now, "difference": difference, "changes": changes_since(found.context, now)}
