"""Home: what is mine, what changed lately and by whom, which contexts may need a look."""

import datetime
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agents.models import Agent, AgentFile, AgentFileVersion, DailyLogVersion
from assembly.models import Assembly
from teams.models import Team, TeamFile, TeamFileVersion
from teams.principal import Principal
from teams.views.asking import asking

CHANGES, CONTEXTS, OWNED = 8, 5, 12


@dataclass(frozen=True, slots=True)
class Change:
    """Somebody saved a text."""

    what: str
    owner: str
    address: str
    editor: str
    version: int
    created: datetime.datetime


def home(request: HttpRequest) -> HttpResponse:
    """What the person comes back to."""
    principal = asking(request)
    contexts = Assembly.objects.visible_to(principal).filter(~Q(warnings=[]) | Q(truncated=True))
    context = {
        "agents": Agent.objects.visible_to(principal).order_by("name")[:OWNED],
        "teams": Team.objects.visible_to(principal).order_by("name")[:OWNED],
        "changes": _changes(principal),
        "contexts": contexts.defer("profile", "sections", "sources").order_by("-created", "-id")[:CONTEXTS],
    }
    return render(request, "pages/home.html", context)


def _changes(principal: Principal) -> list[Change]:
    """The latest saves by people and agents among all that the person may read; what Dossier provisions is none."""
    agents = Agent.objects.visible_to(principal).values("id")
    teams = Team.objects.visible_to(principal).values("id")
    found = [
        *map(_of_agent_file, _latest(AgentFileVersion, "file__agent", file__agent_id__in=agents)),
        *map(_of_team_file, _latest(TeamFileVersion, "file__team", file__team_id__in=teams)),
        *map(_of_log, _latest(DailyLogVersion, "file__agent", file__agent_id__in=agents)),
    ]
    return sorted(found, key=attrgetter("created"), reverse=True)[:CHANGES]


def _latest(model: Any, owner: str, **mine: Any) -> Any:
    # Ids are UUIDv7 and so in the order of time, and indexed.
    rows = model.objects.filter(**mine).exclude(updated_by="system").select_related("file", owner)
    return rows.defer("content", "file__content").order_by("-id")[:CHANGES]


def _of_agent_file(version: AgentFileVersion) -> Change:
    file = version.file
    address = reverse("agent_file_version", args=[file.agent.slug, file.file_key, version.version])
    return _change(version, AgentFile.Key(file.file_key).label, file.agent.name, address)


def _of_team_file(version: TeamFileVersion) -> Change:
    file = version.file
    address = reverse("team_file_version", args=[file.team.slug, file.file_key, version.version])
    return _change(version, TeamFile.Key(file.file_key).label, file.team.name, address)


def _of_log(version: DailyLogVersion) -> Change:
    log = version.file
    address = reverse("daily_log", args=[log.agent.slug, log.date])
    return _change(version, f"Log of {log.date:%-d %B}", log.agent.name, address)


def _change(version: Any, what: str, owner: str, address: str) -> Change:
    return Change(what, owner, address, version.editor_name or "Dossier", version.version, version.created)
