"""How much of its room in a context a text takes, and which files are too long for theirs."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, Func, IntegerField, QuerySet, Value, When
from django.urls import reverse

from agents.models import Agent, AgentFile
from assembly.profiles import CONVERSATION
from config.tokens import DEFAULT_TOKENIZER, get_tokenizer
from teams.models import Team, TeamFile
from teams.principal import Principal

SECTIONS = {section.key.upper(): section for section in CONVERSATION.sections}
COUNTED = 10
"""How many files of each kind are counted at a visit, at most."""


@dataclass(frozen=True, slots=True)
class Room:
    """A text measured against its section of the conversation profile, in tokens."""

    tokens: int
    most: int
    required: bool
    """Never cut, so that it takes its room from everything else."""
    capped: bool
    """Has room of its own; what has none shares a whole context."""

    @property
    def over(self) -> int:
        """Tokens that do not fit."""
        return max(self.tokens - self.most, 0)


def room_of(key: str, text: str) -> Room:
    """The room of the text of a file with that key."""
    section = SECTIONS[key]
    return Room(
        tokens=get_tokenizer(DEFAULT_TOKENIZER).count(text),
        most=_most(key),
        required=section.required,
        capped=section.cap is not None,
    )


@dataclass(frozen=True, slots=True)
class FullFile:
    """A file that is longer than its room."""

    name: str
    owner: str
    address: str
    room: Room


def files_over_room(principal: Principal) -> list[FullFile]:
    """Those that the person may edit, the fullest first, as far as they are counted."""
    agents, teams = Agent.objects.editable_by(principal), Team.objects.editable_by(principal)
    agent_files = _likely(AgentFile.objects.filter(agent__in=agents).select_related("agent"), AgentFile.Key.values)
    team_files = _likely(TeamFile.objects.filter(team__in=teams).select_related("team"), TeamFile.Key.values)
    found = [_full(file, file.agent, "agent_file") for file in agent_files]
    found += [_full(file, file.team, "team_file") for file in team_files]
    over = [file for file in found if file.room.over]
    return sorted(over, key=lambda file: file.room.tokens / file.room.most, reverse=True)


def _likely(files: QuerySet[Any], keys: list[str]) -> list[Any]:
    """The files that may be over their room. A token has a byte at least; PostgreSQL knows the bytes of a text
    without reading it."""
    most = Case(*(When(file_key=key, then=Value(_most(key))) for key in keys))
    size = Func(F("content"), function="octet_length", output_field=IntegerField())
    measured = files.alias(size=size, most=most).filter(size__gt=F("most"))
    return list(measured.alias(fullness=F("size") * 100 / F("most")).order_by("-fullness", "id")[:COUNTED])


def _full(file: Any, owner: Agent | Team, route: str) -> FullFile:
    name = file.get_file_key_display()
    return FullFile(
        name, owner.name, reverse(route, args=[owner.slug, file.file_key]), room_of(file.file_key, file.content)
    )


def _most(key: str) -> int:
    return SECTIONS[key].cap or CONVERSATION.budget
