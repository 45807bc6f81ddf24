"""This module measures texts against the limits of their sections, and finds files over the limit.

It also builds the cards of files on the pages of agents and teams.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, QuerySet, Value, When
from django.urls import reverse

from agents.models import Agent, AgentFile
from assembly.engine.profile import Profile
from assembly.profiles.catalogue import profile_of_agent
from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview.size import limit_of, measure_text, section_of
from teams.guidance import Guidance
from teams.models import Team, TeamFile
from teams.principal import Principal
from teams.sealing.fields import WrittenOctets
from teams.versioned_text.drafts import Draft, drafts_of

COUNTED = 10
"""The maximum number of files of each kind whose tokens are counted per request."""


@dataclass(frozen=True, slots=True)
class SectionUsage:
    """The size of a text compared with its section of its agent's profile, in tokens.

    It includes the heading of the section, as the editor and the page of a context count it.
    """

    tokens: int
    most: int
    required: bool
    """Whether the section is never truncated, so that it reduces the budget of the others."""
    capped: bool
    """Whether the section has a limit of its own; otherwise it shares the whole budget."""

    @property
    def over(self) -> int:
        """The number of tokens over the limit."""
        return max(self.tokens - self.most, 0)


def section_usage(key: str, text: str, profile: Profile) -> SectionUsage:
    """Return the size of the text of a file with this key in contexts with the profile."""
    measured = measure_text(text, key, profile)
    section = measured.section
    return SectionUsage(
        tokens=measured.tokens,
        most=measured.room,
        required=section.required,
        capped=section.cap_within(profile.budget) is not None,
    )


@dataclass(frozen=True, slots=True)
class OversizedFile:
    """A file that is over the limit of its section."""

    name: str
    owner: str
    address: str
    room: SectionUsage


def find_oversized_files(principal: Principal) -> list[OversizedFile]:
    """Return the files over the limit that the person may edit, the largest excess first, as far as
    they are counted.
    """
    agents, teams = Agent.objects.editable_by(principal), Team.objects.editable_by(principal)
    of_agents = AgentFile.objects.filter(agent__in=agents).select_related("agent")
    of_teams = TeamFile.objects.filter(team__in=teams).select_related("team")
    profiles = {name: profile_of_agent(Agent(profile=name)) for name in _profiles_in_use(agents)}
    agent_limits = [
        When(agent__profile=name, file_key=key, then=Value(_section_limit(key, profile)))
        for name, profile in profiles.items()
        for key in AgentFile.Key.values
    ]
    team_limits = [When(file_key=key, then=Value(_section_limit(key, CONVERSATION))) for key in TeamFile.Key.values]
    found = [
        _oversized_file(file, file.agent, "agent_file", profiles.get(file.agent.profile, CONVERSATION))
        for file in _possibly_oversized(of_agents, agent_limits)
    ]
    found += [
        _oversized_file(file, file.team, "team_file", CONVERSATION)
        for file in _possibly_oversized(of_teams, team_limits)
    ]
    over = [file for file in found if file.room.over]
    return sorted(over, key=lambda file: file.room.tokens / file.room.most, reverse=True)


def _profiles_in_use(agents: QuerySet[Agent]) -> set[str]:
    return {"", *agents.exclude(profile="").order_by().values_list("profile", flat=True).distinct()}


def _possibly_oversized(files: QuerySet[Any], limits: list[When]) -> list[Any]:
    """Return the files that may be over the limit.

    A token has at least one byte, and PostgreSQL knows the size of a text without reading it.
    """
    size = WrittenOctets(F("content"))
    measured = files.alias(size=size, most=Case(*limits)).filter(size__gt=F("most"))
    return list(measured.alias(fullness=F("size") * 100 / F("most")).order_by("-fullness", "id")[:COUNTED])


def _oversized_file(file: Any, owner: Agent | Team, route: str, profile: Profile) -> OversizedFile:
    usage = section_usage(file.file_key, file.content, profile)
    return OversizedFile(
        file.get_file_key_display(), owner.name, reverse(route, args=[owner.slug, file.file_key]), usage
    )


def _section_limit(key: str, profile: Profile) -> int:
    return limit_of(section_of(key, profile), profile)


@dataclass(frozen=True, slots=True)
class FileCard:
    """A file as its owner's page shows it, with the person's draft of it."""

    file: Any
    guidance: Guidance
    room: SectionUsage
    draft: Draft | None
    edit_address: str
    read_address: str
    history_address: str


def file_cards(
    principal: Principal, files: Iterable[Any], guidance: Mapping[str, Guidance], route: str, owner: Agent | Team
) -> list[FileCard]:
    """Return one card per kind of file, in the order of the guidance."""
    profile = profile_of_agent(owner if isinstance(owner, Agent) else None)
    by_key = {file.file_key: file for file in files}
    own = drafts_of(principal.id).filter(about__in=[file.about for file in by_key.values()]).defer("content")
    drafts = {draft.about: draft for draft in own}
    return [
        FileCard(
            file=file,
            guidance=words,
            room=section_usage(key, file.content, profile),
            draft=drafts.get(file.about),
            edit_address=reverse(route, args=[owner.slug, key]),
            read_address=reverse(f"{route}_version", args=[owner.slug, key, file.version]),
            history_address=reverse(f"{route}_history", args=[owner.slug, key]),
        )
        for key, words in guidance.items()
        if (file := by_key.get(key))
    ]
