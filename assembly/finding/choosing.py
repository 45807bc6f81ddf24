"""Words that somebody typed for a thing that contexts hold: which things they may mean, of those that one may see."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy

from agents.models import AgentFile, DailyLog
from assembly.finding.asking import bounded
from assembly.finding.sight import Sight
from assembly.finding.wanted import Wanted
from assembly.whynot.things import excerpt, memories_saying, rows_with
from memories.models import Entity, Memory
from memories.spaces import SLOTS
from teams.models import TeamFile

MOST = 3
"""Of a group: one looks over so many at once, and types another word to find the rest."""
MAX_WORDS = 8

Rows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class Offered:
    """A thing to choose, in any version: its ref, what it is called, and whose it is."""

    ref: str
    title: str
    owner: str


@dataclass(frozen=True, slots=True)
class Group:
    """Things of one kind. `has_more`: others are called so, too."""

    label: str
    offered: Sequence[Offered]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Owners:
    """Whose things are looked through, by id."""

    agents: Sequence[UUID]
    teams: Sequence[UUID]


def things_called(words: str, *, sight: Sight, wanted: Wanted) -> list[Group]:
    """Files, days, memories and entities that are called so, some of each, of those whom the other filters leave.

    Raises TooBroad.
    """
    owners = Owners(_of(sight.agents, wanted.agent), _of(sight.teams, wanted.team))
    with bounded():
        groups = [_group(label, find(owners, words.strip())) for label, find in GROUPS]
    return [group for group in groups if group.offered]


def _of(seen: Iterable[Any], wanted: UUID | None) -> list[UUID]:
    return [one.id for one in seen if wanted in {None, one.id}]


def _group(label: object, found: Iterator[Offered]) -> Group:
    offered = [*islice(found, MOST + 1)]
    return Group(str(label), offered[:MOST], len(offered) > MOST)


def _files(owners: Owners, words: str) -> Iterator[Offered]:
    """By their title and the name of their team or agent, those of teams first."""
    for rows, owner in (
        (TeamFile.objects.filter(team__in=owners.teams), "team"),
        (AgentFile.objects.filter(agent__in=owners.agents), "agent"),
    ):
        called = _each_word(rows, words, "file_key", f"{owner}__name").select_related(owner)
        for row in called.order_by(f"{owner}__name", "file_key")[: MOST + 1]:
            yield Offered(row.about, row.file_key.capitalize(), getattr(row, owner).name)


def _logs(owners: Owners, words: str) -> Iterator[Offered]:
    """By their day, as 2026-11-22 or a part of it, and the name of their agent; the newest first."""
    dated = DailyLog.objects.filter(agent__in=owners.agents).annotate(day=Cast("date", TextField()))
    for row in _each_word(dated, words, "day", "agent__name").select_related("agent").order_by("-date")[: MOST + 1]:
        yield Offered(f"daily_log:{row.id}", date_format(row.date, "j F Y"), row.agent.name)


def _memories(owners: Owners, words: str) -> Iterator[Offered]:
    """By words that they hold, the newest first."""
    seen = Memory.objects.filter(Q(agent__in=owners.agents) | Q(team__in=owners.teams)).defer(*SLOTS, "search")
    named = seen.annotate(owner_name=Coalesce(F("agent__name"), F("team__name")))
    for row in memories_saying(named, words)[: MOST + 1]:
        yield Offered(f"memory:{row.id}", excerpt(row.text), row.owner_name)


def _entities(owners: Owners, words: str) -> Iterator[Offered]:
    """By their name, the newest first."""
    rows = Entity.objects.filter(agent__in=owners.agents).defer(*SLOTS).select_related("agent")
    for row in rows_with("name")(rows, words)[: MOST + 1]:
        yield Offered(f"entity:{row.id}", row.name, row.agent.name)


def _each_word(rows: Rows, words: str, *columns: str) -> Rows:
    """Those of which every word stands in one of the columns."""
    for word in words.split()[:MAX_WORDS]:
        rows = rows.filter(Q(*((f"{column}__icontains", word) for column in columns), _connector=Q.OR))
    return rows


GROUPS: Sequence[tuple[object, Callable[[Owners, str], Iterator[Offered]]]] = (
    (gettext_lazy("Files"), _files),
    (gettext_lazy("Daily logs"), _logs),
    (gettext_lazy("Memories"), _memories),
    (gettext_lazy("People, places and things"), _entities),
)
