"""This module finds items of a context's agent and team that exist today, considered in the context or not."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Min

from assembly.engine.refs import Ref, document_of
from assembly.sources.kinds import ITEM_KINDS, KINDS, ItemKind, Rows

MAX_PER_KIND = 5
EXCERPT = 160  # most characters of a text used as a name


class OwnedContext(Protocol):
    """A context, recorded or simulated, by its agent and its team (None: no team)."""

    @property
    def agent_id(self) -> UUID: ...

    @property
    def team_id(self) -> UUID | None: ...


@dataclass(frozen=True, slots=True)
class OwnedRecord:
    """An item that exists today. `sources` can offer such items; `day` is the date of a daily log."""

    ref: str
    name: str
    created: datetime.datetime
    sources: tuple[str, ...]
    key: str = ""
    """Key of a file, which is also the key of its section; empty for other items."""
    day: datetime.date | None = None


def find_owned_record(context: OwnedContext, ref: str) -> OwnedRecord | None:
    """Return the item of the context's agent or team with this ref or id; None if there is none or others own it."""
    named = Ref.parse(document_of(ref))
    id_ = _uuid(named.id)
    if id_ is None or (named.kind and named.kind not in KINDS):
        return None
    for kind in (KINDS[named.kind],) if named.kind else ITEM_KINDS:
        row = _rows(kind, context).filter(id=id_).first()
        if row is not None:
            return _owned_record(kind, row)
    return None


def search_owned_records(context: OwnedContext, words: str) -> Iterator[OwnedRecord]:
    """Yield items of the context's agent and team whose name or text matches the words, at most 5 of each kind."""
    for kind in ITEM_KINDS:
        for row in kind.search(_rows(kind, context), words)[:MAX_PER_KIND]:
            yield _owned_record(kind, row)


def _rows(kind: ItemKind, context: OwnedContext) -> Rows:
    """Return the items of this kind that the context's agent and team own; files and logs get their first version's
    time.
    """
    rows = kind.rows(agents=[context.agent_id], teams=[context.team_id] if context.team_id else [])
    return rows.annotate(created=Min("versions__created")) if kind.page_key else rows


def _owned_record(kind: ItemKind, row: Any) -> OwnedRecord:
    return OwnedRecord(
        ref=row.ref,
        name=excerpt(kind.title(row)),
        created=row.created,
        sources=kind.sources_of(row),
        key=row.file_key if kind.is_file else "",
        day=getattr(row, "date", None),
    )


def excerpt(text: str) -> str:
    """Return the first 160 characters of a text, in one line, as a name."""
    plain = " ".join(text[: 2 * EXCERPT].split())
    return f"{plain[: EXCERPT - 1]}…" if len(plain) >= EXCERPT else plain


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
