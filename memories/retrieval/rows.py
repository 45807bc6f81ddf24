"""The rows of an owner as a search measures them, thousands at a time: fixed bytes in SQL, columns in numpy.

One aggregate of bytes takes a fifth of the time that rows of numbers take from the database into Python.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from config.http.statements import Statement, rows_of
from memories.retrieval.question import Question
from memories.retrieval.terms import Terms
from memories.spaces import ACTIVE

Columns = NDArray[np.void]
"""Rows of LAYOUT."""

EPOCH = datetime.date(2000, 1, 1)
"""PostgreSQL counts from here: `at` is in microseconds, and sent as it is stored."""

LAYOUT = np.dtype(
    [
        ("id_high", ">u8"),
        ("id_low", ">u8"),
        ("at", ">i8"),
        ("similarity", ">f8"),
        ("terms", ">i8"),
        ("salience", ">f4"),
        ("credibility", ">f4"),
        ("unused", ">i2"),
        ("length", ">i4"),
        ("marks", ">i2"),
    ]
)
GONE, LABELLED, SAYS_A_TIME, ASKS, PINNED = 1, 2, 4, 8, 16
"""What `marks` is made of."""

TIME_WORDS = (
    "yesterday | today | tomorrow | tonight | last | next | ago | sinc | recent | day | week | weekend | month | year"
    " | monday | tuesday | wednesday | thursday | friday | saturday | sunday | 19:* | 20:*"
)
"""As a tsquery. Numbers that begin so are years, and some hours."""

OCCURRED = "coalesce(occurred_at, created)"

READ = """
SELECT string_agg(uuid_send(id) || timestamptz_send({occurred}) || float8send({similarity}) || int8send({terms})
    || float4send(salience::float4) || float4send(credibility::float4)
    || int8send((octet_length(text)::bigint << 16) | {marks}), ''::bytea), {active}
FROM ({which}) AS chosen
"""
NEWEST = "SELECT * FROM memories WHERE {owner} = %(owner)s ORDER BY {occurred} DESC LIMIT %(limit)s"
SAMPLE = """
SELECT * FROM memories WHERE {owner} = %(owner)s ORDER BY substring(uuid_send(id), 13) LIMIT %(limit)s
"""


@dataclass(frozen=True)
class Search:
    """A question to the memories of one owner, whose id stands in that column."""

    column: str
    owner: UUID
    question: Question
    terms: Terms

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Of every statement that measures rows."""
        vector = self.question.vector
        return {
            "owner": self.owner,
            **(vector.parameters if vector else {}),
            "label": self.terms.label,
            "time_words": TIME_WORDS,
        }

    def newest(self, limit: int) -> Columns:
        """The newest rows, the oldest of them first. Raises SpaceLeft."""
        return self.measured(NEWEST.format(owner=self.column, occurred=OCCURRED), {"limit": limit})

    def sample(self, limit: int) -> Columns:
        """A random choice, and always the same: by the last four bytes of the ids. Nobody asks how near these are, or
        whether they say a time.
        """
        counted = replace(self, question=replace(self.question, vector=None, asks_when=False))
        return counted.glanced(SAMPLE.format(owner=self.column), {"limit": limit}, range(len(self.terms.all)))

    def measured(self, which: str, parameters: Mapping[str, Any]) -> Columns:
        """The rows that this SQL selects, the oldest first. Raises SpaceLeft."""
        return self._read(which, parameters, range(len(self.terms.all)), [*self._first_marks, *self._last_marks])

    def glanced(self, which: str, parameters: Mapping[str, Any], places: Iterable[int]) -> Columns:
        """The same rows, looked over: each word takes its time. Only the terms at these places are looked for, and no
        row is LABELLED or ASKS.
        """
        return self._read(which, parameters, places, self._first_marks)

    def _read(self, which: str, parameters: Mapping[str, Any], places: Iterable[int], marks: Sequence[str]) -> Columns:
        sought = {f"term_{number}": (self.terms.all[place], 1 << place) for number, place in enumerate(places)}
        query = READ.format(
            occurred=OCCURRED,
            active=ACTIVE,
            which=which,
            similarity=self._similarity,
            terms=" | ".join(_bit(f"search @@ %({name})s::tsquery", f"%({name}_bit)s::bigint") for name in sought)
            or "0::bigint",
            marks=" | ".join(marks),
        )
        terms = {name: term for name, (term, _) in sought.items()}
        bits = {f"{name}_bit": str(bit) for name, (_, bit) in sought.items()}
        statement = Statement(query, {**self.parameters, **terms, **bits, **parameters})
        ((packed, active),) = rows_of(statement, binary=True)
        if self.question.vector:
            self.question.vector.confirm(active)
        return _in_order(np.frombuffer(packed or b"", dtype=LAYOUT))

    @property
    def _similarity(self) -> str:
        """An SQL expression: NaN for a row without a vector of the question's space."""
        if self.question.vector is None:
            return "'NaN'"
        space = self.question.vector.space
        return f"coalesce(CASE WHEN {space.here} THEN 1 - ({space.slot} <=> %(vector)s::vector) END, 'NaN')"

    @property
    def _first_marks(self) -> list[str]:
        """SQL expressions: those marks that say whether a row is worth another look."""
        marks = [_bit("superseded_by_id IS NOT NULL OR retired_because <> ''", GONE), _bit("pinned", PINNED)]
        if self.question.asks_when:
            marks.append(_bit("search @@ %(time_words)s::tsquery", SAYS_A_TIME))
        return marks

    @property
    def _last_marks(self) -> list[str]:
        """SQL expressions: all others."""
        return [_bit("search @@ %(label)s::tsquery", LABELLED), _bit("text LIKE '%%?'", ASKS)]


def _bit(condition: str, bit: int | str) -> str:
    return f"CASE WHEN {condition} THEN {bit} ELSE 0 END"


def _in_order(rows: Columns) -> Columns:
    """Each row once, the oldest first. PostgreSQL would sort whole rows, vectors and all."""
    at, high, low = (rows[name].astype(rows[name].dtype.newbyteorder("=")) for name in ("at", "id_high", "id_low"))
    order = np.argsort(at, kind="stable")
    if (at[order[1:]] == at[order[:-1]]).any():
        order = np.lexsort((low, high, at))
    high, low = high[order], low[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return rows.take(order[first])


def ids_of(rows: Columns) -> list[UUID]:
    """The ids of the memories."""
    halves = zip(rows["id_high"].tolist(), rows["id_low"].tolist(), strict=True)
    return [UUID(int=high << 64 | low) for high, low in halves]


def ids_written(rows: Columns) -> str:
    """Their ids as the text of a uuid[]: many are written faster than they are made."""
    halves = zip(rows["id_high"].tolist(), rows["id_low"].tolist(), strict=True)
    return f"{{{','.join([f'{high:016x}{low:016x}' for high, low in halves])}}}"
