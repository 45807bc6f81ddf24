"""This module searches the memories of an owner: by features and weights for contexts, and by similarity for pages.

Similarity is the cosine of unit vectors (1 minus pgvector's cosine distance), computed in SQL. `find_memories` and
`nearest` compare all selected rows: a vector index that filters by owner afterwards misses rows of owners who have few.
"""

import datetime
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from msgspec import Struct
from numpy.typing import NDArray

from agents.models import Agent
from config.db.statements import Statement, fetch_rows, run_statement
from config.keys.sealed_texts import open_text
from memories.embeddings.active_model import ACTIVE_MODEL_SQL
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.vectors import QueryVector, active_model_expression, embed_query, with_active_model
from memories.lifecycle.tiered_text import read_text, text_sql
from memories.lifecycle.tiers import IS_SEARCHED_SQL
from memories.models import Memory
from memories.search import candidates
from memories.search.features import DECIMALS, Numbers, Weights, features, scores_of
from memories.search.owner_partition import partition_of, read_from, within
from memories.search.owner_sample import cached_sample, read_sample
from memories.search.question import SearchQuestion, read_terms
from memories.search.row_format import NOT_CURRENT, OCCURRED, PINNED, Columns, OwnerSearch, ids_literal, ids_of
from memories.services import Owner
from teams.origin import Origin
from teams.sensitivity import DEFAULT_LEVEL, READABLE_SQL, owner_clearance

IS_CURRENT = Q(superseded_by=None, retired_because="")


def nearest(rows: QuerySet[Memory], vector: QueryVector | None, limit: int) -> list[Memory]:
    """Return the `limit` rows nearest to the vector, with their `similarity`; superseded and retired ones come last."""
    return with_active_model(vector, partial(_nearest, rows, limit))


def _nearest(rows: QuerySet[Memory], limit: int, vector: QueryVector | None) -> list[Memory]:
    if vector is None:
        return []
    measured: QuerySet[Any] = rows.annotate(
        similarity=vector.similarity, space=active_model_expression(), holds=IS_CURRENT
    )
    found = list(measured.filter(similarity__isnull=False).order_by("-holds", "-similarity", "id")[:limit])
    if found:
        vector.confirm(found[0].space)
    return found


logger = logging.getLogger(__name__)

IS_CURRENT_SQL = "(superseded_by_id IS NULL AND retired_because = '')"
# Superseded and retired memories come last, so that they never displace a current memory.
CURRENT_FIRST = f"NOT {IS_CURRENT_SQL}"
COLUMNS = f"""
m.id, m.version, m.kind, {text_sql("m")} AS text, at, similarity, m.superseded_by_id, m.pinned, m.retired_because,
m.salience, m.credibility, m.origin, m.sensitivity
"""

# RECENT_SQL returns an owner's newest and pinned memories; `{owner}` is the column, `owner` an id, `recent` a number.
# The index has each owner's newest first, so only `recent` rows are read; superseded and retired ones are read only if
# there are fewer current ones. Pinned ones are included however old they are: they are few, with an index of their own.
RECENT_SQL = f"""
WITH owned AS NOT MATERIALIZED (
    SELECT id, version, kind, {text_sql("memories")} AS text, coalesce(occurred_at, created) AS at, superseded_by_id,
        pinned, retired_because, salience, credibility, origin, sensitivity
    FROM memories WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND {IS_SEARCHED_SQL}
), standing AS MATERIALIZED (
    SELECT * FROM owned WHERE {IS_CURRENT_SQL} ORDER BY at DESC, id LIMIT %(recent)s
), found AS (
    SELECT * FROM standing
    UNION ALL
    SELECT * FROM owned WHERE pinned AND id NOT IN (SELECT id FROM standing)
    UNION ALL
    (SELECT * FROM owned WHERE NOT {IS_CURRENT_SQL} ORDER BY at DESC, id
        LIMIT greatest(0, %(recent)s - (SELECT count(*) FROM standing)))
)
SELECT id, version, kind, text, at, NULL::float8 AS similarity, superseded_by_id, pinned, retired_because,
    salience, credibility, origin, sensitivity
FROM found ORDER BY {CURRENT_FIRST}, at DESC, id
"""  # noqa: S608 - only the constant names above are put in

SIMILAR = f"""
WITH owned AS MATERIALIZED (
    SELECT id, coalesce(occurred_at, created) AS at, superseded_by_id, pinned, retired_because,
        CASE WHEN {{here}} THEN 1 - ({{slot}} <=> %(vector)s::vector) END AS similarity
    FROM memories WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND {IS_SEARCHED_SQL}
), found AS (
    (SELECT id, at, similarity FROM owned
        ORDER BY {CURRENT_FIRST}, similarity DESC NULLS LAST, id LIMIT %(similar)s)
    UNION
    (SELECT id, at, similarity FROM owned
        ORDER BY {CURRENT_FIRST}, at DESC, id LIMIT %(recent)s)
    UNION
    SELECT id, at, similarity FROM owned WHERE pinned AND %(recent)s > 0
)
SELECT {COLUMNS}, {ACTIVE_MODEL_SQL} FROM found JOIN memories m USING (id) WHERE true{{joined_within}}
ORDER BY {CURRENT_FIRST}, similarity DESC NULLS LAST, m.id
"""  # noqa: S608 - only the constant names above are put in


class FoundMemory(Struct, frozen=True):
    """A memory found by search. `similarity` is -1 to 1, or None without a topic or where a vector is missing.

    `measures` are the features that a ranker weighs, by name: see `memories.search.features`.
    """

    id: UUID | str
    version: int
    kind: str
    text: str
    occurred_at: datetime.datetime
    similarity: float | None
    superseded_by: UUID | str | None
    pinned: bool = False
    retired_because: str = ""
    salience: float = 0.5
    credibility: float = 0.5
    origin: str = Origin.PERSON
    sensitivity: int = DEFAULT_LEVEL
    measures: Mapping[str, float] = {}

    @property
    def ref(self) -> str:
        return f"memory:{self.id}@{self.version}"


def found_memory(row: Sequence[Any]) -> FoundMemory:
    """Return the memory of a row of RECENT_SQL or another statement here, with its text as it was written."""
    id_, version, kind, text, at, similarity, superseded_by, pinned, retired, *others = row
    return FoundMemory(
        id_, version, kind, read_text(text), at, similarity, superseded_by, pinned, open_text(retired), *others
    )


def topic_vector(topic: str) -> QueryVector | None:
    """Return the vector of the topic; None for an empty or unknown topic, or where the embedder fails."""
    try:
        return embed_query(topic)
    except EmbedderFailed as error:
        logger.warning("the topic was not embedded: %s", error)
        return None


def find_memories(*, owner: Owner, vector: QueryVector | None, similar: int, recent: int) -> list[FoundMemory]:
    """Return the `similar` memories nearest to the vector and the `recent` newest; without a vector, the newest alone.

    Unless `recent` is 0, the pinned ones are included as well.
    """
    return with_active_model(vector, partial(_find_memories, owner, similar, recent))


def _find_memories(owner: Owner, similar: int, recent: int, vector: QueryVector | None) -> list[FoundMemory]:
    names = {"owner": "agent_id" if isinstance(owner, Agent) else "team_id", **within()}
    clearance = owner_clearance(names["owner"], owner.pk)
    parameters: dict[str, Any] = {"owner": owner.pk, "clearance": clearance, "similar": similar, "recent": recent}
    if vector is not None:
        names |= {"slot": vector.space.slot, "here": vector.space.here}
        parameters |= vector.parameters
    query = (RECENT_SQL if vector is None else SIMILAR).format(**names)
    rows = fetch_rows(query, parameters)
    if vector is not None and rows:
        vector.confirm(rows[0][-1])
        rows = [row[:-1] for row in rows]
    return [found_memory(row) for row in rows]


TEXTS = f"""
SELECT id, version, kind, {text_sql("memories")} AS text, {OCCURRED}, superseded_by_id, pinned, retired_because,
    salience, credibility, origin, sensitivity
FROM {{memories}} WHERE id = ANY(%(ids)s::uuid[]){{within}}
"""  # noqa: S608 - only the constant above is put in
SURE_FACTOR = 2
"""A cached sample proves that an owner has more than n rows if it estimated more than this many times n."""


def search_memories(
    *, owner: Owner, question: SearchQuestion, weights: Weights, limit: int, recent: int
) -> list[FoundMemory]:
    """Return the `limit` memories with the highest weighted sums of features, the `recent` newest and all pinned ones.

    The best come first, superseded and retired ones last; ties go to the lower id. The `measures` of each memory are
    its features that are not 0. For an owner with very many memories only candidates are ranked: see `candidates`.
    """
    rows, measured, partition = _read_rows(owner, question, max(limit, recent), weights)
    chosen = _select_rows(rows, scores_of(measured, weights), limit, recent)
    found, measures = rows.take(chosen), {name: values[chosen] for name, values in measured.items()}
    return _to_found_memories(found, measures, _texts(owner, partition, found))


def rows_with_features(
    owner: Owner, question: SearchQuestion, *, least: int, weights: Weights | None = None
) -> tuple[Columns, Mapping[str, Numbers]]:
    """Return the rows to rank, the oldest first, and their features; at least `least` rows, if the owner has so many.

    For an owner with many more rows, the weights decide which candidates are read.
    """
    rows, measured, _ = _read_rows(owner, question, least, weights or Weights({}))
    return rows, measured


class _ReadRows(NamedTuple):
    """The rows to rank, their features, and the partition from which they were read, as `partition_of` returns it."""

    rows: Columns
    measured: Mapping[str, Numbers]
    partition: str


def _read_rows(owner: Owner, question: SearchQuestion, least: int, weights: Weights) -> _ReadRows:
    return with_active_model(question.vector, partial(_rows_with_features, owner, question, least, weights))


def _rows_with_features(
    owner: Owner, question: SearchQuestion, least: int, weights: Weights, vector: QueryVector | None
) -> _ReadRows:
    question = replace(question, vector=vector)
    column = "agent_id" if isinstance(owner, Agent) else "team_id"
    most = max(candidates.EXACT_ROWS, least)
    kept = cached_sample(owner.pk, owner_clearance(column, owner.pk))
    known = kept.table if kept and kept.owned > SURE_FACTOR * most else 0
    terms, more, table = read_terms(question, column, owner.pk, most, known)
    search = OwnerSearch(column, owner.pk, question, terms, partition_of(owner.pk, table))
    if more:
        rows, rarity = candidates.candidate_rows(
            search, weights, least, read_sample(column, owner.pk, table, search.clearance)
        )
    else:
        rows, rarity = candidates.all_rows(search, most)
    measured = {name: np.round(values, DECIMALS) for name, values in features(rows, question, rarity).items()}
    return _ReadRows(rows, measured, search.partition)


def _select_rows(rows: Columns, scores: Numbers, limit: int, recent: int) -> NDArray[np.intp]:
    """Return the indexes of the best, the newest and the pinned rows, the best first."""
    kept = (rows["marks"] & PINNED) > 0
    kept[_highest(rows, scores, limit)] = kept[_highest(rows, rows["at"].astype(float), recent)] = True
    places = np.flatnonzero(kept)
    return places[_highest(rows.take(places), scores[places], len(places))]


def _highest(rows: Columns, values: Numbers, count: int) -> NDArray[np.intp]:
    """Return the indexes of the `count` rows with the highest values, the highest first.

    Superseded and retired rows come after all others; ties go to the lower id.
    """
    gone = (rows["marks"] & NOT_CURRENT) > 0
    places = np.arange(len(rows))
    if 0 < count < len(rows):  # only as many rows as needed are sorted
        standing = np.where(gone, -np.inf, values)
        places = np.flatnonzero(standing >= np.partition(standing, -count)[-count])
    some = rows.take(places)
    order = np.lexsort((some["id_low"], some["id_high"], -values[places], gone[places]))
    return places[order][:count]


def _to_found_memories(
    rows: Columns, measured: Mapping[str, Numbers], texts: Mapping[UUID, Sequence[Any]]
) -> list[FoundMemory]:
    ids, similarities = ids_of(rows), rows["similarity"].tolist()
    columns = {name: values.tolist() for name, values in measured.items()}
    found = []
    for place, id_ in enumerate(ids):
        if told := texts.get(id_):
            measures = {name: values[place] for name, values in columns.items() if values[place]}
            similarity = None if math.isnan(similarities[place]) else similarities[place]
            fields: list[Any] = [*told[:5], similarity, *told[5:], measures]
            found.append(found_memory(fields))
    return found


def _texts(owner: Owner, partition: str, rows: Columns) -> dict[UUID, tuple[Any, ...]]:
    statement = Statement(TEXTS.format(**read_from(partition)), {"ids": ids_literal(rows), "owner": owner.pk})
    return {row[0]: tuple(row) for row in run_statement(statement)}
