"""Every kind of stored thing whose texts can name a subject, with its texts: those of now, versions and drafts.

A scan reads tables one after the other, each in the order of its ids, so that it can go on where it was interrupted.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.models import AgentFile, AgentFileVersion, DailyLog, DailyLogVersion
from assembly.models import Assembly
from memories.models import (
    Document,
    Entity,
    Event,
    Memory,
    MemoryVersion,
    Pattern,
    Relation,
    Session,
    TaskFrame,
    Thread,
    Tool,
)
from teams.models import Draft, OrganisationFile, OrganisationFileVersion, TeamFile, TeamFileVersion, TextSetAside

ROWS_PER_BATCH = 100


@dataclass(frozen=True, slots=True)
class ThingKind:
    """A kind of things: the prefix of their refs, their model, and the columns with texts, which may be JSON or lists.

    `versions` is the model of their versions, with its columns; a thing without has the time of its last change in the
    column `changed`.
    """

    name: str
    label: str | Promise
    model: Any
    columns: tuple[str, ...]
    changed: str = "updated"
    versions: Any = None
    version_columns: tuple[str, ...] = ("content", "note")

    @property
    def is_live(self) -> bool:
        """Whether contexts can include such things, so that they have a sensitivity that can be withheld."""
        return self.name not in {"draft", "discarded_text", "context"}


THING_KINDS: Mapping[str, ThingKind] = {
    kind.name: kind
    for kind in (
        ThingKind("agent_file", _("Agent files"), AgentFile, ("content",), versions=AgentFileVersion),
        ThingKind("team_file", _("Team files"), TeamFile, ("content",), versions=TeamFileVersion),
        ThingKind(
            "organisation_file",
            _("Organisation knowledge"),
            OrganisationFile,
            ("title", "content"),
            versions=OrganisationFileVersion,
            version_columns=("title", "content", "note"),
        ),
        ThingKind("daily_log", _("Daily logs"), DailyLog, ("content",), versions=DailyLogVersion),
        ThingKind(
            "memory",
            _("Memories"),
            Memory,
            ("text", "retired_because", "external_id"),
            versions=MemoryVersion,
            version_columns=("content", "note", "retired_because"),
        ),
        ThingKind("event", _("Events"), Event, ("content", "outcome", "tool", "external_id")),
        ThingKind("session", _("Sessions"), Session, ("title", "external_id")),
        ThingKind("task", _("Tasks"), TaskFrame, ("goal", "result", "external_id")),
        ThingKind("entity", _("Entities"), Entity, ("type", "name", "aliases", "properties", "external_id")),
        ThingKind("relation", _("Relations"), Relation, ("type", "external_id")),
        ThingKind("pattern", _("Patterns"), Pattern, ("name", "keywords", "guidance", "external_id")),
        ThingKind("thread", _("Threads"), Thread, ("title", "summary", "external_id")),
        ThingKind("tool", _("Tools"), Tool, ("name", "description", "schema", "external_id")),
        ThingKind("document", _("Documents"), Document, ("path", "content", "external_id")),
        ThingKind("draft", _("Drafts"), Draft, ("content",), "updated_at"),
        ThingKind("discarded_text", _("Discarded drafts"), TextSetAside, ("content",), "since"),
        ThingKind("context", _("Contexts"), Assembly, ("topic",), "created"),
    )
}
"""All kinds of mentions, in the order of pages and files."""
THING_KIND_NAMES = tuple(THING_KINDS)


@dataclass(frozen=True, slots=True)
class ThingTexts:
    """The texts of a thing, or of one of its versions, with its owners."""

    thing: UUID
    agent_id: UUID | None
    team_id: UUID | None
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table that a scan reads, of things or of their versions."""

    name: str
    kind: ThingKind
    model: Any
    columns: tuple[str, ...]
    thing: str
    """The column with the id of the thing."""
    changed: str
    """The column with the time of the change; empty where the versions of the same things tell."""

    def batch(self, after: UUID | None, since: datetime.datetime | None) -> tuple[list[ThingTexts], UUID | None]:
        """Return the next rows after this id, of those changed from `since` on, and the id of the last one.

        The id is None behind the last row.
        """
        found = _everything(self.model).filter(self._changed_since(since))
        owners = _owner_columns(self.model)
        rows = (found.filter(id__gt=after) if after else found).order_by("id")
        read = list(rows.values("id", self.thing, *owners.values(), *self.columns)[:ROWS_PER_BATCH])
        texts = [
            ThingTexts(
                row[self.thing],
                row.get(owners.get("agent", "")),
                row.get(owners.get("team", "")),
                [text for column in self.columns for text in texts_in(row[column])],
            )
            for row in read
        ]
        return texts, read[-1]["id"] if len(read) == ROWS_PER_BATCH else None

    def _changed_since(self, since: datetime.datetime | None) -> Q:
        return Q(**{f"{self.changed}__gte": since}) if since else Q()


def _everything(model: Any) -> QuerySet[Any]:
    """Return all rows of a model, whoever reads."""
    rows: QuerySet[Any] = getattr(model, "everything", model._default_manager).all()  # noqa: SLF001 - Django's documented name
    return rows


def _owner_columns(model: Any) -> Mapping[str, str]:
    owners: Mapping[str, str] = getattr(model, "owner_columns", {})
    return {owner: column for owner, column in owners.items() if column}


def text_tables(*, changed_only: bool) -> list[TextTable]:
    """Return the tables that a scan reads; of what is saved in versions, a scan of changes reads these alone."""
    tables = []
    for kind in THING_KINDS.values():
        if not (changed_only and kind.versions):
            tables.append(TextTable(kind.name, kind, kind.model, kind.columns, "id", kind.changed))
        if kind.versions:
            versions = f"{kind.name} versions"
            tables.append(TextTable(versions, kind, kind.versions, kind.version_columns, "file_id", "created"))
    return tables


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of a column: a text, or all texts and numbers of JSON or of a list."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield name
            yield from texts_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def existing_owners(kind: str, ids: Sequence[UUID]) -> dict[UUID, tuple[UUID | None, UUID | None]]:
    """Return the agent and team of the things of this kind that exist, by id; an unknown kind has none."""
    known = THING_KINDS.get(kind)
    if known is None or not ids:
        return {}
    owners = _owner_columns(known.model)
    rows = _everything(known.model).filter(id__in=ids).values("id", *owners.values())
    return {row["id"]: (row.get(owners.get("agent", "")), row.get(owners.get("team", ""))) for row in rows}
