"""The pages of what happened: the timeline, the sessions, one session, one event."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.access import agent_for
from agents.models import Agent
from config.http.cursors import next_address, page_of
from config.http.errors import NotFound
from memories.forms import EventFilter
from memories.models import Event, Session
from memories.views.event_words import EventWords, words_of
from memories.views.kept import crumbs_to
from teams.views.asking import asking
from teams.views.document import Crumb

ORDER = ("occurred_at", "id")


@dataclass(frozen=True, slots=True)
class Sitting:
    """Events that followed each other in one session, or outside of any."""

    session: Session | None
    events: list[EventWords]


@dataclass(frozen=True, slots=True)
class Day:
    """The events of a day of the agent's time zone, the newest first."""

    date: datetime.date
    sittings: list[Sitting]


def timeline(request: HttpRequest, slug: str) -> HttpResponse:
    """What happened, the newest first."""
    agent = agent_for(asking(request), slug)
    form = EventFilter(request.GET, agent=agent)
    rows = form.narrowed(Event.objects.filter(agent=agent)).select_related("session")
    events, cursor = page_of(rows, request.GET, keys=ORDER)
    context = {
        "agent": agent,
        "crumbs": crumbs_to(agent),
        "form": form,
        "filtered": any(form.cleaned_data.values()),
        "days": days_of(agent, events),
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/timeline.html", context)


def sessions(request: HttpRequest, slug: str) -> HttpResponse:
    """The sessions, the latest first."""
    agent = agent_for(asking(request), slug)
    rows = Session.objects.filter(agent=agent).annotate(happened=Count("events"))
    found, cursor = page_of(rows, request.GET, keys=("started_at", "id"))
    context = {
        "agent": agent,
        "crumbs": (*crumbs_to(agent), _to_timeline(agent)),
        "sessions": found,
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/session_list.html", context)


def session(request: HttpRequest, slug: str, session_id: UUID) -> HttpResponse:
    """One session: what happened in it, and what it worked on."""
    agent = agent_for(asking(request), slug)
    found = Session.objects.filter(agent=agent, id=session_id).first()
    if found is None:
        raise NotFound(_("This session"))
    events, cursor = page_of(found.events.select_related("session"), request.GET, keys=ORDER)
    context = {
        "agent": agent,
        "crumbs": (*crumbs_to(agent), _to_timeline(agent), Crumb(_("Sessions"), reverse("sessions", args=[slug]))),
        "session": found,
        "happened": found.events.count(),
        "tasks": found.tasks.count(),
        "days": days_of(agent, events),
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/session.html", context)


def event(request: HttpRequest, slug: str, event_id: UUID) -> HttpResponse:
    """One event, with nothing cut."""
    agent = agent_for(asking(request), slug)
    found = Event.objects.filter(agent=agent, id=event_id).select_related("session", "task").first()
    if found is None:
        raise NotFound(_("This event"))
    context = {
        "agent": agent,
        "crumbs": (*crumbs_to(agent), _to_timeline(agent)),
        "words": words_of(found, whole=True),
        "event": found,
    }
    return render(request, "memories/event.html", context)


def days_of(agent: Agent, events: Iterable[Event]) -> list[Day]:
    """The events by day and session, in the order in which they come."""
    zone = ZoneInfo(agent.timezone)
    return [
        Day(date, [Sitting(session, list(map(words_of, group))) for session, group in groupby(of_day, _session)])
        for date, of_day in groupby(events, lambda event: event.occurred_at.astimezone(zone).date())
    ]


def _session(event: Event) -> Session | None:
    return event.session


def _to_timeline(agent: Agent) -> Crumb:
    return Crumb(_("Events"), reverse("events", args=[agent.slug]))
