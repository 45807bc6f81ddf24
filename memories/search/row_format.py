"""This module reads the rows of an owner as packed bytes, thousands at a time, into numpy arrays.

One aggregate of bytes takes a fifth of the time that rows of numbers take from the database into Python.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from config.db.statements import Statement, run_statement
from memories.embeddings.active_model import ACTIVE_MODEL_SQL
from memories.lifecycle.tiered_text import octets_sql
from memories.lifecycle.tiers import IS_SEARCHED_SQL
from memories.search.languages import DEFAULT
from memories.search.owner_partition import MEMORIES, read_from
from memories.search.question import MAX_TERMS, QueryTerms, SearchQuestion
from memories.search.time_expressions import TIME_EXPRESSIONS
from teams.sensitivity import READABLE_SQL, owner_clearance

Columns = NDArray[np.void]
"""An array of rows with the fields of LAYOUT."""

EPOCH = datetime.date(2000, 1, 1)
"""The day from which PostgreSQL counts: `at` is in microseconds since then."""

LAYOUT = np.dtype(
    [
        ("id_high", ">u8"),
        ("id_low", ">u8"),
        ("at", ">i8"),
        ("marks", ">i8"),
        ("similarity", ">f8"),
        ("salience", ">f8"),
        ("credibility", ">f8"),
        ("length", ">f8"),
    ]
)
NOT_CURRENT, LABELLED, SAYS_A_TIME, ASKS, PINNED = (1 << MAX_TERMS + place for place in range(5))
"""Bits of the field `marks`, above the bits of the terms that the row has; the first term has the lowest bit."""

TIME_WORDS = (
    "yesterday | today | tomorrow | tonight | last | next | ago | sinc | recent | day | week | weekend | month | year"
    " | monday | tuesday | wednesday | thursday | friday | saturday | sunday | 19:* | 20:*"
)
"""A tsquery of English words that say a time. Numbers that begin with 19 or 20 are years, and some hours."""

OCCURRED = "coalesce(occurred_at, created)"
OCTETS = octets_sql("memories")

# Four numbers are sent as the ends of a line segment by one function call, because each call per row takes time.
ROW = """
uuid_send(id) || timestamptz_send({occurred}) || int8send({marks})
    || lseg_send(lseg(point({similarity}, salience), point(credibility, {octets})))
"""
# Rows are packed in the inner query: a whole row passed on would carry all its columns.
READ = "SELECT string_agg(packed, ''::bytea), {active} FROM ({which}) AS chosen (packed)"
NEWEST = f"""
SELECT {{row}} FROM {{memories}} WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND {IS_SEARCHED_SQL}
ORDER BY {{occurred}} DESC LIMIT %(limit)s
"""  # noqa: S608 - only the constant above is put in


@dataclass(frozen=True)
class OwnerSearch:
    """A search of the memories of one owner, whose id is in the column `column`."""

    column: str
    owner: UUID
    question: SearchQuestion
    terms: QueryTerms
    partition: str = MEMORIES
    """What statements read as the table of memories: see `partition_of`."""

    @cached_property
    def clearance(self) -> int:
        """The sensitivity up to which the current reader may read the owner's rows; no statement reads others."""
        return owner_clearance(self.column, self.owner)

    @property
    def places(self) -> range:
        """The indexes of all terms."""
        return range(len(self.terms.all))

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of every statement that reads rows."""
        vector = self.question.vector
        return {
            "owner": self.owner,
            "clearance": self.clearance,
            **(vector.parameters if vector else {}),
            "time_words": " | ".join(
                TIME_WORDS if name == DEFAULT else TIME_EXPRESSIONS[name].time_words
                for name in self.terms.languages
                if name == DEFAULT or name in TIME_EXPRESSIONS
            ),
        }

    def newest(self, limit: int) -> Columns:
        """Return the owner's `limit` newest rows, the oldest of them first. Raises EmbeddingModelChanged."""
        return self.measured(NEWEST, {"limit": limit}, self.places)

    def measured(
        self, which: str, parameters: Mapping[str, Any], places: Iterable[int], before: Sequence[Statement] = ()
    ) -> Columns:
        """Return the rows that the SQL selects, the oldest first, with all marks and those of the terms at these
        indexes.

        Terms are limited because matching each takes time. The SQL contains {row}, which selects from memories,
        {memories} for that table, {owner} for the column, {within} for the owner's partition and {occurred} for a row's
        time. The statements `before` configure the transaction. Raises EmbeddingModelChanged.
        """
        marks = [*self._marks, _bit("coalesce(text_asks, text LIKE '%%?')", ASKS)]
        return self._read(which, parameters, marks, self._terms(places), before)

    def read_quickly(
        self, which: str, parameters: Mapping[str, Any], places: Iterable[int], before: Sequence[Statement]
    ) -> Columns:
        """Return the rows that the SQL selects, the oldest first, without the slow mark ASKS (a question).

        The statements `before` configure the transaction. For a row found by a term, the SQL may select {row_of_term},
        where `bit` and `label` belong to the term. Raises EmbeddingModelChanged.
        """
        return self._read(which, parameters, self._marks, self._terms(places), before)

    def _read(
        self,
        which: str,
        parameters: Mapping[str, Any],
        marks: Sequence[str],
        terms: Statement,
        before: Sequence[Statement] = (),
    ) -> Columns:
        chosen = which.format(
            row=self._row([*marks, terms.sql]),
            row_of_term=self._row([*marks, "bit", _bit("search @@ label", LABELLED)]),
            owner=self.column,
            occurred=OCCURRED,
            **read_from(self.partition),
        )
        query = READ.format(active=ACTIVE_MODEL_SQL, which=chosen)
        statement = Statement(query, {**self.parameters, **terms.parameters, **parameters})
        ((packed, active),) = run_statement(statement, binary=True, before=before)
        if self.question.vector:
            self.question.vector.confirm(active)
        return self._in_order(np.frombuffer(packed or b"", dtype=LAYOUT))

    def _in_order(self, rows: Columns) -> Columns:
        """Return each row once, ordered so that neighbours are next to each other."""
        return _sorted_by_time(rows)

    def _label(self, place: int) -> str | None:
        """Return the tsquery for rows that the term at this index labels; None where rows have no labels."""
        return self.terms.label(place)

    def _row(self, marks: Sequence[str]) -> str:
        return ROW.format(occurred=OCCURRED, marks=" | ".join(marks), similarity=self._similarity, octets=OCTETS)

    def _terms(self, places: Iterable[int]) -> Statement:
        """Return an SQL expression for the bits of the terms at these indexes, with its parameters.

        Where a term is a word of the row, the expression also tests whether it labels the row.
        """
        bits, parameters = [], dict[str, Any]()
        by_term: dict[str, list[int]] = {}  # an entity may have the name of a word, which is then searched once
        for place in places:
            by_term.setdefault(self.terms.all[place], []).append(place)
        for number, (term, same) in enumerate(by_term.items()):
            word, bit, label = f"word_{number}", f"bit_{number}", f"label_{number}"
            parameters |= {word: term, bit: str(sum(1 << place for place in same))}
            has = f"%({bit})s::bigint"
            if labelled := next(filter(None, map(self._label, same)), None):
                parameters[label] = labelled
                has += f" | {_bit(f'search @@ %({label})s::tsquery', LABELLED)}"
            bits.append(_bit(f"search @@ %({word})s::tsquery", has))
        return Statement(" | ".join(bits) or "0::bigint", parameters)

    @property
    def _similarity(self) -> str:
        """The SQL expression of a row's cosine; NaN for a row without a vector of the question's embedding model."""
        if self.question.vector is None:
            return "'NaN'"
        stored = self._vector(self.question.vector.space.slot)
        return f"coalesce({self.question.vector.similarity_sql(stored)}, 'NaN')"

    def _vector(self, slot: str) -> str:
        """Return the SQL expression of a row's vector in the slot."""
        return slot

    @property
    def _marks(self) -> list[str]:
        """SQL expressions of the bits of a row, each of which says by which condition the row is a candidate."""
        marks = [_bit("superseded_by_id IS NOT NULL OR retired_because <> ''", NOT_CURRENT), _bit("pinned", PINNED)]
        if self.question.asks_when:
            marks.append(_bit("search @@ %(time_words)s::tsquery", SAYS_A_TIME))
        return marks


def _bit(condition: str, bit: int | str) -> str:
    return f"CASE WHEN {condition} THEN {bit} ELSE 0::bigint END"


def _sorted_by_time(rows: Columns) -> Columns:
    """Return each row once, with all marks of its copies, the oldest first.

    PostgreSQL would sort whole rows with their vectors.
    """
    order = np.argsort(_native_byte_order(rows["at"]), kind="stable")
    rows = rows.take(order)
    of_one_moment = rows["at"][1:] == rows["at"][:-1]
    if not of_one_moment.any():
        return rows
    places = np.flatnonzero(np.append(of_one_moment, False) | np.insert(of_one_moment, 0, False))
    some = rows.take(places)  # only rows with equal times are sorted by id
    some = some.take(np.lexsort([_native_byte_order(some[name]) for name in ("id_low", "id_high", "at")]))
    again = (some["id_low"][1:] == some["id_low"][:-1]) & (some["id_high"][1:] == some["id_high"][:-1])
    first = np.flatnonzero(np.insert(~again, 0, True))
    some["marks"][first] = np.bitwise_or.reduceat(_native_byte_order(some["marks"]), first)
    rows[places] = some
    once = np.ones(len(rows), dtype=bool)
    once[places[1:][again]] = False
    return rows.compress(once)


def copy_marks(rows: Columns, others: Columns) -> Columns:
    """Add to the rows the marks of the rows with the same ids in `others`, which is not empty, and return the rows."""
    ids, others_ids = (
        _native_byte_order(rows["id_low"]),
        _native_byte_order(others["id_low"]),
    )  # half of the id is enough, because its bits are random
    order = np.argsort(others_ids)
    places = order.take(np.searchsorted(others_ids, ids, sorter=order), mode="clip")
    rows["marks"] |= np.where(others_ids[places] == ids, others["marks"][places], 0)
    return rows


def _native_byte_order(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column in the processor's byte order."""
    return column.astype(column.dtype.newbyteorder("="))


def ids_of(rows: Columns) -> list[UUID]:
    """Return the ids of the rows as UUIDs."""
    halves = zip(rows["id_high"].tolist(), rows["id_low"].tolist(), strict=True)
    return [UUID(int=high << 64 | low) for high, low in halves]


def ids_literal(rows: Columns) -> str:
    """Return the ids of the rows as the text of a uuid[], which is faster than creating UUIDs."""
    halves = zip(rows["id_high"].tolist(), rows["id_low"].tolist(), strict=True)
    return f"{{{','.join([f'{high:016x}{low:016x}' for high, low in halves])}}}"


def moments_literal(rows: Columns) -> str:
    """Return the times of the rows as the text of a timestamptz[]."""
    moments = np.datetime64(EPOCH, "us") + rows["at"].astype("timedelta64[us]")
    return f"{{{','.join([f'{moment}Z' for moment in np.datetime_as_string(moments).tolist()])}}}"
