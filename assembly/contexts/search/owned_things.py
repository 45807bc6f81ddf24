"""What the agent and the team of a context keep today: the things that it might have considered, and did not."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Min

from assembly.engine.refs import Ref, document_of
from assembly.models import Assembly
from assembly.sources.kinds import ITEM_KINDS, KINDS, ItemKind, Rows

MAX_PER_KIND = 5
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


def find_owned_record(assembly: Assembly, ref: str) -> OwnedRecord | None:
    """Return the item of the context's agent or team that the ref or the id names; None for what belongs to others."""
    named = Ref.parse(document_of(ref))
    id_ = _uuid(named.id)
    if id_ is None or (named.kind and named.kind not in KINDS):
        return None
    for kind in (KINDS[named.kind],) if named.kind else ITEM_KINDS:
        row = _rows(kind, assembly).filter(id=id_).first()
        if row is not None:
            return _owned_record(kind, row)
    return None


def search_owned_records(assembly: Assembly, words: str) -> Iterator[OwnedRecord]:
    """Yield items of the context's agent and team that are called so, or say so: some of each kind."""
    for kind in ITEM_KINDS:
        for row in kind.search(_rows(kind, assembly), words)[:MAX_PER_KIND]:
            yield _owned_record(kind, row)


def _rows(kind: ItemKind, assembly: Assembly) -> Rows:
    """Return the items of the kind; files and logs with the moment of their first version."""
    rows = kind.rows(agents=[assembly.agent_id], teams=[assembly.team_id] if assembly.team_id else [])
    return rows.annotate(created=Min("versions__created")) if kind.page_key else rows


def _owned_record(kind: ItemKind, row: Any) -> OwnedRecord:
    return OwnedRecord(
        ref=row.ref,
        name=excerpt(kind.title(row)),
        created=row.created,
        sources=kind.sources_of(row),
        key=getattr(row, "file_key", ""),
        day=getattr(row, "date", None),
    )


def excerpt(text: str) -> str:
    """The beginning of a text, in one line, as what it is called."""
    plain = " ".join(text[: 2 * EXCERPT].split())
    return f"{plain[: EXCERPT - 1]}…" if len(plain) >= EXCERPT else plain


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
