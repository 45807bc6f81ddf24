"""Lists read the frozen texts of a page at once, and show a notice instead of one that cannot be read now.

Whoever asks for one thing gets the error instead, and so does whoever saves a row with the notice: it is no text.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable

from config.keys.sealed_texts import open_text
from memories.lifecycle.frozen_texts import READERS, FrozenTextUnreachable
from memories.lifecycle.tiered_text import (
    PutOff,
    TieredJson,
    TieredText,
    UnreadableJson,
    put_off_frozen_texts,
    stored_text,
    written_json,
)
from teams.sealing.fields import UnreadableText

LIST_SECONDS = 5.0
"""How long a list waits for its frozen texts; those that have not come until then cannot be read now."""

RowType = TypeVar("RowType", bound=Model)


class _Place(NamedTuple):
    """A frozen text that was not read yet: its row, its field and what was selected."""

    row: Model
    field: TieredText | TieredJson
    selected: PutOff


def listed(rows: QuerySet[RowType]) -> QuerySet[RowType]:
    """Return the queryset, whose rows have notices (UnreadableText, UnreadableJson) for texts that cannot be read.

    All rows are read before the first is used, so it is for single pages.
    """
    chosen = rows.all()
    chosen._iterable_class = _ListedRows  # noqa: SLF001 - clones keep it
    return chosen


def is_readable(value: Any) -> bool:
    """Return whether the text or JSON value of a listed row is the one that was written."""
    return not isinstance(value, UnreadableText | UnreadableJson)


class _ListedRows(ModelIterable):  # type: ignore[type-arg]  # Django itself takes no arguments
    def __iter__(self) -> Iterator[Any]:
        with put_off_frozen_texts():
            rows = list(super().__iter__())
        _fill([place for row in rows for one in _with_related(row) for place in _places(one)])
        yield from rows


def _with_related(row: Model) -> list[Model]:
    """Return the row, and the rows that were selected together with it."""
    related = row._state.fields_cache.values()  # noqa: SLF001 - Django's documented state
    return [row, *(one for one in related if isinstance(one, Model))]


def _places(row: Model) -> Iterator[_Place]:
    for field in row._meta.concrete_fields:  # noqa: SLF001 - Django's documented introspection
        value = row.__dict__.get(field.attname)
        if isinstance(field, TieredText | TieredJson) and isinstance(value, PutOff):
            yield _Place(row, field, value)


def _fill(places: Sequence[_Place]) -> None:
    """Read the texts, several at a time, and put them into their rows."""
    if not places:
        return
    # Threads read bytes alone: what opens a sealed text may need this thread's connection to the database.
    reading = [_readers().submit(stored_text, place.selected) for place in places]
    wait(reading, timeout=LIST_SECONDS)
    for place, one in zip(places, reading, strict=True):
        setattr(place.row, place.field.attname, _read(place.field, one))


def _read(field: TieredText | TieredJson, reading: Future[str]) -> Any:
    error: FrozenTextUnreachable | None = None
    if not reading.done():
        reading.cancel()
        error = FrozenTextUnreachable("The text was not read in time. Try again later.")
    else:
        try:
            stored = reading.result()
        except FrozenTextUnreachable as failed:
            error = failed
    if error:
        return UnreadableJson(error) if isinstance(field, TieredJson) else UnreadableText.because(error)
    return written_json(stored) if isinstance(field, TieredJson) else open_text(stored)


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(READERS, thread_name_prefix="frozen-text")
