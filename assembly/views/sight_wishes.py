"""What is to be looked at: which text in place of the published one, and in which context."""

from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _

from agents.models import Agent
from assembly.asked import Asked
from assembly.sight_forms import EVERY_AGENT, SightForm
from assembly.views.sight_subject import Subject
from teams.drafts import draft_of
from teams.forms import TextForm
from teams.models import Team
from teams.views.asking import asking

TOPIC = "sight_topic"
"""In the session: the topic chosen last."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text: the person's draft, one that was sent along, or, without either, the published one."""

    text: str
    origin: Literal["draft", "sent", "published"]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """The context: whose, in which team, and how it is asked for. Without an agent: those of all agents of the team."""

    agent: Agent | None
    team: Team | None
    asked: Asked


def written_by(request: HttpRequest, subject: Subject) -> Written:
    """What the person wrote: what the form sent is newer than the draft."""
    if request.method == "POST":
        form = TextForm(request.POST, stored=subject.file)
        if form.is_valid():
            return Written(form.cleaned_data["content"], "sent")
        told = form.errors.get("content") or [_("The page was incomplete. Go back to the text and try again.")]
        return Written(request.POST.get("content", ""), "sent", " ".join(map(str, told)))
    draft = draft_of(asking(request).id, subject.file.about)
    return Written(draft.content, "draft") if draft else Written(subject.file.content, "published")


def sight_form(request: HttpRequest, subject: Subject) -> SightForm:
    """The form as it was sent, or, at first, with the topic chosen last."""
    sent = request.POST if request.method == "POST" else request.GET
    return SightForm(
        sent if "topic" in sent else None,
        agents=subject.agents if subject.is_of_team else None,
        teams=None if subject.is_of_team else subject.teams,
        initial={"topic": topic_chosen_last(request), "team": next((team.slug for team in subject.teams), "")},
    )


def wished(form: SightForm, subject: Subject) -> Wish:
    """What a valid form asks for."""
    values = form.cleaned_data
    asked = Asked(topic=values["topic"], profile=values["profile"], max_tokens=values["max_tokens"])
    if subject.is_of_team:
        chosen = values["agent"]
        agents = {agent.slug: agent for agent in subject.agents}
        return Wish(None if chosen == EVERY_AGENT else agents[chosen], subject.teams[0], asked)
    teams = {team.slug: team for team in subject.teams}
    return Wish(subject.agents[0], teams.get(values["team"]), asked)


def default_wish(request: HttpRequest, subject: Subject) -> Wish:
    """What is looked at where nothing was chosen. There must be an agent."""
    team = subject.teams[0] if subject.teams else None
    return Wish(subject.agents[0], team, Asked(topic=topic_chosen_last(request)))


def topic_chosen_last(request: HttpRequest) -> str:
    """By this person, for any text; none at first."""
    topic: str = request.session.get(TOPIC, "")
    return topic


def remember_topic(request: HttpRequest, topic: str) -> None:
    """For the next text."""
    if topic != topic_chosen_last(request):
        request.session[TOPIC] = topic
