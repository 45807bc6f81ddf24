"""The things that contexts were made of, as they stand at a moment: one query per kind, however many these are."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.models import AgentFileVersion, DailyLogVersion
from assembly.engine.refs import Ref
from memories.models import Document, Entity, Event, Memory, MemoryVersion, Pattern, Relation, TaskFrame, Thread, Tool
from teams.models import TeamFileVersion

VERSIONED: Mapping[str, Any] = {
    "agent_file": AgentFileVersion,
    "team_file": TeamFileVersion,
    "daily_log": DailyLogVersion,
    "memory": MemoryVersion,
}
"""By what a ref begins with, the table of the versions."""

AGENT_RECORD_MODELS: Mapping[str, Any] = {
    **{model.ref_kind: model for model in (Document, Entity, Event, Pattern, Relation, TaskFrame, Thread, Tool)},
    "chunk": Document,
}
"""Of what keeps no versions, the table of the things."""

ID = "id"
FILE_ID = "file_id"


@dataclass(frozen=True, slots=True)
class RecordState:
    """One as it stands, and who made its newest version. `begun` is None where its beginning is not asked for.

    `at` is None where nobody knows any more: it is gone, or it keeps no versions and was changed once more since.
    """

    version: int
    at: datetime.datetime | None
    by: str
    note: str = ""
    begun: datetime.datetime | None = None
    superseded_by: UUID | None = None
    retired_because: str = ""
    pinned: bool = False


MISSING_RECORD = RecordState(0, None, "")
"""What is not there today."""


def load_record_states(refs: Iterable[str], moment: datetime.datetime | None) -> dict[str, RecordState]:
    """The things that these refs name, by kind and id: `memory:<uuid>`. What is gone today is left out.

    None: as they stand today.
    """
    wanted: dict[str, set[str]] = {}
    for ref in refs:
        named = Ref.parse(ref)
        wanted.setdefault(named.kind, set()).add(named.id)
    found: dict[str, RecordState] = {}
    for kind, ids in wanted.items():
        read = (
            _load_versioned
            if kind in VERSIONED
            else _load_agent_records
            if kind in AGENT_RECORD_MODELS
            else _load_nothing
        )
        rows = read(kind, ids, moment)
        found |= {f"{kind}:{id_}": thing for id_, thing in rows.items()}
    return found


def _load_nothing(_kind: str, _ids: set[str], _moment: datetime.datetime | None) -> dict[UUID, RecordState]:
    """Turns of a conversation, and all else that nobody keeps."""
    return {}


def _load_versioned(kind: str, ids: set[str], moment: datetime.datetime | None) -> dict[UUID, RecordState]:
    versions = VERSIONED[kind].objects.filter(file_id__in=ids, **({"created__lte": moment} if moment else {}))
    newest = versions.order_by(FILE_ID, "-version").distinct(FILE_ID)
    begun = _creation_times(ids) if kind == "memory" else {}
    facts = {name for name in ("superseded_by", "retired_because", "pinned") if kind == "memory"}
    names = {"version", "created", "editor_name", "note", *facts}
    return {
        row[FILE_ID]: RecordState(
            version=row["version"],
            at=row["created"],
            by=row["editor_name"],
            note=row["note"],
            begun=begun.get(row[FILE_ID]),
            **{name: row[name] for name in facts},
        )
        for row in newest.values(FILE_ID, *names)
    }


def _creation_times(ids: set[str]) -> dict[UUID, datetime.datetime]:
    return dict(Memory.objects.filter(id__in=ids).values_list(ID, "created"))


def _load_agent_records(kind: str, ids: set[str], moment: datetime.datetime | None) -> dict[UUID, RecordState]:
    rows: QuerySet[Any] = AGENT_RECORD_MODELS[kind].objects.filter(id__in=ids)
    names = (ID, "version", "updated", "editor_name", "created")
    return {
        id_: replace(MISSING_RECORD, begun=created)
        if moment and updated > moment
        else RecordState(version=version, at=updated, by=by, begun=created)
        for id_, version, updated, by, created in rows.values_list(*names)
    }
