"""Text that a person typed is resolved to items of contexts here: by a ref, the address of a page, or a name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.urls import Resolver404, resolve
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.access import agent_for
from assembly.contexts.search.criteria import ContextQuery, ReferenceQuery
from assembly.contexts.search.db import bounded_search
from assembly.contexts.search.item_rows import (
    files_with_names,
    logs_with_words,
    memories_with_words,
    organisation_files_with_names,
)
from assembly.contexts.search.owned_things import excerpt
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.engine.refs import without_version
from assembly.sources.kinds import ITEM_KINDS, ItemKind, column_search
from config.http.errors import NotFound
from memories.embeddings.active_model import SLOTS
from memories.models import Entity
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
    find: Mapping[str, Callable[[Principal, str], Any]] = {"agent": agent_for, "team": team_for}
    owners = [find[owner](principal, address["slug"]).id for owner in kind.owners]
    rows = kind.rows(agents=owners, teams=owners).filter(**{column: address[argument]})
    found: UUID | None = rows.values_list("id", flat=True).first()
    if found is None:
        raise NotFound
    return str(found)


MAX_MATCHES = 3
"""Most matches shown per group; further matches are found by typing more words."""


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
    """Yield files that the words name, files of the organisation and of teams first."""
    for row in organisation_files_with_names(words)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(row.about, row.title, _("the organisation"))
    for rows, is_named in files_with_names(words, agents=owners.agents, teams=owners.teams):
        for row in rows.filter(is_named).order_by("file_key", "id")[: MAX_MATCHES + 1]:
            owner = row.team if isinstance(row, TeamFile) else row.agent
            yield ReferenceMatch(row.about, row.get_file_key_display(), owner.name)


def _find_logs(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    for row in logs_with_words(words, owners.agents)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(f"daily_log:{row.id}", date_format(row.date, "j F Y"), row.agent.name)


def _find_memories(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    for row in memories_with_words(words, agents=owners.agents, teams=owners.teams)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(f"memory:{row.id}", excerpt(row.text), row.owner_name)


def _find_entities(owners: SearchOwners, words: str) -> Iterator[ReferenceMatch]:
    """Yield entities whose name matches the words, newest first."""
    rows = Entity.objects.filter(agent__in=owners.agents).defer(*SLOTS).select_related("agent")
    for row in column_search("name")(rows, words)[: MAX_MATCHES + 1]:
        yield ReferenceMatch(f"entity:{row.id}", row.name, row.agent.name)


REFERENCE_FINDERS: Sequence[tuple[object, Callable[[SearchOwners, str], Iterator[ReferenceMatch]]]] = (
    (gettext_lazy("Files"), _find_files),
    (gettext_lazy("Daily logs"), _find_logs),
    (gettext_lazy("Memories"), _find_memories),
    (gettext_lazy("Entities"), _find_entities),
)
