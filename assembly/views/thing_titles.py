"""What people call a thing that contexts hold, where they may read it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import models
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from agents.models import Agent, AgentFile, DailyLog
from assembly.finding import Thing
from config.http.errors import DossierError
from memories.access import memory_for
from memories.models import Document, Entity, Event, Pattern, Thread, Tool
from teams.models import Team, TeamFile
from teams.principal import Principal

EXCERPT = 80
Titled = Callable[[UUID, Principal], str]


def thing_title(thing: Thing, principal: Principal) -> str:
    """Its title; its ref where the person may not read it, or where it is gone."""
    kind, _colon, id_ = thing.named.partition(":")
    title = TITLES[kind](UUID(id_), principal) if kind in TITLES and _is_id(id_) else ""
    if not title:
        return thing.ref
    return _("%(title)s, version %(version)s") % {"title": title, "version": thing.version} if thing.version else title


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


def _agent_file(id_: UUID, principal: Principal) -> str:
    file = AgentFile.objects.filter(id=id_, agent__in=Agent.objects.visible_to(principal)).select_related("agent")
    return _of(file.values_list("file_key", "agent__name").first())


def _team_file(id_: UUID, principal: Principal) -> str:
    file = TeamFile.objects.filter(id=id_, team__in=Team.objects.visible_to(principal)).select_related("team")
    return _of(file.values_list("file_key", "team__name").first())


def _of(found: tuple[str, str] | None) -> str:
    return _("%(file)s of %(owner)s") % {"file": found[0].capitalize(), "owner": found[1]} if found else ""


def _daily_log(id_: UUID, principal: Principal) -> str:
    logs = DailyLog.objects.filter(id=id_, agent__in=Agent.objects.visible_to(principal)).select_related("agent")
    log = logs.first()
    named = {"owner": log.agent.name, "day": date_format(log.date, "j F Y")} if log else {}
    return _("the log of %(owner)s, %(day)s") % named if log else ""


def _memory(id_: UUID, principal: Principal) -> str:
    try:
        return _quoted(memory_for(principal, id_).text)
    except DossierError:
        return ""


def _kept(model: type[Document | Entity | Event | Pattern | Thread | Tool], column: str) -> Titled:
    """Of what agents keep: what stands in that column."""

    def title(id_: UUID, principal: Principal) -> str:
        rows: models.QuerySet[Any] = models.QuerySet(model).filter(
            id=id_, agent__in=Agent.objects.visible_to(principal)
        )
        found = rows.values_list(column, flat=True).first()
        return _quoted(str(found)) if found else ""

    return title


def _quoted(text: str) -> str:
    return f"“{Truncator(' '.join(text.split())).chars(EXCERPT)}”"


TITLES: dict[str, Titled] = {
    "agent_file": _agent_file,
    "team_file": _team_file,
    "daily_log": _daily_log,
    "memory": _memory,
    "chunk": _kept(Document, "path"),
    "entity": _kept(Entity, "name"),
    "event": _kept(Event, "type"),
    "pattern": _kept(Pattern, "name"),
    "thread": _kept(Thread, "title"),
    "tool": _kept(Tool, "name"),
}
