"""Text that a person typed is resolved to items of contexts here: by a ref, the address of a page, or a name."""

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
from assembly.contexts.search.criteria import ContextQuery, ReferenceQuery
from assembly.contexts.search.db import bounded_search
from assembly.contexts.search.owned_things import excerpt
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.engine.refs import without_version
from assembly.sources.kinds import ITEM_KINDS, ItemKind, column_search, search_memories
from config.http.errors import NotFound
from memories.embeddings.active_model import SLOTS
from memories.models import Entity, Memory
from teams.access import team_for
from teams.models import TeamFile
from teams.principal import Principal

MAX_CHARACTERS = 160  # most characters of a ref, as in the record
REF = re.compile(r"[a-z0-9_-]+:\S+")


def is_plain_name(text: str) -> bool:
    """Return whether the text is neither a ref nor an address, so that it may be the name of an item."""
    return not (_is_address(text) or REF.fullmatch(text))


def parse_reference(text: str, principal: Principal) -> ReferenceQuery:
    """Return the item that a ref or the address of a page names. Raises ValueError with a sentence for people."""
    text = text.strip()
    if _is_address(text):
        return _reference_on_page(text, principal)
    if len(text) > MAX_CHARACTERS or not REF.fullmatch(text):
        raise ValueError(_("Paste the URL of the page of a file, memory or other item, or its ref."))
    return ReferenceQuery(without_version(text), text)


def _is_address(text: str) -> bool:
    return text.startswith(("/", "http:", "https:"))


def _reference_on_page(address: str, principal: Principal) -> ReferenceQuery:
    """Return the item that a page shows; on the page of one version, with that version. Raises ValueError."""
    try:
        page = resolve(urlsplit(address).path)
        kind = _kind_of(page.url_name or "")
        whole = f"{kind.passage or kind.name}:{_id_on_page(kind, principal, page.kwargs)}"
        return ReferenceQuery(whole, f"{whole}@{page.kwargs['number']}" if "number" in page.kwargs else whole)
    except (Resolver404, KeyError, NotFound, ValueError):
        raise ValueError(
            _("This is not a page of a file, daily log, memory or other item that you may read.")
        ) from None


def _kind_of(page: str) -> ItemKind:
    """Return the item kind of a page by the page's URL name: agent_file_history → agent_file. Raises KeyError."""
    for kind in ITEM_KINDS:
        if kind.page and (page == kind.page or page.startswith(f"{kind.page}_")):
            return kind
    raise KeyError(page)


def _id_on_page(kind: ItemKind, principal: Principal, address: Mapping[str, Any]) -> str:
    """Return the id of the item that a page shows. Raises NotFound.

    An id in the address is not checked for access: each context found by it is checked.
    """
    if kind.page_key is None:
        return str(address[kind.page_id])
    column, argument = kind.page_key
    owner = (agent_for if kind.owners == ("agent",) else team_for)(principal, address["slug"])
    rows = kind.rows(agents=[owner.id], teams=[owner.id]).filter(**{column: address[argument]})
    found: UUID | None = rows.values_list("id", flat=True).first()
    if found is None:
        raise NotFound
    return str(found)


MAX_MATCHES = 3
"""Most matches shown per group; further matches are found by typing more words."""
MAX_WORDS = 8

Rows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class ReferenceMatch:
    """An item offered as a match: its ref without a version, its title and its owner's name."""

    ref: str
    title: str
    owner: str


@dataclass(frozen=True, slots=True)
class ReferenceMatchGroup:
    """Matching items of one kind. `has_more`: more items match than are offered."""

    label: str
    offered: Sequence[ReferenceMatch]
    has_more: bool


@dataclass(frozen=True, slots=True)
class SearchOwners:
    """The ids of the agents and teams whose items are searched."""

    agents: Sequence[UUID]
    teams: Sequence[UUID]


def find_references(words: str, *, visible: VisibleOwners, wanted: ContextQuery) -> list[ReferenceMatchGroup]:
    """Return visible files, logs, memories and entities that match the words, at most 3 of each.

    The agent and the team of the criteria `wanted` limit the owners. Raises SearchTooBroad.
    """
    owners = SearchOwners(_search_owners(visible.agents, wanted.agent), _search_owners(visible.teams, wanted.team))
    with bounded_search():
        groups = [_match_group(label, find(owners, words.strip())) for label, find in REFERENCE_FINDERS]
    return [group for group in groups if group.offered]


def _search_owners(seen: Iterable[Any], wanted: UUID | None) -> list[UUID]:
    return [one.id for one in seen if wanted in {None, one.id}]


def _match_group(label: object, found: Iterator[ReferenceMatch]) -> ReferenceMatchGroup:
    offered = [*islice(found, MAX_MATCHES + 1)]
    return ReferenceMatchGroup(str(label), offered[:MAX_MATCHES], len(offered) > MAX_MATCHES)


def _find_files(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    """Yield files in whose key or owner's name each word occurs, files of teams first."""
    for rows, owner in (
        (TeamFile.objects.filter(team__in=owners.teams), "team"),
        (AgentFile.objects.filter(agent__in=owners.agents), "agent"),
    ):
        called = _rows_with_words(rows, words, "file_key", f"{owner}__name").select_related(owner)
        for row in called.order_by(f"{owner}__name", "file_key")[: MAX_MATCHES + 1]:
            yield ReferenceMatch(row.about, row.file_key.capitalize(), getattr(row, owner).name)


def _find_logs(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    """Yield daily logs in whose date (as 2026-11-22) or agent's name each word occurs, newest first."""
    dated = DailyLog.objects.filter(agent__in=owners.agents).annotate(day=Cast("date", TextField()))
    for row in (
        _rows_with_words(dated, words, "day", "agent__name")
        .select_related("agent")
        .order_by("-date")[: MAX_MATCHES + 1]
    ):
        yield ReferenceMatch(f"daily_log:{row.id}", date_format(row.date, "j F Y"), row.agent.name)


def _find_memories(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    """Yield memories that contain the words, newest first."""
    seen = Memory.objects.filter(Q(agent__in=owners.agents) | Q(team__in=owners.teams)).defer(*SLOTS, "search")
    named = seen.annotate(owner_name=Coalesce(F("agent__name"), F("team__name")))
    for row in search_memories(named, words)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(f"memory:{row.id}", excerpt(row.text), row.owner_name)


def _find_entities(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    """Yield entities whose name matches the words, newest first."""
    rows = Entity.objects.filter(agent__in=owners.agents).defer(*SLOTS).select_related("agent")
    for row in column_search("name")(rows, words)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(f"entity:{row.id}", row.name, row.agent.name)


def _rows_with_words(rows: Rows, words: str, *columns: str) -> Rows:
    """Return the rows in which each word occurs in one of the columns."""
    for word in words.split()[:MAX_WORDS]:
        rows = rows.filter(Q(*((f"{column}__icontains", word) for column in columns), _connector=Q.OR))
    return rows


REFERENCE_FINDERS: Sequence[tuple[object, Callable[[SearchOwners, str], Iterator[ReferenceMatch]]]] = (
    (gettext_lazy("Files"), _find_files),
    (gettext_lazy("Daily logs"), _find_logs),
    (gettext_lazy("Memories"), _find_memories),
    (gettext_lazy("Entities"), _find_entities),
)
