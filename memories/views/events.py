"""An event as a person reads it: a sentence, and what is folded below it.

The pages of what happened: the timeline, the sessions, one session, one event.
"""

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
from config.http.cursors import next_address, page_of
from config.http.errors import NotFound
from memories.forms import EventFilter
from memories.models import Event, EventType, Session
from memories.views.agent_item import crumbs_to
from teams.access import asking
from teams.guidance import Text
from teams.versioned_text.presentation import Crumb

LONGEST_LINE = 300  # characters of a sentence
LONGEST_FOLD = 4_000  # characters of what is folded in a list

LABELS: dict[str, Text] = {
    EventType.FILE_READ: gettext_lazy("Read"),
    EventType.FILE_WRITE: gettext_lazy("Wrote"),
    EventType.SHELL_EXEC: gettext_lazy("Ran"),
    EventType.ERROR: gettext_lazy("Error"),
    EventType.MESSAGE: gettext_lazy("Message"),
    EventType.TOOL_RESULT: gettext_lazy("Tool"),
}
GOOD = frozenset({"success", "succeeded", "ok", "done", "passed", "complete", "completed"})
BAD = frozenset({"failure", "failed", "fail", "error", "timeout", "denied", "cancelled"})
# What the sentence and the folds of each type are made of: the keys that hold it, the usual one first.
SENTENCE: dict[str, tuple[str, ...]] = {
    EventType.FILE_READ: ("path", "file"),
    EventType.FILE_WRITE: ("path", "file"),
    EventType.SHELL_EXEC: ("command",),
    EventType.ERROR: ("message", "error"),
    EventType.MESSAGE: ("text", "content", "message"),
}
FOLDS: dict[str, Text] = {
    "stdout": gettext_lazy("Output"),
    "stderr": gettext_lazy("Error output"),
    "output": gettext_lazy("Output"),
    "stack": gettext_lazy("Stack"),
    "diff": gettext_lazy("Changes"),
    "content": gettext_lazy("Text"),
    "result": gettext_lazy("Result"),
}


@dataclass(frozen=True, slots=True)
class Fold:
    """A longer text below a title. `cut`: there is more of it on the event's own page."""

    label: Text
    text: str
    lines: int
    cut: bool


@dataclass(frozen=True, slots=True)
class EventWords:
    """`tone` is that of the outcome: good, bad or plain. `is_code`: the sentence is a path or a command."""

    event: Event
    label: Text
    icon: str
    sentence: str
    is_code: bool
    speaker: str
    tone: str
    folds: tuple[Fold, ...]


def words_of(event: Event, *, whole: bool = False) -> EventWords:
    """The event in words; `whole` cuts nothing."""
    content = event.content if isinstance(event.content, dict) else {"content": event.content}
    key = next((key for key in SENTENCE.get(event.type, ()) if isinstance(content.get(key), str)), "")
    sentence = event.tool if event.type == EventType.TOOL_RESULT else content.get(key, "")
    shown = {key} if whole or len(sentence) <= LONGEST_LINE else set()
    return EventWords(
        event=event,
        label=LABELS.get(event.type, event.type),
        icon=event.type if event.type in LABELS else "other",
        sentence=sentence if whole else Truncator(sentence).chars(LONGEST_LINE),
        is_code=event.type in {EventType.FILE_READ, EventType.FILE_WRITE, EventType.SHELL_EXEC, EventType.TOOL_RESULT},
        speaker=str(content.get("role", "")) if event.type == EventType.MESSAGE else "",
        tone=_tone(event.outcome),
        folds=tuple(_folds({name: value for name, value in content.items() if name not in shown}, whole)),
    )


def _tone(outcome: str) -> str:
    word = outcome.lower()
    return "good" if word in GOOD else "bad" if word in BAD else "plain"


def _folds(content: Mapping[str, Any], whole: bool) -> list[Fold]:
    """The long texts one by one, all the rest together as JSON."""
    long = {
        name: value for name, value in content.items() if name in FOLDS and isinstance(value, str) and value.strip()
    }
    rest = {name: value for name, value in content.items() if name not in long and value not in ("", None)}
    rest.pop("role", None)
    folds = [_fold(FOLDS[name], value, whole) for name, value in long.items()]
    if rest:
        folds.append(_fold(_("Details"), json.dumps(rest, indent=2, ensure_ascii=False), whole))
    return folds


def _fold(label: Text, text: str, whole: bool) -> Fold:
    cut = not whole and len(text) > LONGEST_FOLD
    return Fold(label, text[:LONGEST_FOLD] if cut else text, len(text.splitlines()), cut)


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
