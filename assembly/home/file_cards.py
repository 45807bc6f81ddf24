"""This module measures texts against the limits of their sections, and finds files over the limit.

It also builds the cards of files on the pages of agents and teams.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, Func, IntegerField, QuerySet, Value, When
from django.urls import reverse

from agents.models import Agent, AgentFile
from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview.size import measure_text
from teams.guidance import Guidance
from teams.models import Team, TeamFile
from teams.principal import Principal
from teams.versioned_text.drafts import Draft, drafts_of

SECTIONS = {section.key.upper(): section for section in CONVERSATION.sections}
COUNTED = 10
"""The maximum number of files of each kind whose tokens are counted per request."""


@dataclass(frozen=True, slots=True)
class SectionUsage:
    """The size of a text compared with its section of the conversation profile, in tokens.

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


def section_usage(key: str, text: str) -> SectionUsage:
    """Return the size of the text of a file with this key."""
    section = SECTIONS[key]
    return SectionUsage(
        tokens=measure_text(text, key).tokens,
        most=_section_limit(key),
        required=section.required,
        capped=section.cap is not None,
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
    agent_files = _possibly_oversized(
        AgentFile.objects.filter(agent__in=agents).select_related("agent"), AgentFile.Key.values
    )
    team_files = _possibly_oversized(
        TeamFile.objects.filter(team__in=teams).select_related("team"), TeamFile.Key.values
    )
    found = [_oversized_file(file, file.agent, "agent_file") for file in agent_files]
    found += [_oversized_file(file, file.team, "team_file") for file in team_files]
    over = [file for file in found if file.room.over]
    return sorted(over, key=lambda file: file.room.tokens / file.room.most, reverse=True)


def _possibly_oversized(files: QuerySet[Any], keys: list[str]) -> list[Any]:
    """Return the files that may be over the limit.

    A token has at least one byte, and PostgreSQL knows the size of a text without reading it.
    """
    most = Case(*(When(file_key=key, then=Value(_section_limit(key))) for key in keys))
    size = Func(F("content"), function="octet_length", output_field=IntegerField())
    measured = files.alias(size=size, most=most).filter(size__gt=F("most"))
    return list(measured.alias(fullness=F("size") * 100 / F("most")).order_by("-fullness", "id")[:COUNTED])


def _oversized_file(file: Any, owner: Agent | Team, route: str) -> OversizedFile:
    name = file.get_file_key_display()
    return OversizedFile(
        name, owner.name, reverse(route, args=[owner.slug, file.file_key]), section_usage(file.file_key, file.content)
    )


def _section_limit(key: str) -> int:
    return SECTIONS[key].cap or CONVERSATION.budget


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
    principal: Principal, files: Iterable[Any], guidance: Mapping[str, Guidance], route: str, slug: str
) -> list[FileCard]:
    """Return one card per kind of file, in the order of the guidance."""
    by_key = {file.file_key: file for file in files}
    own = drafts_of(principal.id).filter(about__in=[file.about for file in by_key.values()]).defer("content")
    drafts = {draft.about: draft for draft in own}
    return [
        _card(file, words, route, slug, drafts.get(file.about))
        for file, words in ((by_key[key], words) for key, words in guidance.items() if key in by_key)
    ]


def _card(file: Any, words: Guidance, route: str, slug: str, draft: Draft | None) -> FileCard:
    return FileCard(
        file=file,
        guidance=words,
        room=section_usage(file.file_key, file.content),
        draft=draft,
        edit_address=reverse(route, args=[slug, file.file_key]),
        read_address=reverse(f"{route}_version", args=[slug, file.file_key, file.version]),
        history_address=reverse(f"{route}_history", args=[slug, file.file_key]),
    )
