"""This module has the kinds of items that sources return. A new kind is one entry of `KINDS`.

The entry is used for the item's history in comparisons, links to its page, its title in lists and in the search for
contexts, why-not's search among current items, and the limitations of a context as of a date.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import AgentFile, AgentFileVersion, DailyLog, DailyLogVersion
from assembly.engine.rules import SelectorKind
from config.http.serializers import parse_date
from config.keys.sealed_texts import JSON_MARK
from memories.embeddings.active_model import SLOTS
from memories.models import Document, Entity, Event, Memory, MemoryVersion, Pattern, Relation, TaskFrame, Thread, Tool
from memories.services.json_values import compact_json
from memories.services.memory import words_in_any_language
from teams.models import OrganisationFile, OrganisationFileVersion, TeamFile, TeamFileVersion
from teams.sealing.order import in_order_of, rows_by_name

Rows = QuerySet[Any]
MAX_NAMED = 20
MAX_SEARCHED_EVENTS = 1_000
"""The number of newest events that are searched for words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKind:
    """A kind of item: its tables, its sources, how its items are named and how they are found."""

    name: str
    """The prefix of the refs of the kind."""
    model: Any
    versions: Any = None
    """The table of versions; None if only the newest state is stored."""
    owners: tuple[str, ...] = ("agent",)
    """The columns of the owners of an item: `agent`, `team` or both; none if it belongs to the whole organisation."""
    many: str | Promise
    """The noun in the plural."""
    title: Callable[[Any], str]
    """A function that returns the title of an item, of any length."""
    phrase: Callable[[Any], str] | None = None
    """A function that returns how a sentence mentions an item; None: by its title in quotation marks."""
    search: Callable[[Rows, str], Rows]
    """A function that returns the rows that match words, in the order in which they are shown."""
    sources: tuple[str, ...] = ()
    """The sources that return the items of agents."""
    team_sources: tuple[str, ...] = ()
    """The sources that return the items of teams."""
    also_in: tuple[str, ...] = ()
    """Other sources whose items are made from rows of this kind."""
    passage: str = ""
    """The prefix of the refs of its passages, if its items are split."""
    page: str = ""
    """The URL name of its page, which is also the prefix of the names of its other pages."""
    page_id: str = ""
    """The URL argument with its id."""
    page_key: tuple[str, str] | None = None
    """The column, and the URL argument, that identify it among the items of its owner."""
    selector: SelectorKind | None = None
    """The label by which a rule can include the single item."""
    joined: tuple[str, ...] = ()
    """The relations that its title and its phrase need."""
    large: tuple[str, ...] = ()
    """Large columns that lists of items do not read."""

    @property
    def is_file(self) -> bool:
        """Whether it is one of the named files of agents and teams, which contexts have whole or truncated."""
        return self.page_key == FILE_KEY and not self.passage

    @property
    def told_by(self) -> frozenset[str]:
        """All sources that need rows of the kind."""
        return frozenset((*self.sources, *self.team_sources, *self.also_in))

    def rows(self, *, agents: object, teams: object) -> Rows:
        """Return the items of these owners, which are given by lists or queries of ids; those of the organisation
        belong to everybody.
        """
        owners = {"agent": agents, "team": teams}
        of_owners = reduce(or_, (Q((f"{owner}__in", owners[owner])) for owner in self.owners), Q())
        rows: Rows = self.model._default_manager.filter(of_owners).defer(*self.large)  # noqa: SLF001 - documented
        return rows.select_related(*self.joined) if self.joined else rows

    def mention(self, row: Any) -> str:
        """Return how a sentence mentions the item."""
        return self.phrase(row) if self.phrase else quoted_excerpt(self.title(row))

    def sources_of(self, row: Any) -> tuple[str, ...]:
        """Return the sources that return the item to its owner."""
        return self.team_sources if getattr(row, "team_id", None) else self.sources


FILE_KEY = ("file_key", "key")
ORGANISATION_FILE = "organisation_file"
"""The kind of the organisation's files, and of their passages: `organisation_file:<uuid>@3#7`."""
EXCERPT_CHARACTERS = 80


def quoted_excerpt(text: str) -> str:
    """Return the beginning of a text in quotation marks."""
    return f"“{Truncator(' '.join(text.split())).chars(EXCERPT_CHARACTERS)}”"


def column_search(name: str) -> Callable[[Rows, str], Rows]:
    """Return a search for words in the column, newest rows first."""
    return lambda rows, words: rows.filter(**{f"{name}__icontains": words}).order_by("-created", "id")


def search_memories(rows: Rows, words: str) -> Rows:
    """Return the memories that contain the words in any form, newest first, or the one with this external id or ref.

    Cold and frozen memories are found by their id alone, because search does not know their words.
    """
    found = Q(search=words_in_any_language(words, rows))
    if named := list(rows.filter(_has_name(words)).values_list("id", flat=True)[:MAX_NAMED]):
        found |= Q(id__in=named)
    return rows.filter(found).order_by("-created", "id")


def _has_name(words: str) -> Q:
    try:
        return Q(id=UUID(words.strip().removeprefix("memory:").partition("@")[0]))
    except ValueError:
        return Q(external_id=words.strip()) & ~Q(external_id="")


def _search_files(rows: Rows, words: str) -> Rows:
    return rows.filter(Q(file_key__iexact=words) | Q(content__icontains=words)).order_by("file_key")


def _search_organisation_files(rows: Rows, words: str) -> Rows:
    titles = rows_by_name(rows, "title", "file_key")
    named = Q(file_key__iexact=words) | Q(id__in=[row.id for row in titles if words.casefold() in row.name.casefold()])
    return rows.filter(named | Q(content__icontains=words)).order_by(in_order_of([row.id for row in titles]))


def _search_logs(rows: Rows, words: str) -> Rows:
    day = parse_date(words)
    return rows.filter(Q(date=day) if day else Q(content__icontains=words)).order_by("-date")


def _search_events(rows: Rows, words: str) -> Rows:
    newest = rows.order_by("-occurred_at", "-id").values("id")[:MAX_SEARCHED_EVENTS]
    texts: Rows = rows.filter(id__in=newest).annotate(searched=Cast("content", TextField()))
    # The database cannot look into packed contents.
    packed = rows.filter(id__in=newest, content__isnull=True).values_list("id", "content")
    named = [id_ for id_, content in packed if words.lower() in compact_json(content).lower()]
    said = Q(searched__icontains=words) & ~Q(searched__startswith=JSON_MARK)  # ciphertext has letters by chance
    found = said | Q(type__iexact=words) | Q(id__in=named)
    return texts.filter(found).order_by("-occurred_at", "-id")


def _search_relations(rows: Rows, words: str) -> Rows:
    ends = Q(source__name__icontains=words) | Q(target__name__icontains=words)
    return rows.filter(ends | Q(type__iexact=words)).order_by("-created", "id")


def _file_title(row: AgentFile | TeamFile) -> str:
    return row.get_file_key_display()


def _agent_file_phrase(row: AgentFile) -> str:
    return gettext("%(file)s of %(owner)s") % {"file": _file_title(row), "owner": row.agent.name}


def _team_file_phrase(row: TeamFile) -> str:
    return gettext("%(file)s of %(owner)s") % {"file": _file_title(row), "owner": row.team.name}


def _log_phrase(row: DailyLog) -> str:
    facts = {"owner": row.agent.name, "day": date_format(row.date, "j F Y")}
    return gettext("the log of %(owner)s, %(day)s") % facts


def _event_title(row: Event) -> str:
    values = [str(value) for value in row.content.values()] if isinstance(row.content, dict) else []
    return f"{row.type}: {' '.join(values)}"


ITEM_KINDS = (
    ItemKind(
        name="agent_file",
        model=AgentFile,
        versions=AgentFileVersion,
        many=_("files"),
        title=_file_title,
        phrase=_agent_file_phrase,
        joined=("agent",),
        search=_search_files,
        sources=("agent_files",),
        also_in=("rule_inclusions",),
        page="agent_file",
        page_key=FILE_KEY,
        selector="path",
    ),
    ItemKind(
        name="team_file",
        model=TeamFile,
        versions=TeamFileVersion,
        owners=("team",),
        many=_("files"),
        title=_file_title,
        phrase=_team_file_phrase,
        joined=("team",),
        search=_search_files,
        team_sources=("team_files",),
        also_in=("rule_inclusions",),
        page="team_file",
        page_key=FILE_KEY,
        selector="path",
    ),
    ItemKind(
        name=ORGANISATION_FILE,
        model=OrganisationFile,
        versions=OrganisationFileVersion,
        owners=(),
        many=_("files of the organisation"),
        title=lambda row: row.title,
        search=_search_organisation_files,
        sources=("organisation_files",),
        passage=ORGANISATION_FILE,
        page=ORGANISATION_FILE,
        page_key=FILE_KEY,
        large=("content",),
    ),
    ItemKind(
        name="daily_log",
        model=DailyLog,
        versions=DailyLogVersion,
        many=_("daily logs"),
        title=lambda row: row.date.isoformat(),
        phrase=_log_phrase,
        joined=("agent",),
        search=_search_logs,
        sources=("daily_logs",),
        page="daily_log",
        page_key=("date", "date"),
    ),
    ItemKind(
        name="memory",
        model=Memory,
        versions=MemoryVersion,
        owners=("agent", "team"),
        many=_("memories"),
        title=lambda row: row.text,
        search=search_memories,
        sources=("agent_memories",),
        team_sources=("team_memories",),
        also_in=("rule_inclusions",),
        page="memory",
        page_id="id_",
        large=(*SLOTS, "search"),
    ),
    ItemKind(
        name="entity",
        model=Entity,
        many=_("entities"),
        title=lambda row: row.name,
        search=column_search("name"),
        sources=("entities",),
        also_in=("relations", "rule_inclusions"),
        page="entity",
        page_id="thing_id",
        selector="kg_entity",
        large=SLOTS,
    ),
    ItemKind(
        name="relation",
        model=Relation,
        many=_("relations"),
        title=lambda row: f"{row.source.name} {row.type} {row.target.name}",
        search=_search_relations,
        sources=("relations",),
        joined=("source", "target"),
    ),
    ItemKind(
        name="event",
        model=Event,
        many=_("events"),
        title=_event_title,
        phrase=lambda row: quoted_excerpt(row.type),
        search=_search_events,
        sources=("recent_events", "tool_results"),
        page="event",
        page_id="event_id",
    ),
    ItemKind(
        name="pattern",
        model=Pattern,
        many=_("patterns"),
        title=lambda row: row.name,
        search=column_search("name"),
        sources=("patterns",),
        also_in=("rule_inclusions",),
        page="pattern",
        page_id="thing_id",
        selector="tag",
    ),
    ItemKind(
        name="thread",
        model=Thread,
        many=_("threads"),
        title=lambda row: row.title,
        search=column_search("title"),
        sources=("threads",),
        page="thread",
        page_id="thing_id",
    ),
    ItemKind(
        name="tool",
        model=Tool,
        many=_("tools"),
        title=lambda row: row.name,
        search=column_search("name"),
        sources=("tools",),
        page="tool",
        page_id="thing_id",
        large=SLOTS,
    ),
    ItemKind(
        name="task",
        model=TaskFrame,
        many=_("tasks"),
        title=lambda row: row.goal,
        search=column_search("goal"),
        sources=("task_stack",),
    ),
    ItemKind(
        name="document",
        model=Document,
        many=_("documents"),
        title=lambda row: row.path,
        search=column_search("path"),
        sources=("open_files", "semantic_content"),
        also_in=("rule_inclusions", "project_structure"),
        passage="chunk",
        page="document",
        page_id="thing_id",
        selector="path",
        large=("content",),
    ),
)
KINDS: Mapping[str, ItemKind] = {name: kind for kind in ITEM_KINDS for name in (kind.name, kind.passage) if name}
"""The kinds of items by the prefix of their refs. Passages have the kind of their document."""
FILES = frozenset(kind.name for kind in ITEM_KINDS if kind.is_file)
"""The prefixes of the refs of files."""
