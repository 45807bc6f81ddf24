"""This module lists a person's drafts with their texts, and has the pages that show and delete a draft.

Drafts of deleted texts, and of texts that the person may only read, are included. Drafts of texts that the person may
not read any more are missing, because a draft repeats its text.
"""

import datetime
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
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
from teams.models import OrganisationFile, Team, TeamFile
from teams.principal import Principal
from teams.sealing.fields import Beginning
from teams.text_diff.markdown import in_plain_words
from teams.versioned_text.drafts import Draft, draft_discard, drafts_of
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

BEGINNING = 160  # characters


@dataclass(frozen=True, slots=True)
class DraftTarget:
    """A text that the person may edit, and its version; 0 if it is new."""

    name: str
    owner: str
    address: str
    version: int


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft with its beginning, and its text if it can still be published."""

    draft: Draft
    beginning: str
    place: DraftTarget | None

    @property
    def is_outdated(self) -> bool:
        """Whether a version was published since the draft was started."""
        return self.place is not None and self.place.version > self.draft.based_on


def draft_rows(principal: Principal) -> list[DraftRow]:
    """Return all drafts of a person with their texts, newest first; at most five more queries, and as many again if
    there are texts that the person may not edit.
    """
    rows = list(drafts_of(principal.id).defer("content").annotate(beginning=Beginning("content", BEGINNING)))
    places = draft_targets(principal, [row.about for row in rows])
    unreadable = unreadable_texts(principal, [row.about for row in rows if row.about not in places])
    return [
        DraftRow(row, in_plain_words(row.beginning), places.get(row.about))
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


def draft_targets(principal: Principal, abouts: Iterable[str]) -> dict[str, DraftTarget]:
    """Return the texts of drafts by their refs; texts that are deleted or may not be edited are missing."""
    ids = _ids_by_kind(abouts)
    return {
        **_agent_files(principal, ids["agent_file"]),
        **_team_files(principal, ids["team_file"]),
        **_organisation_files(principal, ids["organisation_file"]),
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


def _organisation_files(principal: Principal, ids: list[str]) -> dict[str, DraftTarget]:
    if not principal.is_admin:
        return {}
    return {
        file.about: DraftTarget(
            file.title, _("the organisation"), reverse("organisation_file", args=[file.file_key]), file.version
        )
        for file in OrganisationFile.objects.filter(id__in=ids).defer("content")
    }


def _file_target(file: Any, owner: Agent | Team, route: str) -> DraftTarget:
    address = reverse(route, args=[owner.slug, file.file_key])
    return DraftTarget(file.get_file_key_display(), owner.name, address, file.version)


def _log_targets(principal: Principal, keys: list[str]) -> dict[str, DraftTarget]:
    """Return the daily logs, which are named `<agent>/<day>`; a day without a log can have one."""
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
    """Show all drafts of the person."""
    principal = principal_of(request)
    return render(request, "assembly/home/draft_list.html", {"drafts": draft_rows(principal)})


def draft_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a draft as source, even if its text is deleted or may not be edited any more."""
    draft = _own_draft(request, id_)
    place = draft_targets(principal_of(request), [draft.about]).get(draft.about)
    return render(request, "assembly/home/draft.html", {"draft": draft, "place": place})


@require_http_methods(["GET", "HEAD", "POST"])
def draft_delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and delete a draft, unless it was changed since the page was shown."""
    draft = _own_draft(request, id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete this draft?"),
                consequences=[
                    ngettext(
                        "Your draft of %(n)s character is deleted. The published text is not changed.",
                        "Your draft of %(n)s characters is deleted. The published text is not changed.",
                        len(draft.content),
                    )
                    % {"n": f"{len(draft.content):,}"}
                ],
                button=_("Delete draft"),
                back=reverse("draft_page", args=[id_]),
                crumbs=[Crumb(_("Your drafts"), reverse("draft_list"))],
                hidden={"revision": str(draft.revision)},
            ),
        )
    if request.POST.get("revision") != str(draft.revision):
        messages.warning(
            request, _("The draft was changed meanwhile, so it was not deleted. Its current text is below.")
        )
        return redirect("draft_page", id_=id_)
    draft_discard(person_id=draft.person_id, about=draft.about)
    messages.success(request, _("Draft deleted. The published text is not changed."))
    return redirect("home")


def _own_draft(request: HttpRequest, id_: UUID) -> Draft:
    """Return the person's draft; 404 for a draft of a text that they may not read any more."""
    principal = principal_of(request)
    draft = get_object_or_404(Draft, pk=id_, person_id=principal.id)
    if unreadable_texts(principal, [draft.about]):
        raise NotFound("This draft")
    return draft
