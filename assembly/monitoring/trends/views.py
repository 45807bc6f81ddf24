"""The page of trends, by agent, team, file and period, and its table of files over their limits as CSV."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.access import agent_for
from assembly.models import Alert
from assembly.monitoring.trends.filters import SPANS, TrendFilterForm
from assembly.monitoring.trends.presentation import (
    FileLossRow,
    charts,
    file_loss_rows,
    files_over_limit,
    sources_in_trouble,
    unused_sentence,
)
from assembly.monitoring.trends.reading import Period, Trend, find_unused_memories, load_file_losses, load_trend
from config.http.csv_files import csv_response
from config.http.errors import Invalid
from config.http.late_reads import may_be_late
from teams.access import principal_of, team_for
from teams.activity.log import export_record
from teams.models import Team

CSV_COLUMNS = (
    "day", "file", "contexts", "truncated", "excluded", "tokens_lost_min", "tokens_lost_mean", "tokens_lost_max",
)  # fmt: skip


@may_be_late
def trends(request: HttpRequest) -> HttpResponse:
    """Show the trends of the contexts that the person may read, or of those of an agent or a team."""
    return _page(request, _filters(request))


@may_be_late
def team_trends(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the trends of the contexts in a team."""
    team = team_for(principal_of(request), slug)
    return _page(request, _filters(request, team=team.slug), team=team)


@may_be_late
def agent_trends(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the trends of the contexts of an agent."""
    agent = agent_for(principal_of(request), slug)
    return _page(request, _filters(request, agent=agent.slug), agent=agent)


def file_losses_csv(request: HttpRequest) -> HttpResponse:
    """Return the table of files over their limits as CSV."""
    form = _filters(request)
    period = Period.last(form.cleaned_data["days"])
    losses = load_file_losses(principal_of(request), period, **form.scope, ref=form.cleaned_data["file"])
    rows = [_csv_row(row) for row in file_loss_rows(losses, form.asked)]
    principal = principal_of(request)
    seen = Team.objects.none() if principal.is_admin else Team.objects.visible_to(principal)
    export_record(principal, "files-over-limit.csv", rows=len(rows), team_ids=seen.values_list("id", flat=True))
    return csv_response("files-over-limit.csv", CSV_COLUMNS, rows)


def _csv_row(row: FileLossRow) -> tuple[object, ...]:
    loss = row.loss
    numbers = (loss.contexts, loss.truncated, loss.excluded, loss.least, round(loss.mean), loss.most)
    return (loss.day.isoformat(), row.name, *numbers)


def _filters(request: HttpRequest, **given: str) -> TrendFilterForm:
    """Return the valid filters of the request. Raises Invalid for values that are not among the choices."""
    form = TrendFilterForm({**request.GET.dict(), **given}, principal=principal_of(request))
    for name, errors in form.errors.items():
        raise Invalid(name, " ".join(map(str, errors)))
    return form


def _page(request: HttpRequest, form: TrendFilterForm, **facts: Any) -> HttpResponse:
    principal = principal_of(request)
    scope, asked, days, ref = form.scope, form.asked, form.cleaned_data["days"], form.cleaned_data["file"]
    period = Period.last(days)
    trend = load_trend(principal, period, **scope)
    total = trend.total
    names = files_over_limit(total)
    form.offer_files([(thing, named.name) for thing, named in names.items()])
    unused = find_unused_memories(principal, period.since, **scope)
    losses = load_file_losses(principal, period, **scope, ref=ref)
    owners = [form.cleaned_data[name] for name in ("agent", "team")]
    whose = " · ".join(owner.name for owner in owners if owner)
    context = {
        **facts,
        "form": form,
        "whose": whose,
        "days": days,
        "spans": SPANS,
        "period": period,
        "total": total.tally,
        "headline": _headline(trend, whose),
        "charts": charts(trend, asked, names),
        "losses": file_loss_rows(losses, asked),
        "csv_query": urlencode({**asked, "days": days, **({"file": ref} if ref else {})}),
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
        return _("No contexts in the last %(days)s days") % facts
    if whose:
        told = ngettext("%(whose)s: 1 context in %(days)s days", "%(whose)s: %(n)s contexts in %(days)s days", n)
        return told % facts
    return ngettext("1 context in %(days)s days", "%(n)s contexts in %(days)s days", n) % facts
