"""Search of files ranks the passages of versioned texts against a question, by the features of chunks of documents.

Passages that are not stored are sent along with the statement, so that all passages are compared with each other.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from pgvector import Vector

from config.db.sealed_columns import written_octets_sql
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_text
from memories.embeddings.registry import is_bundled
from memories.embeddings.vectors import QueryVector, embed_texts, with_active_model
from memories.models import FilePassage
from memories.search.current_files import CurrentPassages
from memories.search.document_search import PassageTable, measures_of, passage_features
from memories.search.features import Numbers, Weights, scores_of
from memories.search.languages import languages_by_evidence
from memories.search.question import SearchQuestion, names_in
from memories.search.row_format import Columns
from teams.sensitivity import DEFAULT_LEVEL

CURRENT = """
file_passages JOIN unnest(%(files)s::uuid[], %(versions)s::integer[]) AS current (file, version)
    ON file_id = file AND file_version = version
"""
# Ids of passages that are not stored are negative. Without OFFSET, their words would be computed once for each term.
OCTETS = f"CASE WHEN sensitivity > 1 THEN {written_octets_sql('text')} ELSE octet_length(text) END"
SELECTED = f"""
SELECT {{{{row}}}} FROM (
    SELECT id, file_id AS document_id, position, {OCTETS} AS octets, search{{stored}}
    FROM {CURRENT} WHERE {{{{owner}}}} = %(owner)s
    UNION ALL (
        SELECT -number, file, position, octet_length(text), to_tsvector(language::regconfig, text){{fresh}}
        FROM unnest(
            %(fresh_files)s::uuid[], %(positions)s::integer[], %(texts)s::text[], %(languages)s::text[],
            %(vectors)s::text[]
        ) WITH ORDINALITY AS made (file, position, text, language, vector, number)
        OFFSET 0
    )
) AS passages
"""  # noqa: S608 - only the constant above is put in
TEXTS = "SELECT id, file_id, position, line, text FROM file_passages WHERE id = ANY(%(ids)s::bigint[])"
FIRST = f"""
SELECT file_id, position, line, text FROM {CURRENT} WHERE position < %(first)s ORDER BY file_id, position
"""  # noqa: S608 - as above


class FoundFilePassage(Struct, frozen=True):
    """A found passage of a file has features, which a ranker weighs. `similarity` is None where it is unknown."""

    file: UUID
    position: int
    line: int
    text: str
    similarity: float | None = None
    measures: Mapping[str, float] = {}


def first_passages(passages: CurrentPassages, count: int) -> list[FoundFilePassage]:
    """Return the first `count` passages of each file, in order."""
    found = [
        FoundFilePassage(one.file_id, one.position, one.line, one.text)
        for one in passages.fresh
        if one.position < count
    ]
    if passages.stored:
        parameters = {**_current(passages), "first": count}
        rows = run_statement(Statement(FIRST, parameters))
        found += [FoundFilePassage(file, position, line, open_text(text)) for file, position, line, text in rows]
    return found


def search_files(
    *,
    owner: UUID,
    passages: CurrentPassages,
    topic: str,
    vector: QueryVector | None,
    weights: Weights | None,
    limit: int,
    per_file: bool,
) -> list[FoundFilePassage]:
    """Return the `limit` best passages of the owner's files, or of each file, the best first.

    They are ranked by the weighted sums of their features. Without weights, they are ranked by similarity, or where it
    is unknown, by the share of the topic's words. Ties go to the earlier passage of a file. `owner` is the id of an
    agent, a team, or ORGANISATION.
    """
    question = SearchQuestion(topic, vector, names_in(topic), languages=languages_by_evidence(topic))
    rows, measured = with_active_model(vector, partial(_measured_passages, owner, passages, question))
    scores = _closeness(rows, measured) if weights is None else scores_of(measured, weights)
    best = np.argsort(-scores, kind="stable")
    best = _first_of_each(rows, best, limit) if per_file else best[:limit]
    found = {name: values[best] for name, values in measured.items()}
    return list(_to_passages(passages, rows.take(best), found))


def _measured_passages(
    owner: UUID, passages: CurrentPassages, question: SearchQuestion, vector: QueryVector | None
) -> tuple[Columns, Mapping[str, Numbers]]:
    texts = [one.text for one in passages.fresh]
    parameters = {
        **_current(passages),
        "fresh_files": [one.file_id for one in passages.fresh],
        "positions": [one.position for one in passages.fresh],
        "texts": texts,
        "languages": [one.language for one in passages.fresh],
        "vectors": _vectors(texts, vector),
    }
    spoken = {one.language for one in passages.fresh}
    return passage_features(_table(vector), owner, question, parameters, vector, spoken=spoken)


def _current(passages: CurrentPassages) -> dict[str, Any]:
    """Return the parameters of CURRENT."""
    return {"files": list(passages.stored), "versions": list(passages.stored.values())}


def _table(vector: QueryVector | None) -> PassageTable:
    stored = fresh = ""
    if vector is not None:
        stored = f", {vector.space.slot}, {vector.space.model_column}"
        fresh = ", vector::vector, %(model)s::text"
    return PassageTable("file_passages", "owner", SELECTED.format(stored=stored, fresh=fresh), "octets")


def _vectors(texts: Sequence[str], vector: QueryVector | None) -> list[str | None]:
    """Return the vectors of texts for SQL; none of an embedder on a server, for which no search waits."""
    if not texts or vector is None or not is_bundled(vector.space.model):
        return [None] * len(texts)
    levels = [DEFAULT_LEVEL] * len(texts)  # whatever theirs are: the bundled embedder may be given any text
    return [None if one is None else Vector(one).to_text() for one in embed_texts(vector.space, texts, levels)]


def _closeness(rows: Columns, measured: Mapping[str, Numbers]) -> Numbers:
    """Return each row's similarity, or the share of the topic's words that it has, if the similarity is unknown."""
    similarity = rows["similarity"].astype(float)
    closeness: Numbers = np.where(np.isnan(similarity), measured["words"], similarity)
    return closeness


def _first_of_each(rows: Columns, order: NDArray[np.intp], limit: int) -> NDArray[np.intp]:
    """Return the first `limit` rows of each file in this order."""
    seen: Counter[int] = Counter()
    chosen = []
    for place, file in zip(order.tolist(), rows["id_high"][order].tolist(), strict=True):
        seen[file] += 1
        if seen[file] <= limit:
            chosen.append(place)
    return np.array(chosen, dtype=np.intp)


def _to_passages(
    passages: CurrentPassages, rows: Columns, measured: Mapping[str, Numbers]
) -> Iterator[FoundFilePassage]:
    ids: list[int] = rows["id_low"].astype(np.int64).tolist()
    fresh = {-number: _facts(one) for number, one in enumerate(passages.fresh, 1)}
    texts = fresh | _stored_texts(ids)
    for id_, similarity, measures in zip(ids, rows["similarity"].tolist(), measures_of(measured), strict=True):
        if one := texts.get(id_):  # the file was not split again in between
            known = None if math.isnan(similarity) else similarity
            yield FoundFilePassage(*one, known, measures)


_Facts = tuple[UUID, int, int, str]
"""The file, the position, the line and the text of a passage."""


def _facts(passage: FilePassage) -> _Facts:
    return passage.file_id, passage.position, passage.line, passage.text


def _stored_texts(ids: Sequence[int]) -> dict[int, _Facts]:
    stored = [str(id_) for id_ in ids if id_ > 0]
    if not stored:
        return {}
    rows = run_statement(Statement(TEXTS, {"ids": f"{{{','.join(stored)}}}"}))
    return {id_: (file, position, line, open_text(text)) for id_, file, position, line, text in rows}
