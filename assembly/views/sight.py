"""What will the agents see? A context with a text that is not published yet, beside the one that they are told now."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from agents.models import Agent
from assembly.sight_forms import SightForm
from assembly.trial import Trial, trial
from assembly.views.sight_panel import panel
from assembly.views.sight_subject import Subject, agent_file_subject, daily_log_subject, team_file_subject
from assembly.views.sight_wishes import (
    Wish,
    Written,
    default_wish,
    remember_topic,
    sight_form,
    wished,
    written_by,
)
from assembly.views.sight_words import headline, sight_lists, sight_rows, tone, troubles
from config.http.errors import Invalid
from teams.differences.comparison import compared
from teams.views.asking import asking

MOST_AGENTS = 20
"""Of a team that are looked at together."""
SECONDS = 3.0
"""After this time no further agent is begun."""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """What the text changes for one agent of the team."""

    agent: Agent
    headline: str
    tone: str
    before: int
    after: int


def team_file(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Of a team's file, for one of the agents that read it, or for all."""
    return _sight(request, team_file_subject(asking(request), slug, key))


def agent_file(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Of an agent's file."""
    return _sight(request, agent_file_subject(asking(request), slug, key))


def daily_log(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Of the log of an agent's day."""
    return _sight(request, daily_log_subject(asking(request), slug, date))


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def _sight(request: HttpRequest, subject: Subject) -> HttpResponse:
    written = written_by(request, subject)
    if request.method == "GET" and request.headers.get("HX-Request"):
        return panel(request, subject, written)
    form = sight_form(request, subject)
    faulty = bool(written.fault or (subject.agents and form.errors))
    if faulty or not subject.agents:
        return _page(request, subject, written, form, status=422 if faulty else 200)
    wish = wished(form, subject) if form.is_bound else default_wish(request, subject)
    remember_topic(request, wish.asked.topic)
    try:
        found = _found(subject, written, wish)
    except Invalid as refused:
        return _page(request, subject, written, form, status=422, refused=refused.detail)
    return _page(request, subject, written, form, wish=wish, **found)


def _page(
    request: HttpRequest, subject: Subject, written: Written, form: SightForm, status: int = 200, **facts: Any
) -> HttpResponse:
    page = {"subject": subject, "written": written, "form": form, **facts}
    return render(request, "assembly/sight.html", page, status=status)


def _found(subject: Subject, written: Written, wish: Wish) -> dict[str, Any]:
    texts = {subject.file.about: written.text}
    if wish.agent:
        return {"seen": _seen(trial(agent=wish.agent, team=wish.team, asked=wish.asked, texts=texts))}
    rows = list(_rows(subject, wish, texts))
    return {"rows": rows, "not_looked_at": len(subject.agents) - len(rows)}


def _seen(found: Trial) -> dict[str, Any]:
    """One trial in words and shapes."""
    return {
        "trial": found,
        "headline": headline(found),
        "tone": tone(found),
        "rows": sight_rows(found),
        "lists": sight_lists(found),
        "troubles": troubles(found),
        "difference": compared(found.before.content, found.after.content, source=True),
    }


def _rows(subject: Subject, wish: Wish, texts: dict[str, str]) -> Iterator[AgentRow]:
    """At least one agent's, however little time there is."""
    begun = monotonic()
    for place, agent in enumerate(subject.agents[:MOST_AGENTS]):
        if place and monotonic() - begun > SECONDS:
            return
        found = trial(agent=agent, team=wish.team, asked=wish.asked, texts=texts)
        yield AgentRow(agent, headline(found), tone(found), found.before.tokens, found.after.tokens)
