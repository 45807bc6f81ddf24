"""The daily logs of an agent: a month as a calendar, the newest below, and a search over all of them."""

import re
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR

from agents.access import agent_for
from agents.forms import LogSearch
from agents.log_calendar import Month, month, month_of
from agents.log_search import highlighted, logs_found, passages_of
from agents.models import Agent, DailyLog
from config.http.cpu_budget import TookTooLong
from config.http.cursors import next_address, page_of
from config.http.fields import date_of
from teams.access import asking

LINES, CHARACTERS = 3, 600
PAGE = "14"
SIGNS = re.compile(r"^\s*(#{1,6}|[-*+>])\s+")


def logs(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest logs, those of a month, or those with some words; a date in the address leads to its day."""
    agent = agent_for(asking(request), slug)
    if date := date_of(request.GET.get("date", "")):
        return redirect("daily_log", slug=slug, date=date)
    named = month_of(request.GET.get("month", ""))
    shown = month(agent, named or agent.today(timezone.now()).replace(day=1))
    form = LogSearch(request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    context = {
        "agent": agent,
        "month": shown,
        "weekdays": [(WEEKDAYS[number], WEEKDAYS_ABBR[number]) for number in range(len(WEEKDAYS))],
        "named": named,
        "form": form,
        "words": words,
        **_listed(request, agent, shown if named else None, words),
    }
    return render(request, "agents/log_list.html", context)


def _listed(request: HttpRequest, agent: Agent, shown: Month | None, words: str) -> dict[str, Any]:
    if words:
        return _with_words(request, agent, words)
    rows: Any = _beginnings(agent)
    if shown:
        rows = rows.filter(date__range=(shown.first, shown.last))
    found, cursor = page_of(rows, {"limit": PAGE, **request.GET.dict()}, keys=("date",))
    for log in found:
        log.excerpt = _first_lines(log.beginning)
    return {"logs": found, "next": next_address(request.path, request.GET.dict(), cursor)}


def _with_words(request: HttpRequest, agent: Agent, words: str) -> dict[str, Any]:
    """A page of the logs with the words; or why they cannot be searched for."""
    try:
        found, cursor = page_of(logs_found(agent, words), {**request.GET.dict(), "limit": PAGE}, keys=("date",))
        passages = passages_of(found, words)
    except TookTooLong as late:
        return {"logs": [], "late": late.detail}
    for log in found:
        log.excerpt = highlighted("\n".join(_lines(passages.get(log.id, ""))))
    return {"logs": found, "next": next_address(request.path, request.GET.dict(), cursor)}


def _beginnings(agent: Agent) -> QuerySet[Any]:
    """All logs in which something stands, with no more than a list shows of it."""
    logs = DailyLog.objects.filter(agent=agent).exclude(content="")
    beginning: QuerySet[Any] = logs.annotate(beginning=Left("content", 2 * CHARACTERS)).defer("content")
    return beginning


def _first_lines(beginning: str) -> str:
    return "\n".join(_lines(beginning)[:LINES])[:CHARACTERS]


def _lines(text: str) -> list[str]:
    """The lines in which something is said, without the signs of headings, lists and quotes before them."""
    plain = (SIGNS.sub("", line).strip() for line in text.splitlines())
    return [line for line in plain if line]
