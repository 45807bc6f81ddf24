"""These pages show what happened to an agent: the timeline of events, the sessions, one session, one event."""

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.access import agent_for
from agents.models import Agent
from config.http.cursors import next_page_url, page_of
from config.http.errors import NotFound
from config.http.late_reads import may_be_late
from memories.forms import EventFilter
from memories.lifecycle.listed_texts import listed
from memories.lifecycle.use_counts import thing_opened
from memories.models import Event, EventType, Session
from memories.views.agent_item import agent_crumbs
from teams.access import principal_of
from teams.guidance import Text
from teams.versioned_text.presentation import Crumb

MAX_LINE_CHARACTERS = 300  # the most of a sentence
MAX_FOLD_CHARACTERS = 4_000  # the most of a detail in a list

LABELS: dict[str, Text] = {
    EventType.FILE_READ: gettext_lazy("Read"),
    EventType.FILE_WRITE: gettext_lazy("Wrote"),
    EventType.SHELL_EXEC: gettext_lazy("Ran"),
    EventType.ERROR: gettext_lazy("Error"),
    EventType.MESSAGE: gettext_lazy("Message"),
    EventType.TOOL_RESULT: gettext_lazy("Tool"),
}
GOOD_OUTCOMES = frozenset({"success", "succeeded", "ok", "done", "passed", "complete", "completed"})
BAD_OUTCOMES = frozenset({"failure", "failed", "fail", "error", "timeout", "denied", "cancelled"})
# Keys of an event's content that hold the sentence of its type, the usual key first.
SENTENCE_KEYS: dict[str, tuple[str, ...]] = {
    EventType.FILE_READ: ("path", "file"),
    EventType.FILE_WRITE: ("path", "file"),
    EventType.SHELL_EXEC: ("command",),
    EventType.ERROR: ("message", "error"),
    EventType.MESSAGE: ("text", "content", "message"),
}
FOLD_LABELS: dict[str, Text] = {
    "stdout": gettext_lazy("Output"),
    "stderr": gettext_lazy("Error output"),
    "output": gettext_lazy("Output"),
    "stack": gettext_lazy("Stack"),
    "diff": gettext_lazy("Changes"),
    "content": gettext_lazy("Text"),
    "result": gettext_lazy("Result"),
}


@dataclass(frozen=True, slots=True)
class EventDetail:
    """A longer text that is folded below its label. `cut` says that the event's own page shows more of it."""

    label: Text
    text: str
    lines: int
    cut: bool


@dataclass(frozen=True, slots=True)
class EventPresentation:
    """An event as a page shows it: a sentence with a label and icon, and folded details.

    `tone` is that of the outcome: good, bad or plain. `is_code` says that the sentence is a path or a command.
    """

    event: Event
    label: Text
    icon: str
    sentence: str
    is_code: bool
    speaker: str
    tone: str
    folds: tuple[EventDetail, ...]


def present_event(event: Event, *, whole: bool = False) -> EventPresentation:
    """Return the event as a page shows it; with `whole`, no text is shortened."""
    content = event.content if isinstance(event.content, dict) else {"content": event.content}
    key = next((key for key in SENTENCE_KEYS.get(event.type, ()) if isinstance(content.get(key), str)), "")
    sentence = event.tool if event.type == EventType.TOOL_RESULT else content.get(key, "")
    shown = {key} if whole or len(sentence) <= MAX_LINE_CHARACTERS else set()
    return EventPresentation(
        event=event,
        label=LABELS.get(event.type, event.type),
        icon=event.type if event.type in LABELS else "other",
        sentence=sentence if whole else Truncator(sentence).chars(MAX_LINE_CHARACTERS),
        is_code=event.type in {EventType.FILE_READ, EventType.FILE_WRITE, EventType.SHELL_EXEC, EventType.TOOL_RESULT},
        speaker=str(content.get("role", "")) if event.type == EventType.MESSAGE else "",
        tone=_tone(event.outcome),
        folds=tuple(_folds({name: value for name, value in content.items() if name not in shown}, whole)),
    )


def _tone(outcome: str) -> str:
    word = outcome.lower()
    return "good" if word in GOOD_OUTCOMES else "bad" if word in BAD_OUTCOMES else "plain"


def _folds(content: Mapping[str, Any], whole: bool) -> list[EventDetail]:
    """Return the long texts of the content as one detail each, and all other values as one detail in JSON."""
    long = {
        name: value
        for name, value in content.items()
        if name in FOLD_LABELS and isinstance(value, str) and value.strip()
    }
    rest = {name: value for name, value in content.items() if name not in long and value not in ("", None)}
    rest.pop("role", None)
    folds = [_fold(FOLD_LABELS[name], value, whole) for name, value in long.items()]
    if rest:
        folds.append(_fold(_("Details"), json.dumps(rest, indent=2, ensure_ascii=False), whole))
    return folds


def _fold(label: Text, text: str, whole: bool) -> EventDetail:
    cut = not whole and len(text) > MAX_FOLD_CHARACTERS
    return EventDetail(label, text[:MAX_FOLD_CHARACTERS] if cut else text, len(text.splitlines()), cut)


ORDER = ("occurred_at", "id")


@dataclass(frozen=True, slots=True)
class SessionEvents:
    """Consecutive events of a timeline that belong to one session, or to none."""

    session: Session | None
    events: list[EventPresentation]


@dataclass(frozen=True, slots=True)
class TimelineDay:
    """The events of one day of a timeline, in the agent's time zone, the newest first."""

    date: datetime.date
    session_groups: list[SessionEvents]


@may_be_late
def timeline(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the agent's events, the newest first."""
    agent = agent_for(principal_of(request), slug)
    form = EventFilter(request.GET, agent=agent)
    rows = form.narrowed(Event.objects.filter(agent=agent)).select_related("session")
    events, cursor = page_of(listed(rows), request.GET, keys=ORDER)
    context = {
        "agent": agent,
        "crumbs": agent_crumbs(agent),
        "form": form,
        "filtered": any(form.cleaned_data.values()),
        "days": group_by_day(agent, events),
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/events/timeline.html", context)


@may_be_late
def sessions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the agent's sessions, the latest first."""
    agent = agent_for(principal_of(request), slug)
    rows = Session.objects.filter(agent=agent).annotate(happened=Count("events"))
    found, cursor = page_of(rows, request.GET, keys=("started_at", "id"))
    context = {
        "agent": agent,
        "crumbs": (*agent_crumbs(agent), _timeline_crumb(agent)),
        "sessions": found,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/events/session_list.html", context)


@may_be_late
def session(request: HttpRequest, slug: str, session_id: UUID) -> HttpResponse:
    """Show a session: its events and its number of task frames."""
    agent = agent_for(principal_of(request), slug)
    found = Session.objects.filter(agent=agent, id=session_id).first()
    if found is None:
        raise NotFound(_("This session"))
    events, cursor = page_of(listed(found.events.select_related("session")), request.GET, keys=ORDER)
    context = {
        "agent": agent,
        "crumbs": (
            *agent_crumbs(agent),
            _timeline_crumb(agent),
            Crumb(_("Sessions"), reverse("sessions", args=[slug])),
        ),
        "session": found,
        "happened": found.events.count(),
        "tasks": found.tasks.count(),
        "days": group_by_day(agent, events),
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/events/session.html", context)


def event(request: HttpRequest, slug: str, event_id: UUID) -> HttpResponse:
    """Show one event in full."""
    agent = agent_for(principal_of(request), slug)
    found = Event.objects.filter(agent=agent, id=event_id).select_related("session", "task").first()
    if found is None:
        raise NotFound(_("This event"))
    thing_opened(found)
    context = {
        "agent": agent,
        "crumbs": (*agent_crumbs(agent), _timeline_crumb(agent)),
        "words": present_event(found, whole=True),
        "event": found,
    }
    return render(request, "memories/events/event.html", context)


def group_by_day(agent: Agent, events: Iterable[Event]) -> list[TimelineDay]:
    """Return the events grouped by day and session, in their given order."""
    zone = ZoneInfo(agent.timezone)
    return [
        TimelineDay(
            date,
            [SessionEvents(session, list(map(present_event, group))) for session, group in groupby(of_day, _session)],
        )
        for date, of_day in groupby(events, lambda event: event.occurred_at.astimezone(zone).date())
    ]


def _session(event: Event) -> Session | None:
    return event.session


def _timeline_crumb(agent: Agent) -> Crumb:
    return Crumb(_("Events"), reverse("events", args=[agent.slug]))
