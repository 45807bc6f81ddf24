"""Search of files ranks the passages of versioned texts against a question, by the features of chunks of documents.

A file whose current version was not split yet is searched as well: its passages are made from its text and sent along
with the statement, so that all passages are compared with each other.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector

from config.db.statements import Statement, run_statement
from memories.embeddings.registry import is_bundled
from memories.embeddings.vectors import QueryVector, embed_texts, with_active_model
from memories.models import FilePassage
from memories.search.document_search import FoundPassage, PassageTable, measures_of, passage_features
from memories.search.features import Numbers, Weights, scores_of
from memories.search.languages import languages_by_evidence
from memories.search.question import SearchQuestion, names_in
from memories.search.row_format import Columns

# Ids of passages that are not stored are negative. Without OFFSET, their words would be computed once for each term.
SELECTED = """
SELECT {{row}} FROM (
    SELECT id, file_id AS document_id, position, text, search{stored}
    FROM file_passages JOIN unnest(%(files)s::uuid[], %(versions)s::integer[]) AS current (file, version)
        ON file_id = file AND file_version = version
    WHERE {{owner}} = %(owner)s
    UNION ALL (
        SELECT -number, file, position, text, to_tsvector(language::regconfig, text){fresh}
        FROM unnest(
            %(fresh_files)s::uuid[], %(positions)s::integer[], %(texts)s::text[], %(languages)s::text[],
            %(vectors)s::text[]
        ) WITH ORDINALITY AS made (file, position, text, language, vector, number)
        OFFSET 0
    )
) AS passages
"""
TEXTS = "SELECT id, position, line, text FROM file_passages WHERE id = ANY(%(ids)s::bigint[])"
LAST_BYTES = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class SearchedFile:
    """A file to search: its version, the path to which passages are attributed, and when it changed.

    `fresh` are the passages of the version if none are stored, unsaved and in order.
    """

    id: UUID
    version: int
    path: str
    updated: datetime.datetime
    fresh: Sequence[FilePassage] = ()


def search_files(
    *,
    owner: UUID,
    files: Sequence[SearchedFile],
    topic: str,
    vector: QueryVector | None,
    weights: Weights | None,
    limit: int,
    per_file: bool,
) -> list[FoundPassage]:
    """Return the `limit` best passages of the owner's files, or of each file, the best first.

    They are ranked by the weighted sums of their features. Without weights, they are ranked by similarity, or where it
    is unknown, by the share of the topic's words. Ties go to the earlier passage of a file. `owner` is the id of an
    agent, a team, or ORGANISATION.
    """
    question = SearchQuestion(topic, vector, names_in(topic), languages=languages_by_evidence(topic))
    rows, measured = with_active_model(vector, partial(_file_features, owner, files, question))
    scores = _closeness(rows, measured) if weights is None else scores_of(measured, weights)
    best = np.argsort(-scores, kind="stable")
    best = _first_of_each(rows, best, limit) if per_file else best[:limit]
    found = rows.take(best)
    return list(_to_passages(files, found, {name: values[best] for name, values in measured.items()}))


def _file_features(
    owner: UUID, files: Sequence[SearchedFile], question: SearchQuestion, vector: QueryVector | None
) -> tuple[Columns, Mapping[str, Numbers]]:
    fresh = _fresh_passages(files)
    stored = [file for file in files if not file.fresh]
    parameters: dict[str, Any] = {
        "files": [file.id for file in stored],
        "versions": [file.version for file in stored],
        "fresh_files": [file.id for file, _ in fresh],
        "positions": [passage.position for _, passage in fresh],
        "texts": [passage.text for _, passage in fresh],
        "languages": [passage.language for _, passage in fresh],
        "vectors": _vectors([passage.text for _, passage in fresh], vector),
    }
    spoken = {passage.language for _, passage in fresh}
    return passage_features(_table(vector), owner, question, parameters, vector, spoken=spoken)


def _table(vector: QueryVector | None) -> PassageTable:
    columns = {"stored": "", "fresh": ""}
    if vector is not None:
        space = vector.space
        columns = {"stored": f", {space.slot}, {space.model_column}", "fresh": ", vector::vector, %(model)s::text"}
    return PassageTable("file_passages", "owner", SELECTED.format(**columns))


def _fresh_passages(files: Sequence[SearchedFile]) -> list[tuple[SearchedFile, FilePassage]]:
    """Return the passages that are not stored with their files; the first has the id -1, the second -2, …"""
    return [(file, passage) for file in files for passage in file.fresh]


def _vectors(texts: Sequence[str], vector: QueryVector | None) -> list[str | None]:
    """Return the vectors of texts for SQL; without any by a server, for which a search cannot wait."""
    if not texts or vector is None or not is_bundled(vector.space.model):
        return [None] * len(texts)
    return [None if one is None else Vector(one).to_text() for one in embed_texts(vector.space, texts)]


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
    files: Sequence[SearchedFile], rows: Columns, measured: Mapping[str, Numbers]
) -> Iterator[FoundPassage]:
    ids: list[int] = rows["id_low"].astype(np.int64).tolist()
    texts = {-number: one for number, (_, one) in enumerate(_fresh_passages(files), 1)} | _stored_texts(ids)
    by_last_bytes = {file.id.int & LAST_BYTES: file for file in files}
    whole = [by_last_bytes[last] for last in rows["id_high"].tolist()]
    for file, id_, similarity, measures in zip(
        whole, ids, rows["similarity"].tolist(), measures_of(measured), strict=True
    ):
        if passage := texts.get(id_):  # the file was not split again in between
            yield FoundPassage(
                document=file.id,
                version=file.version,
                position=passage.position,
                line=passage.line,
                text=passage.text,
                path=file.path,
                updated=file.updated,
                similarity=None if math.isnan(similarity) else similarity,
                measures=measures,
            )


def _stored_texts(ids: Sequence[int]) -> dict[int, FilePassage]:
    stored = [str(id_) for id_ in ids if id_ > 0]
    if not stored:
        return {}
    rows = run_statement(Statement(TEXTS, {"ids": f"{{{','.join(stored)}}}"}))
    return {id_: FilePassage(position=position, line=line, text=text) for id_, position, line, text in rows}
