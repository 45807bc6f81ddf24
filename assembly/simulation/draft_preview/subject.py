"""The subject of a draft preview is the text, its owner, and the contexts that contain it."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from agents.access import agent_for
from agents.models import Agent, AgentFile, DailyLog
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.simulation.draft_preview.forms import EVERY_AGENT, DraftPreviewForm
from teams.access import organisation_file_for, principal_of, team_for
from teams.forms import TextForm
from teams.models import OrganisationFile, Team, TeamFile
from teams.principal import Action, Principal
from teams.versioned_text.drafts import draft_of
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import VersionedFile


@dataclass(frozen=True, slots=True)
class DraftSubject:
    """A text of a team or of the organisation, with the agents that read it; or of an agent, with the teams in which it
    works.

    The agent or team of the newest context comes first, the others follow by name.
    """

    file: VersionedFile
    name: str
    crumbs: tuple[Crumb, ...]
    edit_address: str
    address: str
    agents: Sequence[Agent]
    teams: Sequence[Team]
    """The teams from which the person chooses; none for a text of the organisation."""
    principal: Principal

    def team_of(self, agent: Agent) -> Team | None:
        """Return the team in which the agent works unless the person chooses another."""
        teams = _teams(self.principal, agent) if self.is_of_organisation else self.teams
        return next(iter(teams), None)

    @property
    def is_of_organisation(self) -> bool:
        return isinstance(self.file, OrganisationFile)

    @property
    def has_many_agents(self) -> bool:
        """Whether the person chooses one of several agents that read the text."""
        return isinstance(self.file, TeamFile | OrganisationFile)

    @property
    def every_agent(self) -> str:
        """The words for all agents that read the text."""
        return _("All agents") if self.is_of_organisation else _("All agents of this team")

    @property
    def version(self) -> int:
        """The number of the current version; 0 if there is none yet."""
        return 0 if self.file._state.adding else self.file.version  # noqa: SLF001 - Django's documented way to ask


def team_file_subject(principal: Principal, slug: str, key: str) -> DraftSubject:
    """Return a team's file as a subject, for people who may edit it. Raises NotFound and Forbidden."""
    team = team_for(principal, slug, Action.EDIT)
    file = get_object_or_404(TeamFile, team=team, file_key=key)
    agents = list(Agent.objects.visible_to(principal).filter(team_links__team=team).order_by("name", "slug"))
    newest = _newest(principal, "agent_id", team_id=team.id)
    crumbs = (Crumb(_("Teams"), reverse("team_list")), Crumb(team.name, reverse("team_page", args=[slug])))
    return DraftSubject(
        file=file,
        name=TeamFile.Key(key).label,
        crumbs=(*crumbs, Crumb(TeamFile.Key(key).label, reverse("team_file", args=[slug, key]))),
        edit_address=reverse("team_file", args=[slug, key]),
        address=reverse("team_file_preview", args=[slug, key]),
        agents=sorted(agents, key=lambda agent: agent.id != newest),
        teams=[team],
        principal=principal,
    )


def organisation_file_subject(principal: Principal, key: str) -> DraftSubject:
    """Return a file of the organisation as a subject, for those who may edit it. Raises NotFound and Forbidden."""
    file = organisation_file_for(principal, key, Action.EDIT)
    agents = list(Agent.objects.visible_to(principal).order_by("name", "slug"))
    newest = _newest(principal, "agent_id")
    address = reverse("organisation_file", args=[key])
    return DraftSubject(
        file=file,
        name=file.title,
        crumbs=(Crumb(_("Organisation knowledge"), reverse("organisation_files")), Crumb(file.title, address)),
        edit_address=address,
        address=reverse("organisation_file_preview", args=[key]),
        agents=sorted(agents, key=lambda agent: agent.id != newest),
        teams=[],
        principal=principal,
    )


def agent_file_subject(principal: Principal, slug: str, key: str) -> DraftSubject:
    """Return an agent's file as a subject, for people who may edit it. Raises NotFound and Forbidden."""
    agent = agent_for(principal, slug, Action.EDIT)
    return DraftSubject(
        file=get_object_or_404(AgentFile, agent=agent, file_key=key),
        name=AgentFile.Key(key).label,
        crumbs=_crumbs(agent, AgentFile.Key(key).label, reverse("agent_file", args=[slug, key])),
        edit_address=reverse("agent_file", args=[slug, key]),
        address=reverse("agent_file_preview", args=[slug, key]),
        agents=[agent],
        teams=_teams(principal, agent),
        principal=principal,
    )


def daily_log_subject(principal: Principal, slug: str, date: datetime.date) -> DraftSubject:
    """Return the log of an agent's day as a subject, whether it exists or not, for people who may write it."""
    agent = agent_for(principal, slug, Action.WRITE)
    day = date_format(date, "l, j F Y")
    return DraftSubject(
        file=DailyLog.objects.filter(agent=agent, date=date).first() or DailyLog(agent=agent, date=date, version=0),
        name=_("Log of %(day)s") % {"day": day},
        crumbs=_crumbs(agent, day, reverse("daily_log", args=[slug, date])),
        edit_address=reverse("daily_log_edit", args=[slug, date]),
        address=reverse("daily_log_preview", args=[slug, date]),
        agents=[agent],
        teams=_teams(principal, agent),
        principal=principal,
    )


def _crumbs(agent: Agent, label: str, address: str) -> tuple[Crumb, ...]:
    page = reverse("agent_page", args=[agent.slug])
    return Crumb(_("Agents"), reverse("agent_list")), Crumb(agent.name, page), Crumb(label, address)


def _teams(principal: Principal, agent: Agent) -> list[Team]:
    teams = Team.objects.visible_to(principal).filter(agent_links__agent=agent).order_by("name", "slug")
    newest = _newest(principal, "team_id", agent_id=agent.id)
    return sorted(teams, key=lambda team: team.id != newest)


def _newest(principal: Principal, column: str, **owner: UUID) -> UUID | None:
    """Return the agent or the team of the newest context that the person may read."""
    contexts = Assembly.objects.visible_to(principal).filter(**owner).order_by("-created", "-id")
    found: UUID | None = contexts.values_list(column, flat=True).first()
    return found


TOPIC = "draft_preview_topic"
"""The session key of the topic that was chosen last."""


@dataclass(frozen=True, slots=True)
class DraftText:
    """The previewed text: one that was sent, the person's draft, or else the published one."""

    text: str
    origin: Literal["draft", "sent", "published"]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class DraftPreviewOptions:
    """The context of a preview: its agent, its team, and its parameters. Without an agent, all agents of the subject,
    each in its team.
    """

    agent: Agent | None
    team: Team | None
    asked: AssemblyRequest


def load_draft_text(request: HttpRequest, subject: DraftSubject) -> DraftText:
    """Return the person's text: what the form sent is newer than the draft."""
    if request.method == "POST":
        form = TextForm(request.POST, stored=subject.file)
        if form.is_valid():
            return DraftText(form.cleaned_data["content"], "sent")
        told = form.errors.get("content") or [_("The request was incomplete. Go back to the text and try again.")]
        return DraftText(request.POST.get("content", ""), "sent", " ".join(map(str, told)))
    draft = draft_of(principal_of(request).id, subject.file.about)
    return DraftText(draft.content, "draft") if draft else DraftText(subject.file.content, "published")


def draft_preview_form(request: HttpRequest, subject: DraftSubject) -> DraftPreviewForm:
    """Return the form as it was sent, or initially with the topic that was chosen last."""
    sent = request.POST if request.method == "POST" else request.GET
    return DraftPreviewForm(
        sent if "topic" in sent else None,
        agents=subject.agents if subject.has_many_agents else None,
        every_agent=subject.every_agent,
        teams=None if subject.has_many_agents else subject.teams,
        initial={"topic": last_topic(request), "team": next((team.slug for team in subject.teams), "")},
    )


def options_of(form: DraftPreviewForm, subject: DraftSubject) -> DraftPreviewOptions:
    """Return the options in a valid form."""
    values = form.cleaned_data
    asked = AssemblyRequest(topic=values["topic"], profile=values["profile"], max_tokens=values["max_tokens"])
    if subject.has_many_agents:
        if values["agent"] == EVERY_AGENT:
            return DraftPreviewOptions(None, None, asked)
        agent = next(agent for agent in subject.agents if agent.slug == values["agent"])
        return DraftPreviewOptions(agent, subject.team_of(agent), asked)
    teams = {team.slug: team for team in subject.teams}
    return DraftPreviewOptions(subject.agents[0], teams.get(values["team"]), asked)


def default_options(request: HttpRequest, subject: DraftSubject) -> DraftPreviewOptions:
    """Return the default options. There must be an agent."""
    agent = subject.agents[0]
    return DraftPreviewOptions(agent, subject.team_of(agent), AssemblyRequest(topic=last_topic(request)))


def last_topic(request: HttpRequest) -> str:
    """Return the topic that this person chose last, for any text; "" at first."""
    topic: str = request.session.get(TOPIC, "")
    return topic


def store_topic(request: HttpRequest, topic: str) -> None:
    """Store the topic as the default for the next text."""
    if topic != last_topic(request):
        request.session[TOPIC] = topic
