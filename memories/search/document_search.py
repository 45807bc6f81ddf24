"""Search of documents ranks an agent's chunks against a question, by the features that also rank memories.

A document takes the place of a day: its chunks, in the order of their positions, are each other's neighbours, so
features of neighbours and days apply to chunks and documents. Chunks have no dates, labels, salience or credibility.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np

from agents.models import Agent
from config.db.statements import Statement, run_statement
from memories.embeddings.vectors import QueryVector, with_active_model
from memories.search.day_windows import MICROSECONDS_A_DAY
from memories.search.features import DECIMALS, Numbers, Weights, features, scores_of
from memories.search.languages import languages_by_evidence
from memories.search.question import SearchQuestion, names_in, read_terms
from memories.search.row_format import Columns, OwnerSearch
from memories.search.term_statistics import exact_statistics

# The last bytes of a document's id are random, so they identify the document.
ROW = """
substring(uuid_send(document_id), 9) || int8send(id) || int8send(position) || int8send({marks})
    || lseg_send(lseg(point({similarity}, 0.5), point(0.5, octet_length(text))))
"""
OWNED = "SELECT {row} FROM chunks WHERE {owner} = %(owner)s"
TEXTS = """
SELECT c.id, document_id, document_version, position, line, text, path, updated, d.origin
FROM chunks c JOIN documents d ON d.id = document_id WHERE c.id = ANY(%(ids)s::bigint[])
"""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A chunk of a document with its features, which a ranker weighs. `similarity` is None where it is unknown."""

    document: UUID
    version: int
    position: int
    line: int
    text: str
    path: str
    updated: datetime.datetime
    origin: str
    similarity: float | None
    measures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PassageSearch(OwnerSearch):
    """A search among the chunks of one agent. The column `at` encodes the document (as a day) and the position."""

    def _row(self, marks: Sequence[str]) -> str:
        return ROW.format(marks=" | ".join(marks), similarity=self._similarity)

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
    rows, measured = with_active_model(vector, partial(_chunk_features, agent, question))
    best = np.lexsort((rows["id_low"], -scores_of(measured, weights)))[:limit]
    return _to_passages(rows.take(best), {name: values[best] for name, values in measured.items()})


def _chunk_features(
    agent: Agent, question: SearchQuestion, vector: QueryVector | None
) -> tuple[Columns, Mapping[str, Numbers]]:
    """Return all of the agent's chunks and their features.

    There is no vector index of chunks, so a search for the nearest alone would be hardly faster.
    """
    question = replace(question, vector=vector)
    terms, _, _ = read_terms(question, "agent_id", agent.pk, most=0, languages_of="chunks")
    search = PassageSearch("agent_id", agent.pk, question, terms)
    rows = search.read_quickly(OWNED, {}, search.places, before=())
    measured = features(rows, question, exact_statistics(rows, search))
    return rows, {name: np.round(values, DECIMALS) for name, values in measured.items()}


def _to_passages(rows: Columns, measured: Mapping[str, Numbers]) -> list[FoundPassage]:
    ids, similarities = rows["id_low"].tolist(), rows["similarity"].tolist()
    wanted = f"{{{','.join(map(str, ids))}}}"
    texts = {id_: text for id_, *text in run_statement(Statement(TEXTS, {"ids": wanted}))}
    columns = {name: values.tolist() for name, values in measured.items()}
    found = []
    for place, id_ in enumerate(ids):
        if id_ in texts:  # the document was not split again in between
            measures = {name: values[place] for name, values in columns.items() if values[place]}
            similarity = None if math.isnan(similarities[place]) else similarities[place]
            fields: list[Any] = [*texts[id_], similarity, measures]
            found.append(FoundPassage(*fields))
    return found
