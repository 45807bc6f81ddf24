"""A text that somebody typed or pasted, as a thing that contexts hold: a ref, or the address of a page.

Words that somebody typed for a thing that contexts hold: which things they may mean, of those that one may see.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce
from django.urls import Resolver404, resolve
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.access import agent_for
from agents.models import AgentFile, DailyLog
from assembly.contexts.search.criteria import Thing, Wanted
from assembly.contexts.search.db import bounded
from assembly.contexts.search.owned_things import excerpt, memories_saying, rows_with
from assembly.contexts.search.visible_owners import Sight
from assembly.engine.diff import named
from config.http.errors import NotFound
from memories.embeddings.active_model import SLOTS
from memories.models import Entity, Memory
from teams.access import team_for
from teams.models import TeamFile
from teams.principal import Principal

MAX_CHARACTERS = 160  # of a ref, as the record keeps it
REF = re.compile(r"[a-z0-9_-]+:\S+")
OF_AGENT = {"entity", "pattern", "thread", "tool"}
"""Pages of what agents keep, called after what the refs begin with."""

Finder = Callable[[Principal, Mapping[str, Any]], str]


def is_name(text: str) -> bool:
    """Whether it is neither a ref nor an address, so that it may be what people call a thing."""
    return not (_is_address(text) or REF.fullmatch(text))


def thing_of(text: str, principal: Principal) -> Thing:
    """The thing that a ref or the address of a page names. Raises ValueError, with a sentence."""
    text = text.strip()
    if _is_address(text):
        return _on_page(text, principal)
    if len(text) > MAX_CHARACTERS or not REF.fullmatch(text):
        raise ValueError(_("Paste the address of the page of a file, a memory or another thing, or its ref."))
    return Thing(named(text), text)


def _is_address(text: str) -> bool:
    return text.startswith(("/", "http:", "https:"))


def _on_page(address: str, principal: Principal) -> Thing:
    """What the page is about; on a page of one version, that version."""
    try:
        page = resolve(urlsplit(address).path)
        kind = _kind_of(page.url_name or "")
        whole = f"{REFS.get(kind, kind)}:{FINDERS[kind](principal, page.kwargs)}"
        return Thing(whole, f"{whole}@{page.kwargs['number']}" if "number" in page.kwargs else whole)
    except (Resolver404, KeyError, NotFound, ValueError):
        raise ValueError(
            _("This is no page of a file, a daily log, a memory or another thing that you may read.")
        ) from None


def _kind_of(page: str) -> str:
    """What the page is about, by its name: agent_file_history → agent_file."""
    return next((kind for kind in FINDERS if page == kind or page.startswith(f"{kind}_")), page)


def _agent_file(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(AgentFile.objects.filter(agent=agent_for(principal, address["slug"]), file_key=address["key"]))


def _team_file(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(TeamFile.objects.filter(team=team_for(principal, address["slug"]), file_key=address["key"]))


def _daily_log(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(DailyLog.objects.filter(agent=agent_for(principal, address["slug"]), date=address["date"]))


def _given(name: str) -> Finder:
    """The id that stands in the address: whether it may be read, each context says for itself."""
    return lambda _principal, address: str(address[name])


def _id_of(rows: Any) -> str:
    found: UUID | None = rows.values_list("id", flat=True).first()
    if found is None:
        raise NotFound
    return str(found)


FINDERS: dict[str, Finder] = {
    "agent_file": _agent_file,
    "team_file": _team_file,
    "daily_log": _daily_log,
    "memory": _given("id_"),
    "event": _given("event_id"),
    "document": _given("thing_id"),
    **{kind: _given("thing_id") for kind in OF_AGENT},
}
REFS = {"document": "chunk"}
"""What refs begin with, where that is not the name of the page."""

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
