"""The page of an agent's daily logs has a month as a calendar, the newest logs, and a search over all logs."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR

from agents.access import agent_for
from agents.forms import LogSearch
from agents.log_calendar import CalendarMonth, load_month, parse_month
from agents.log_search import find_passages, highlight, search_logs
from agents.models import Agent, DailyLog
from config.http.cpu_budget import TookTooLong
from config.http.cursors import next_page_url, page_of
from config.http.serializers import parse_date
from teams.access import principal_of
from teams.sealing.fields import Beginning
from teams.text_diff.markdown import plain_line

PREVIEW_LINES, PREVIEW_CHARACTERS = 3, 600
PER_PAGE = "14"


def logs(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the newest logs, those of a month, or those with some words. A date in the query redirects to its day."""
    agent = agent_for(principal_of(request), slug)
    if date := parse_date(request.GET.get("date", "")):
        return redirect("daily_log", slug=slug, date=date)
    named = parse_month(request.GET.get("month", ""))
    shown = load_month(agent, named or agent.today(timezone.now()).replace(day=1))
    form = LogSearch(request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    context = {
        "agent": agent,
        "month": shown,
        "weekdays": [(WEEKDAYS[number], WEEKDAYS_ABBR[number]) for number in range(len(WEEKDAYS))],
        "named": named,
        "form": form,
        "words": words,
        **_list_context(request, agent, shown if named else None, words),
    }
    return render(request, "agents/log_list.html", context)


def _list_context(request: HttpRequest, agent: Agent, shown: CalendarMonth | None, words: str) -> dict[str, Any]:
    if words:
        return _search_context(request, agent, words)
    rows: Any = _log_previews(agent)
    if shown:
        rows = rows.filter(date__range=(shown.first, shown.last))
    found, cursor = page_of(rows, {"limit": PER_PAGE, **request.GET.dict()}, keys=("date",))
    for log in found:
        log.excerpt = _first_lines(log.beginning)
    return {"logs": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}


def _search_context(request: HttpRequest, agent: Agent, words: str) -> dict[str, Any]:
    """Return a page of the logs that contain the words, or the reason why they cannot be searched."""
    try:
        found, cursor = page_of(search_logs(agent, words), {**request.GET.dict(), "limit": PER_PAGE}, keys=("date",))
        passages = find_passages(found, words)
    except TookTooLong as late:
        return {"logs": [], "late": late.detail}
    for log in found:
        log.excerpt = highlight("\n".join(_preview_lines(passages.get(log.id, ""))))
    return {"logs": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}


def _log_previews(agent: Agent) -> QuerySet[Any]:
    """Return all logs that are not empty, with the text that a list shows of them."""
    logs = DailyLog.objects.filter(agent=agent).exclude(content="")
    beginning: QuerySet[Any] = logs.annotate(beginning=Beginning("content", 2 * PREVIEW_CHARACTERS)).defer("content")
    return beginning


def _first_lines(beginning: str) -> str:
    return "\n".join(_preview_lines(beginning)[:PREVIEW_LINES])[:PREVIEW_CHARACTERS]


def _preview_lines(text: str) -> list[str]:
    """Return the lines that are not empty, without the Markdown signs of blocks, emphasis, code and links."""
    plain = (plain_line(line) for line in text.splitlines())
    return [line for line in plain if line]
