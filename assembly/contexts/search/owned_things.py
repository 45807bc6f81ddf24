"""What the agent and the team of a context keep today: the things that it might have considered, and did not."""

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Min, Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from agents.models import AgentFile, DailyLog
from assembly.engine.refs import Ref, document_of
from assembly.models import Assembly
from config.http.serializers import parse_date
from memories.embeddings.active_model import SLOTS
from memories.models import Document, Entity, Event, Memory, Pattern, Relation, TaskFrame, Thread, Tool
from memories.services.memory import words_in_any_language
from teams.models import TeamFile

MAX_PER_KIND = 5
NEWEST_EVENTS = 1_000
"""So many of the newest are looked through for words."""
EXCERPT = 160  # characters of a text that stands for a name


@dataclass(frozen=True, slots=True)
class OwnedRecord:
    """Something that is there today. `sources` are those that offer its like; `day` is that of a daily log."""

    ref: str
    name: str
    created: datetime.datetime
    sources: tuple[str, ...]
    key: str = ""
    """Of a file, which stands in the section of that name alone."""
    day: datetime.date | None = None


Rows = QuerySet[Any]


@dataclass(frozen=True, slots=True)
class _RecordFinder:
    """How things of one kind are found: those of a context's agent and team, those with these words, and as what."""

    owned: Callable[[Assembly], Rows]
    saying: Callable[[Rows, str], Rows]
    thing: Callable[[Any], OwnedRecord]


def find_owned_record(assembly: Assembly, ref: str) -> OwnedRecord | None:
    """The thing of the context's agent or team that the ref names; what belongs to others is none."""
    named = Ref.parse(document_of(ref))
    id_ = _uuid(named.id)
    nouns = (
        [_RECORD_FINDERS[named.kind]]
        if named.kind in _RECORD_FINDERS
        else list(_RECORD_FINDERS.values())
        if id_ and not named.kind
        else []
    )
    for noun in nouns:
        row = noun.owned(assembly).filter(id=id_).first() if id_ else None
        if row is not None:
            return noun.thing(row)
    return None


def search_owned_records(assembly: Assembly, words: str) -> Iterator[OwnedRecord]:
    """Things of the context's agent and team that are called so, or say so: some of each kind."""
    for noun in _RECORD_FINDERS.values():
        for row in noun.saying(noun.owned(assembly), words)[:MAX_PER_KIND]:
            yield noun.thing(row)


def _agent_rows(model: type[Model]) -> Callable[[Assembly], Rows]:
    return lambda assembly: model._default_manager.filter(agent=assembly.agent_id)  # noqa: SLF001 - documented


def _rows_with_created(rows: Rows) -> Rows:
    """Files and logs, with the moment of their first version."""
    dated: Rows = rows.annotate(created=Min("versions__created"))
    return dated


def _agent_relations(assembly: Assembly) -> Rows:
    return Relation.objects.filter(agent=assembly.agent_id).select_related("source", "target")


def _owner_memories(assembly: Assembly) -> Rows:
    mine = Q(agent=assembly.agent_id)
    owned = mine | Q(team=assembly.team_id) if assembly.team_id else mine
    return Memory.objects.filter(owned).defer(*SLOTS, "search")


def column_search(name: str) -> Callable[[Rows, str], Rows]:
    """Those in whose column of that name the words stand, the newest first."""
    return lambda rows, words: rows.filter(**{f"{name}__icontains": words}).order_by("-created", "id")


def search_memories(rows: Rows, words: str) -> Rows:
    """Those that hold the words, whatever their form, the newest first."""
    return rows.filter(search=words_in_any_language(words, rows)).order_by("-created", "id")


def _search_files(rows: Rows, words: str) -> Rows:
    return rows.filter(Q(file_key__iexact=words) | Q(content__icontains=words)).order_by("file_key")


def _search_logs(rows: Rows, words: str) -> Rows:
    day = parse_date(words)
    return rows.filter(Q(date=day) if day else Q(content__icontains=words)).order_by("-date")


def _search_events(rows: Rows, words: str) -> Rows:
    newest = rows.order_by("-occurred_at", "-id").values("id")[:NEWEST_EVENTS]
    told: Rows = rows.filter(id__in=newest).annotate(told=Cast("content", TextField()))
    return told.filter(Q(told__icontains=words) | Q(type__iexact=words)).order_by("-occurred_at", "-id")


def _search_relations(rows: Rows, words: str) -> Rows:
    ends = Q(source__name__icontains=words) | Q(target__name__icontains=words)
    return rows.filter(ends | Q(type__iexact=words)).order_by("-created", "id")


def _file(row: Any, source: str) -> OwnedRecord:
    return OwnedRecord(row.ref, row.file_key.capitalize(), row.created, (source,), key=row.file_key)


def _log(row: Any) -> OwnedRecord:
    return OwnedRecord(row.ref, row.date.isoformat(), row.created, ("daily_logs",), day=row.date)


def _memory(row: Memory) -> OwnedRecord:
    return OwnedRecord(
        row.ref, excerpt(row.text), row.created, ("agent_memories" if row.agent_id else "team_memories",)
    )


def _named_record(name: Callable[[Any], str], *sources: str) -> Callable[[Any], OwnedRecord]:
    return lambda row: OwnedRecord(row.ref, excerpt(name(row)), row.created, sources)


def _event(row: Event) -> str:
    said = [str(value) for value in row.content.values()] if isinstance(row.content, dict) else []
    return f"{row.type}: {' '.join(said)}"


def _relation(row: Relation) -> str:
    return f"{row.source.name} {row.type} {row.target.name}"


def excerpt(text: str) -> str:
    """The beginning of a text, in one line, as what it is called."""
    plain = " ".join(text[: 2 * EXCERPT].split())
    return f"{plain[: EXCERPT - 1]}…" if len(plain) >= EXCERPT else plain


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


_RECORD_FINDERS: Mapping[str, _RecordFinder] = {
    "agent_file": _RecordFinder(
        lambda assembly: _rows_with_created(AgentFile.objects.filter(agent=assembly.agent_id)),
        _search_files,
        lambda row: _file(row, "agent_files"),
    ),
    "team_file": _RecordFinder(
        lambda assembly: _rows_with_created(TeamFile.objects.filter(team=assembly.team_id)),
        _search_files,
        lambda row: _file(row, "team_files"),
    ),
    "daily_log": _RecordFinder(
        lambda assembly: _rows_with_created(DailyLog.objects.filter(agent=assembly.agent_id)), _search_logs, _log
    ),
    "memory": _RecordFinder(_owner_memories, search_memories, _memory),
    "entity": _RecordFinder(
        _agent_rows(Entity), column_search("name"), _named_record(lambda row: row.name, "entities")
    ),
    "relation": _RecordFinder(_agent_relations, _search_relations, _named_record(_relation, "relations")),
    "event": _RecordFinder(_agent_rows(Event), _search_events, _named_record(_event, "recent_events", "tool_results")),
    "pattern": _RecordFinder(
        _agent_rows(Pattern), column_search("name"), _named_record(lambda row: row.name, "patterns")
    ),
    "thread": _RecordFinder(
        _agent_rows(Thread), column_search("title"), _named_record(lambda row: row.title, "threads")
    ),
    "tool": _RecordFinder(_agent_rows(Tool), column_search("name"), _named_record(lambda row: row.name, "tools")),
    "task": _RecordFinder(
        _agent_rows(TaskFrame), column_search("goal"), _named_record(lambda row: row.goal, "task_stack")
    ),
    "document": _RecordFinder(
        _agent_rows(Document),
        column_search("path"),
        _named_record(lambda row: row.path, "open_files", "semantic_content"),
    ),
}
