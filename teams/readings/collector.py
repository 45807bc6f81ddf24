"""A request collects what it loads that is confidential or restricted; its answer tells this to who asks.

`Sensitive` calls `note_loaded` for every such row that is loaded from the database, so that no page can forget it.
Rows that are read otherwise, by SQL or from a file, are named by `note_read`.
"""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from config.observability.request_context import CURRENT_REQUEST

PARTS = ("file", "document", "test")
"""The fields by which a version, a passage or a result refers to what it is a part of."""
WORDS = ("file_key", "date")
"""The columns besides the id by which addresses name a thing."""


NOT_RECORDED = 1
"""The level up to which readings are not recorded: internal, see `teams.sensitivity`, which imports this module."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something confidential or restricted that was read, without its text: its kind as in its ref, id and level.

    `words` are the parts of addresses that name it. The owners are unknown where `owner_model` names the model of the
    row that has them.
    """

    kind: str
    id: UUID
    level: int
    words: frozenset[str]
    agent_id: UUID | None = None
    team_id: UUID | None = None
    owner_model: Any = None

    def owned_by(self, agent_id: UUID | None, team_id: UUID | None) -> "Thing":
        """Return the thing with these owners."""
        return replace(self, agent_id=agent_id, team_id=team_id, owner_model=None)


def note_loaded(row: Any) -> None:
    """Note that the current request, if there is one, loaded this row, which is confidential or restricted."""
    if request := CURRENT_REQUEST.get():
        _collected(request).append(thing_of(row))


def thing_of(row: Any) -> Thing:
    """Return how the log of readings names a row; a version, a passage or a result is named as what it is a part of."""
    columns = row.__dict__
    part_of = next((name for name in PARTS if f"{name}_id" in columns), None)
    words = {columns.get(name) for name in WORDS} - {None}
    if part_of is None:
        owners = columns.get("agent_id"), columns.get("team_id")
        return Thing(kind_of(type(row)), row.pk, row.sensitivity, _words(row.pk, *words), *owners)
    id_ = columns[f"{part_of}_id"]
    if "file_kind" in columns:  # a passage of a file of any kind
        owners = columns.get("agent_id"), columns.get("team_id")
        return Thing(row.file_kind, id_, row.sensitivity, _words(id_), *owners)
    whole = row._meta.get_field(part_of).related_model  # noqa: SLF001 - Django's documented name
    return Thing(kind_of(whole), id_, row.sensitivity, _words(id_, *words), owner_model=whole)


def kind_of(model: Any) -> str:
    """Return the kind of a model's rows, as in their refs: agent_file, memory, context."""
    return str(getattr(model, "ref_kind", "") or model._meta.verbose_name.replace(" ", "_"))  # noqa: SLF001 - as above


def _words(*named: Any) -> frozenset[str]:
    return frozenset(map(str, named))


def note_written(row: Any) -> None:
    """Note that the answer to the current request tells this row, which the request itself made."""
    if row.sensitivity > NOT_RECORDED and (request := CURRENT_REQUEST.get()):
        _collected(request).append(thing_of(row))


def note_read(thing: Thing) -> None:
    """Note that the current request, if there is one, read this."""
    if request := CURRENT_REQUEST.get():
        _collected(request).append(thing)


def collected_things(request: HttpRequest) -> list[Thing]:
    """Return what the request read, each thing once, with its highest level."""
    highest: dict[tuple[str, UUID], Thing] = {}
    for thing in _collected(request):
        key = thing.kind, thing.id
        known = highest.get(key)
        if known is None:
            highest[key] = thing
            continue
        owned = known if known.owner_model is None else thing
        highest[key] = replace(owned, level=max(known.level, thing.level), words=known.words | thing.words)
    return list(highest.values())


def highest_read() -> int:
    """Return the level of the most sensitive thing that the current request has read so far, at least internal."""
    request = CURRENT_REQUEST.get()
    return max((thing.level for thing in _collected(request)), default=NOT_RECORDED) if request else NOT_RECORDED


def _collected(request: HttpRequest) -> list[Thing]:
    things: list[Thing] = request.__dict__.setdefault("things_read", [])
    return things
