"""The pages of trends: of the organisation as far as somebody sees it, of a team, of an agent."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.access import agent_for
from assembly.models import Alert
from assembly.monitoring.trends.presentation import charts, files_cut, sources_in_trouble, unused_sentence
from assembly.monitoring.trends.reading import Period, Trend, find_unused_memories, load_trend
from config.http.errors import Invalid
from teams.access import principal_of, team_for

SPANS = (7, 30, 90)
SPAN = 30


def trends(request: HttpRequest) -> HttpResponse:
    """Of all contexts that the person may read."""
    return _page(request, {}, {})


def team_trends(request: HttpRequest, slug: str) -> HttpResponse:
    """Of the contexts in a team."""
    team = team_for(principal_of(request), slug)
    return _page(request, {"team_id": team.id}, {"team": team.slug}, team=team, whose=team.name)


def agent_trends(request: HttpRequest, slug: str) -> HttpResponse:
    """Of the contexts of an agent."""
    agent = agent_for(principal_of(request), slug)
    return _page(request, {"agent_id": agent.id}, {"agent": agent.slug}, agent=agent, whose=agent.name)


def _page(request: HttpRequest, scope: dict[str, UUID], asked: dict[str, str], **facts: Any) -> HttpResponse:
    principal = principal_of(request)
    days = _span(request.GET.get("days", ""))
    period = Period.last(days)
    trend = load_trend(principal, period, **scope)
    total = trend.total
    names = files_cut(total)
    unused = find_unused_memories(principal, period.since, **scope)
    context = {
        **facts,
        "days": days,
        "spans": SPANS,
        "period": period,
        "total": total.tally,
        "headline": _headline(trend, facts.get("whose", "")),
        "charts": charts(trend, asked, names),
        "files": list(names.values()),
        "sources": sources_in_trouble(total),
        "unused": unused,
        "unused_told": unused_sentence(unused.kept, unused.unused, days),
        "waiting": Alert.objects.visible_to(principal).filter(**scope).waiting().count(),
        "asked": asked,
    }
    return render(request, "assembly/monitoring/trends/trends.html", context)


def _headline(trend: Trend, whose: str) -> str:
    n, days = trend.total.tally.contexts, len(trend.period)
    facts = {"n": f"{n:,}", "days": days, "whose": whose}
    if not n:
        return _("No context was made in the last %(days)s days") % facts
    if whose:
        told = ngettext("One context of %(whose)s in %(days)s days", "%(n)s contexts of %(whose)s in %(days)s days", n)
        return told % facts
    return ngettext("One context in %(days)s days", "%(n)s contexts in %(days)s days", n) % facts


def _span(text: str) -> int:
    if text in {"", *map(str, SPANS)}:
        return int(text or SPAN)
    raise Invalid("days", _("Choose 7, 30 or 90 days."))
