"""The search: the owner's rows are measured, and those that the weights put first are returned with their measures."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agents.models import Agent
from config.http.statements import Statement, rows_of
from memories.directions import Direction, in_active_space
from memories.retrieval import candidates
from memories.retrieval.features import Numbers, features
from memories.retrieval.question import Question
from memories.retrieval.rows import GONE, OCCURRED, PINNED, Columns, Search, ids_of, ids_written
from memories.retrieval.samples import sample_kept, sample_of
from memories.retrieval.scores import DECIMALS, Weights, scores_of
from memories.retrieval.terms import terms_read
from memories.search import FoundMemory
from memories.services import Owner

TEXTS = f"""
SELECT id, version, kind, text, {OCCURRED}, superseded_by_id, pinned, retired_because
FROM memories WHERE id = ANY(%(ids)s::uuid[])
"""  # noqa: S608 - only the constant above is put in
CERTAINLY = 2
"""Who had so many times as many as a sample tells them, has still more than these."""


def memories_search(
    *, owner: Owner, question: Question, weights: Weights, limit: int, recent: int
) -> list[FoundMemory]:
    """The `limit` memories for which the weighed features say the most, with the `recent` newest and all pinned ones.

    The best come first; superseded and retired ones after all others; ties go to the lower id. Where the owner has so
    many, so many come back. Each has those of its features that are not 0 as measures. Of an owner with very many,
    those are ranked that come into question: see `candidates`.
    """
    rows, measured = measured_rows(owner, question, least=max(limit, recent), weights=weights)
    chosen = _chosen(rows, scores_of(measured, weights), limit, recent)
    return _found(rows.take(chosen), {name: values[chosen] for name, values in measured.items()})


def measured_rows(
    owner: Owner, question: Question, *, least: int, weights: Weights | None = None
) -> tuple[Columns, Mapping[str, Numbers]]:
    """The rows that are ranked, the oldest first, and their features; at least so many, where the owner has them.

    Which ones are worth it, where the owner has many more, the weights say.
    """
    return in_active_space(question.vector, partial(_measured, owner, question, least, weights or Weights({})))


def _measured(
    owner: Owner, question: Question, least: int, weights: Weights, vector: Direction | None
) -> tuple[Columns, Mapping[str, Numbers]]:
    question = replace(question, vector=vector)
    column = "agent_id" if isinstance(owner, Agent) else "team_id"
    most = max(candidates.EXACT_ROWS, least)
    kept = sample_kept(owner.pk)
    known = kept.table if kept and kept.owned > CERTAINLY * most else 0
    terms, more, table = terms_read(question, column, owner.pk, most, known)
    search = Search(column, owner.pk, question, terms)
    if more:
        rows, rarity = candidates.in_question(search, weights, least, sample_of(column, owner.pk, table))
    else:
        rows, rarity = candidates.whole(search, most)
    return rows, {name: np.round(values, DECIMALS) for name, values in features(rows, question, rarity).items()}


def _chosen(rows: Columns, scores: Numbers, limit: int, recent: int) -> NDArray[np.intp]:
    """The places of the best, of the newest and of the pinned, the best first."""
    kept = (rows["marks"] & PINNED) > 0
    kept[_first(rows, scores, limit)] = kept[_first(rows, rows["at"].astype(float), recent)] = True
    places = np.flatnonzero(kept)
    return places[_first(rows.take(places), scores[places], len(places))]


def _first(rows: Columns, values: Numbers, count: int) -> NDArray[np.intp]:
    """The places of so many rows with the highest values, the highest first. Those that are gone come after all others,
    and ties go to the lower id.
    """
    gone = (rows["marks"] & GONE) > 0
    places = np.arange(len(rows))
    if 0 < count < len(rows):  # few are sorted, and no more
        standing = np.where(gone, -np.inf, values)
        places = np.flatnonzero(standing >= np.partition(standing, -count)[-count])
    some = rows.take(places)
    order = np.lexsort((some["id_low"], some["id_high"], -values[places], gone[places]))
    return places[order][:count]


def _found(rows: Columns, measured: Mapping[str, Numbers]) -> list[FoundMemory]:
    ids = ids_of(rows)
    texts, similarities = _texts(rows), rows["similarity"].tolist()
    columns = {name: values.tolist() for name, values in measured.items()}
    found = []
    for place, id_ in enumerate(ids):
        if told := texts.get(id_):
            measures = {name: values[place] for name, values in columns.items() if values[place]}
            similarity = None if math.isnan(similarities[place]) else similarities[place]
            found.append(FoundMemory(*told[:5], similarity, *told[5:], measures))
    return found


def _texts(rows: Columns) -> dict[UUID, tuple[UUID, int, str, str, datetime.datetime, UUID | None, bool, str]]:
    return {row[0]: tuple(row) for row in rows_of(Statement(TEXTS, {"ids": ids_written(rows)}))}
