"""A person's drafts, with the texts that they are of; also those of texts that are gone or that the person may no
longer edit. Drafts of texts that the person may no longer read are missing: a draft repeats its text.

The pages of a person's drafts: all of them, one to read and copy, and forgetting it.
"""

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from agents.models import Agent, AgentFile, DailyLog
from assembly.engine.refs import Ref
from config.http.errors import NotFound
from teams.access import principal_of
from teams.models import Team, TeamFile
from teams.principal import Principal
from teams.versioned_text.drafts import Draft, draft_discard, drafts_of
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

BEGINNING = 160  # characters
MARKS = re.compile(r"[#*_`>]+")


@dataclass(frozen=True, slots=True)
class DraftTarget:
    """A text that the person may edit, and the version that it is at; 0 where there is none yet."""

    name: str
    owner: str
    address: str
    version: int


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft, how it begins, and the text that it is of, if it can still be published there."""

    draft: Draft
    beginning: str
    place: DraftTarget | None

    @property
    def is_outdated(self) -> bool:
        """Whether somebody published a version since the draft was begun."""
        return self.place is not None and self.place.version > self.draft.based_on


def draft_rows(principal: Principal) -> list[DraftRow]:
    """All drafts of a person, the newest first, with their texts; at most four more queries, and as many again where
    there are texts that the person may not edit."""
    rows = list(drafts_of(principal.id).defer("content").annotate(beginning=Left("content", BEGINNING)))
    places = draft_targets(principal, [row.about for row in rows])
    unreadable = unreadable_texts(principal, [row.about for row in rows if row.about not in places])
    return [
        DraftRow(row, _in_plain_words(row.beginning), places.get(row.about))
        for row in rows
        if row.about not in unreadable
    ]


def unreadable_texts(principal: Principal, abouts: Collection[str]) -> set[str]:
    """Return those of the texts that exist and that the principal may not read."""
    ids = _ids_by_kind(abouts)
    agents, teams = Agent.objects.visible_to(principal).values("id"), Team.objects.visible_to(principal).values("id")
    agent_files = AgentFile.objects.filter(id__in=ids["agent_file"]).exclude(agent__in=agents)
    team_files = TeamFile.objects.filter(id__in=ids["team_file"]).exclude(team__in=teams)
    of_logs = [key.partition("/")[0] for key in ids["daily_log"]]
    hidden = {
        str(id_) for id_ in Agent.objects.filter(id__in=of_logs).exclude(id__in=agents).values_list("id", flat=True)
    }
    return {
        *(file.about for file in agent_files.defer("content")),
        *(file.about for file in team_files.defer("content")),
        *(f"daily_log:{key}" for key in ids["daily_log"] if key.partition("/")[0] in hidden),
    }


def _in_plain_words(beginning: str) -> str:
    """The beginning of a text in one line, without the marks of Markdown."""
    return " ".join(MARKS.sub("", beginning).split())


def draft_targets(principal: Principal, abouts: Iterable[str]) -> dict[str, DraftTarget]:
    """What the drafts are of, by what names it; texts that are gone or may not be edited are missing."""
    ids = _ids_by_kind(abouts)
    return {
        **_agent_files(principal, ids["agent_file"]),
        **_team_files(principal, ids["team_file"]),
        **_log_targets(principal, ids["daily_log"]),
    }


def _ids_by_kind(abouts: Iterable[str]) -> defaultdict[str, list[str]]:
    ids = defaultdict(list)
    for about in abouts:
        named = Ref.parse(about)
        ids[named.kind].append(named.id)
    return ids


def _agent_files(principal: Principal, ids: list[str]) -> dict[str, DraftTarget]:
    files = AgentFile.objects.filter(id__in=ids, agent__in=Agent.objects.editable_by(principal))
    return {
        file.about: _file_target(file, file.agent, "agent_file")
        for file in files.select_related("agent").defer("content")
    }


def _team_files(principal: Principal, ids: list[str]) -> dict[str, DraftTarget]:
    files = TeamFile.objects.filter(id__in=ids, team__in=Team.objects.editable_by(principal))
    return {
        file.about: _file_target(file, file.team, "team_file") for file in files.select_related("team").defer("content")
    }


def _file_target(file: Any, owner: Agent | Team, route: str) -> DraftTarget:
    address = reverse(route, args=[owner.slug, file.file_key])
    return DraftTarget(file.get_file_key_display(), owner.name, address, file.version)


def _log_targets(principal: Principal, keys: list[str]) -> dict[str, DraftTarget]:
    """The logs of days, named `<agent>/<day>`; a day whose log is not begun yet has one that can be written."""
    days = [(UUID(agent), datetime.date.fromisoformat(day)) for agent, day in (key.split("/") for key in keys)]
    agents = Agent.objects.editable_by(principal).in_bulk([agent for agent, _day in days])
    logs = DailyLog.objects.filter(agent__in=agents, date__in=[day for _agent, day in days])
    versions = {(log.agent_id, log.date): log.version for log in logs.defer("content")}
    return {
        f"daily_log:{agent}/{day:%Y-%m-%d}": _log_target(agents[agent], day, versions)
        for agent, day in days
        if agent in agents
    }


def _log_target(agent: Agent, day: datetime.date, versions: Mapping[tuple[UUID, datetime.date], int]) -> DraftTarget:
    name = _("Log of %(day)s") % {"day": date_format(day, "j F")}
    return DraftTarget(
        name, agent.name, reverse("daily_log_edit", args=[agent.slug, day]), versions.get((agent.id, day), 0)
    )


def draft_list(request: HttpRequest) -> HttpResponse:
    """All drafts of the person."""
    principal = principal_of(request)
    return render(request, "assembly/home/draft_list.html", {"drafts": draft_rows(principal)})


def draft_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """One draft as it was written, also where its text is gone or may not be edited any more."""
    draft = _own_draft(request, id_)
    place = draft_targets(principal_of(request), [draft.about]).get(draft.about)
    return render(request, "assembly/home/draft.html", {"draft": draft, "place": place})


@require_http_methods(["GET", "HEAD", "POST"])
def draft_delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask whether a draft shall go, and forget it, unless its author went on writing since the page was shown."""
    draft = _own_draft(request, id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Forget this draft?"),
                consequences=[
                    ngettext(
                        "Your %(n)s character goes. What was published stays as it is.",
                        "Your %(n)s characters go. What was published stays as it is.",
                        len(draft.content),
                    )
                    % {"n": f"{len(draft.content):,}"}
                ],
                button=_("Forget the draft"),
                back=reverse("draft_page", args=[id_]),
                crumbs=[Crumb(_("Your drafts"), reverse("draft_list"))],
                hidden={"revision": str(draft.revision)},
            ),
        )
    if request.POST.get("revision") != str(draft.revision):
        messages.warning(
            request, _("You went on writing since. This is the draft as it is now; nothing was forgotten.")
        )
        return redirect("draft_page", id_=id_)
    draft_discard(person_id=draft.person_id, about=draft.about)
    messages.success(request, _("The draft is forgotten. What was published stays as it is."))
    return redirect("home")


def _own_draft(request: HttpRequest, id_: UUID) -> Draft:
    """The person's draft; 404 for one of a text that they may not read any more."""
    principal = principal_of(request)
    draft = get_object_or_404(Draft, pk=id_, person_id=principal.id)
    if unreadable_texts(principal, [draft.about]):
        raise NotFound("This draft")
    return draft
