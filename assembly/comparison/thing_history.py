"""This module reads the items of contexts as they were at a moment: one query per kind, however many items."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from assembly.engine.refs import Ref
from assembly.sources.kinds import KINDS, ItemKind
from memories.models import Memory
from teams.models import OrganisationFile

ID = "id"
FILE_ID = "file_id"


VERSIONED_FACTS: Mapping[type[Any], tuple[str, ...]] = {
    Memory: ("superseded_by", "retired_because", "pinned"),
    OrganisationFile: ("title",),
}
"""Further columns of versions that a state has, by model."""


@dataclass(frozen=True, slots=True)
class RecordState:
    """The state of an item, and the author of its newest version. `begun` is None if it was not requested.

    `at` is None if it is unknown: the item was deleted, or it keeps no versions and was changed again since.
    """

    version: int
    at: datetime.datetime | None
    by: str
    by_ref: str
    note: str = ""
    begun: datetime.datetime | None = None
    superseded_by: UUID | None = None
    retired_because: str = ""
    pinned: bool = False
    title: str = ""
    """The title of a file of the organisation; empty for other items."""


MISSING_RECORD = RecordState(0, None, "", "")
"""The state of an item that does not exist today."""


def load_record_states(refs: Iterable[str], moment: datetime.datetime | None) -> dict[str, RecordState]:
    """Return the states of the items with these refs, by kind and id: `memory:<uuid>`. Deleted items are missing.

    `moment` None means today.
    """
    wanted: dict[str, set[str]] = {}
    for ref in refs:
        named = Ref.parse(ref)
        wanted.setdefault(named.kind, set()).add(named.id)
    found: dict[str, RecordState] = {}
    for name, ids in wanted.items():
        if kind := KINDS.get(name):
            states = _load_versioned(kind, ids, moment) if kind.versions else _load_unversioned(kind, ids, moment)
            found |= {f"{name}:{id_}": state for id_, state in states.items()}
    return found


def _load_versioned(kind: ItemKind, ids: set[str], moment: datetime.datetime | None) -> dict[UUID, RecordState]:
    versions = kind.versions.objects.filter(file_id__in=ids, **({"created__lte": moment} if moment else {}))
    newest = versions.order_by(FILE_ID, "-version").distinct(FILE_ID)
    begun = _creation_times(ids) if kind.model is Memory else {}
    facts = VERSIONED_FACTS.get(kind.model, ())
    names = {"version", "created", "editor_name", "editor_ref", "note", *facts}
    return {
        row.file_id: RecordState(
            version=row.version,
            at=row.created,
            by=row.editor_name,
            by_ref=row.editor_ref,
            note=row.note,
            begun=begun.get(row.file_id),
            **{name: getattr(row, name) for name in facts},
        )
        for row in newest.only(FILE_ID, "sensitivity", *names)
    }


def _creation_times(ids: set[str]) -> dict[UUID, datetime.datetime]:
    return dict(Memory.objects.filter(id__in=ids).values_list(ID, "created"))


def _load_unversioned(kind: ItemKind, ids: set[str], moment: datetime.datetime | None) -> dict[UUID, RecordState]:
    rows: QuerySet[Any] = kind.model.objects.filter(id__in=ids)
    names = (ID, "version", "updated", "editor_name", "editor_ref", "created")
    return {
        id_: replace(MISSING_RECORD, begun=created)
        if moment and updated > moment
        else RecordState(version=version, at=updated, by=by, by_ref=by_ref, begun=created)
        for id_, version, updated, by, by_ref, created in rows.values_list(*names)
    }
