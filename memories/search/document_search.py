"""Search of documents ranks an agent's chunks against a question, by the features that also rank memories.

A document takes the place of a day: its chunks, in the order of their positions, are each other's neighbours, so
features of neighbours and days apply to chunks and documents. Chunks have no dates, labels, salience or credibility.
"""

import datetime
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from msgspec import Struct

from agents.models import Agent
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_text
from memories.embeddings.vectors import QueryVector, with_active_model
from memories.lifecycle.half_vectors import vector_sql
from memories.lifecycle.tiered_text import octets_sql, passage_sql, read_text
from memories.search.day_windows import MICROSECONDS_A_DAY
from memories.search.features import DECIMALS, Numbers, Weights, features, scores_of
from memories.search.languages import languages_by_evidence
from memories.search.owner_partition import within_shard_of
from memories.search.question import SearchQuestion, names_in, read_terms
from memories.search.row_format import Columns, OwnerSearch
from memories.search.term_statistics import exact_statistics

# The last bytes of a document's id are random, so they identify the document.
ROW = """
substring(uuid_send(document_id), 9) || int8send(id) || int8send(position) || int8send({marks})
    || lseg_send(lseg(point({similarity}, 0.5), point(0.5, {octets})))
"""
TEXTS = f"""
SELECT c.id, document_id, document_version, position, line, {passage_sql("c", "{of_document}")} AS text, path, updated,
    d.origin, c.sensitivity
FROM chunks c JOIN documents d ON d.id = document_id{{of_agent}}
WHERE c.agent_id = %(agent)s AND c.id = ANY(%(ids)s::bigint[])
"""  # noqa: S608 - only the constant above is put in


@dataclass(frozen=True, slots=True)
class PassageTable:
    """A table of passages has a column with the id of their owner, and SQL that selects {row} from an owner's rows.

    The selected relation has the columns that ROW names, those of vectors, and `search`.
    """

    name: str
    owner: str
    selected: str
    octets: str = "octet_length(text)"
    """The SQL expression of the size of a passage's text in bytes."""
    vector: Callable[[str], str] = str
    """Returns the SQL expression of a passage's vector in a slot."""


CHUNKS = PassageTable(
    "chunks",
    "agent_id",
    "SELECT {row} FROM chunks WHERE {owner} = %(owner)s AND sensitivity <= %(clearance)s",
    octets_sql("chunks"),
    vector_sql,
)


class FoundPassage(Struct, frozen=True):
    """A passage of a document or a file with its features, which a ranker weighs. `similarity` is None where it is
    unknown.
    """

    document: UUID
    version: int
    position: int
    line: int
    text: str
    path: str
    updated: datetime.datetime
    origin: str
    sensitivity: int
    similarity: float | None
    measures: Mapping[str, float] = {}


@dataclass(frozen=True)
class PassageSearch(OwnerSearch):
    """A search among the passages of one owner. The column `at` encodes the document (as a day) and the position."""

    table: PassageTable = CHUNKS

    def _row(self, marks: Sequence[str]) -> str:
        return ROW.format(marks=" | ".join(marks), similarity=self._similarity, octets=self.table.octets)

    def _vector(self, slot: str) -> str:
        return self.table.vector(slot)

    def _label(self, place: int) -> str | None:
        return None

    @property
    def _marks(self) -> list[str]:
        return []

    def _in_order(self, rows: Columns) -> Columns:
        rows = rows.take(np.lexsort((rows["at"].astype(np.int64), rows["id_high"].astype(np.uint64))))
        documents = np.cumsum(np.diff(rows["id_high"].astype(np.uint64), prepend=0) != 0)
        rows["at"] += documents * MICROSECONDS_A_DAY
        return rows


def search_passages(
    *, agent: Agent, topic: str, vector: QueryVector | None, weights: Weights, limit: int
) -> list[FoundPassage]:
    """Return the `limit` chunks with the highest weighted sums of features, the best first; ties go to the older chunk.

    The `measures` of each chunk are its features that are not 0.
    """
    question = SearchQuestion(topic, vector, names_in(topic), languages=languages_by_evidence(topic))
    measure = partial(passage_features, CHUNKS, agent.pk, question, {})
    rows, measured = with_active_model(vector, measure)
    scores = scores_of(measured, weights)
    places = np.arange(len(rows))
    if 0 < limit < len(rows):  # only as many as needed are sorted
        places = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    best = places[np.lexsort((rows["id_low"][places], -scores[places]))][:limit]
    return _to_passages(agent.pk, rows.take(best), {name: values[best] for name, values in measured.items()})


def passage_features(
    table: PassageTable,
    owner: UUID,
    question: SearchQuestion,
    parameters: Mapping[str, Any],
    vector: QueryVector | None,
    *,
    spoken: Collection[str] = (),
) -> tuple[Columns, Mapping[str, Numbers]]:
    """Return all of the owner's passages, document by document in the order of their positions, and their features.

    `parameters` are those of the table's SQL; `spoken` are languages of passages that the table does not hold. There is
    no vector index of passages, so a search for the nearest alone would be hardly faster. Raises EmbeddingModelChanged.
    """
    question = replace(question, vector=vector)
    terms, _, _ = read_terms(question, table.owner, owner, most=0, languages_of=table.name, spoken=spoken)
    search = PassageSearch(table.owner, owner, question, terms, table=table)
    rows = search.read_quickly(table.selected, parameters, search.places, before=())
    measured = features(rows, question, exact_statistics(rows, search))
    return rows, {name: np.round(values, DECIMALS) for name, values in measured.items()}


def _to_passages(agent: UUID, rows: Columns, measured: Mapping[str, Numbers]) -> list[FoundPassage]:
    ids, similarities = rows["id_low"].tolist(), rows["similarity"].tolist()
    within = {"of_document": within_shard_of("agent", "document"), "of_agent": within_shard_of("agent", "d")}
    statement = Statement(TEXTS.format(**within), {"ids": f"{{{','.join(map(str, ids))}}}", "agent": agent})
    texts = {id_: text for id_, *text in run_statement(statement)}
    found = []
    for id_, cosine, measures in zip(ids, similarities, measures_of(measured), strict=True):
        if id_ in texts:  # the document was not split again in between
            document, version, position, line, text, path, *others = texts[id_]
            similarity = None if math.isnan(cosine) else cosine
            fields: list[Any] = [
                document,
                version,
                position,
                line,
                read_text(text),
                open_text(path),
                *others,
                similarity,
                measures,
            ]
            found.append(FoundPassage(*fields))
    return found


def measures_of(measured: Mapping[str, Numbers]) -> Iterator[dict[str, float]]:
    """Yield for each row its features that are not 0, by name."""
    names = list(measured)
    for row in zip(*(values.tolist() for values in measured.values()), strict=True):
        yield {name: value for name, value in zip(names, row, strict=True) if value}
