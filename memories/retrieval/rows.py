"""The rows of an owner as a search measures them, thousands at a time: fixed bytes in SQL, columns in numpy.

One aggregate of bytes takes a fifth of the time that rows of numbers take from the database into Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import Vector

from memories.retrieval.question import Question
from memories.retrieval.terms import Terms

Columns = NDArray[np.void]
"""Rows of LAYOUT."""

LAYOUT = np.dtype(
    [
        ("id_high", ">u8"),
        ("id_low", ">u8"),
        ("at", ">f8"),
        ("similarity", ">f8"),
        ("terms", ">i8"),
        ("salience", ">f4"),
        ("credibility", ">f4"),
        ("length", ">i4"),
        ("marks", ">i2"),
    ]
)
SUPERSEDED, LABELLED, SAYS_A_TIME, ASKS = 1, 2, 4, 8
"""What `marks` is made of."""

TIME_WORDS = (
    "yesterday | today | tomorrow | tonight | last | next | ago | sinc | recent | day | week | weekend | month | year"
    " | monday | tuesday | wednesday | thursday | friday | saturday | sunday | 19:* | 20:*"
)
"""As a tsquery. Numbers that begin so are years, and some hours."""

OCCURRED = "coalesce(occurred_at, created)"

READ = """
WITH found AS (
    SELECT id, {occurred} AS at, 1 - (embedding <=> %(vector)s::vector) AS similarity, {terms} AS terms, salience,
        credibility, octet_length(text) AS length,
        (superseded_by_id IS NOT NULL)::int | ((search @@ %(label)s::tsquery)::int << 1)
            | ((%(asks_when)s AND search @@ %(time_words)s::tsquery)::int << 2) | ((text LIKE '%%?')::int << 3) AS marks
    FROM memories WHERE {owner} = %(owner)s AND {which}
)
SELECT string_agg(uuid_send(id) || float8send(date_part('epoch', at)) || float8send(coalesce(similarity, 'NaN'))
    || int8send(terms) || float4send(salience::float4) || float4send(credibility::float4) || int4send(length)
    || int2send(marks::int2), ''::bytea ORDER BY at, id)
FROM found
"""
MORE = "SELECT EXISTS (SELECT FROM memories WHERE {owner} = %(owner)s OFFSET %(limit)s)"
NEWEST = "true ORDER BY {occurred} DESC LIMIT %(limit)s"


@dataclass(frozen=True, slots=True)
class Search:
    """A question to the memories of one owner, whose id stands in that column."""

    column: str
    owner: UUID
    question: Question
    terms: Terms

    @property
    def parameters(self) -> dict[str, Any]:
        """Of every statement that measures rows."""
        vector = self.question.vector
        return {
            "owner": self.owner,
            "vector": None if vector is None else Vector(vector).to_text(),
            "label": self.terms.label,
            "asks_when": self.question.asks_when,
            "time_words": TIME_WORDS,
            **{f"term_{place}": term for place, term in enumerate(self.terms.all)},
        }

    def has_more_than(self, limit: int) -> bool:
        """Whether the owner has so many memories and one more."""
        with connection.cursor() as cursor:
            cursor.execute(MORE.format(owner=self.column), {"owner": self.owner, "limit": limit})
            return bool(cursor.fetchone()[0])

    def newest(self, limit: int) -> Columns:
        """The newest rows, the oldest of them first."""
        return self._read(NEWEST.format(occurred=OCCURRED), {"limit": limit})

    def chosen(self, ids: str, parameters: Mapping[str, Any]) -> Columns:
        """The rows whose ids this SQL selects, the oldest first."""
        return self._read(f"id IN ({ids})", parameters)

    def _read(self, which: str, parameters: Mapping[str, Any]) -> Columns:
        query = READ.format(occurred=OCCURRED, terms=self._terms, owner=self.column, which=which)
        with connection.cursor() as cursor:
            cursor.execute(query, {**self.parameters, **parameters})
            (packed,) = cursor.fetchone()
        return np.frombuffer(packed or b"", dtype=LAYOUT)

    @property
    def _terms(self) -> str:
        """An SQL expression: a bit for each term that the row has."""
        bits = (
            f"((search @@ %(term_{place})s::tsquery)::int::bigint << {place})" for place in range(len(self.terms.all))
        )
        return " | ".join(bits) or "0::bigint"


def id_of(row: np.void) -> UUID:
    """The memory's id."""
    return UUID(int=int(row["id_high"]) << 64 | int(row["id_low"]))
