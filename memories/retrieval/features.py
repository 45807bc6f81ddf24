"""What speaks for a row, as numbers of fixed ranges: they mean the same from question to question.

Rows that stand next to each other on one day are neighbours: what was said before and after tells what a row is about.
"""

import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.question import Question
from memories.retrieval.rows import ASKS, LABELLED, SAYS_A_TIME, Columns

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
Values = TypeVar("Values", Numbers, Flags)

SECONDS_A_DAY = 86_400
EPOCH = datetime.date(1970, 1, 1)
BYTES_A_TOKEN = 4
LONG = 6.0
"""log(1 + tokens) from which on more length says nothing more."""
KINSHIP = 0.35
"""Mean cosine of two texts that follow one another, measured on long conversations: it spares a second vector."""
WEEK_DAYS = 7
NEAR_DAYS = 5.0
"""So many days from a named one, nearness to it is down to 1/e."""


def features(rows: Columns, question: Question, idf: Numbers) -> dict[str, Numbers]:
    """By name, a number per row, for rows in order of time; `idf` is the weight of each term.

    Similarities are cosines. Matches of words are shares of the question's weight. All others are 0 to 1.
    """
    starts, continues = _days_of(rows)
    similarity = np.nan_to_num(rows["similarity"].astype(float))
    found, asks = has(rows, len(idf)), _marked(rows, ASKS)
    said_before, said_after = _previous(found, continues), _next(found, continues)
    named, near = _dates(rows, question)
    return {
        "similarity": similarity,
        "similarity_with_previous": _joined(rows, similarity, continues),
        "similarity_of_day": _best_of_day(similarity, starts),
        "words": _share(found, idf),
        "words_with_previous": _share(found | said_before, idf),
        "words_around": _share(found | said_before | said_after, idf),
        "words_of_day": _share(_best_of_day(found, starts), idf),
        "labelled": _marked(rows, LABELLED),
        "date": named,
        "near_date": near,
        "time_said": _marked(rows, SAYS_A_TIME),
        "length": np.minimum(np.log1p(rows["length"] / BYTES_A_TOKEN), LONG) / LONG,
        "asks": asks,
        "after_question": _previous(asks, continues),
        "salience": rows["salience"].astype(float),
        "credibility": rows["credibility"].astype(float),
    }


def idf_of(rows: Columns, terms: int) -> Numbers:
    """How much each term tells, by how few of the rows have it: the idf of BM25 (Robertson and Spärck Jones)."""
    having = has(rows, terms).sum(axis=0)
    inverse: Numbers = np.log(1 + (len(rows) - having + 0.5) / (having + 0.5))
    return inverse


def has(rows: Columns, terms: int) -> Flags:
    """Which row has which term."""
    flags: Flags = (rows["terms"].astype(np.int64)[:, None] >> np.arange(terms)) & 1 > 0
    return flags


def _marked(rows: Columns, mark: int) -> Numbers:
    return ((rows["marks"] & mark) > 0).astype(float)


def _date_of(rows: Columns) -> NDArray[np.int64]:
    """In days since 1970, in UTC."""
    return np.floor(rows["at"].astype(float) / SECONDS_A_DAY).astype(np.int64)


def _days_of(rows: Columns) -> tuple[Places, Flags]:
    """Where each day begins, and whether the row before is of the same day."""
    date = _date_of(rows)
    continues = np.zeros(len(rows), dtype=bool)
    continues[1:] = date[1:] == date[:-1]
    return np.flatnonzero(~continues), continues


def _best_of_day(values: Values, starts: Places) -> Values:
    """The most that any row of the same day has."""
    if not len(starts):
        return values
    best: Values = np.maximum.reduceat(values, starts, axis=0)
    return np.repeat(best, np.diff([*starts, len(values)]), axis=0)


def _previous(values: Values, continues: Flags) -> Values:
    """That of the row before, nothing where it is of another day."""
    before = np.zeros_like(values)
    before[1:][continues[1:]] = values[:-1][continues[1:]]
    return before


def _next(values: Values, continues: Flags) -> Values:
    """That of the row after, nothing where it is of another day."""
    after = np.zeros_like(values)
    after[:-1][continues[1:]] = values[1:][continues[1:]]
    return after


def _share(found: Flags, idf: Numbers) -> Numbers:
    total = float(idf.sum())
    matched: Numbers = found @ idf
    return matched / (total or 1.0)


def _joined(rows: Columns, similarity: Numbers, continues: Flags) -> Numbers:
    """About the cosine of the row's text together with that of the row before.

    The vector of two texts is the sum of theirs, each as long as the square root of its text.
    """
    length = np.sqrt(rows["length"].astype(float))
    before = _previous(length, continues)
    sum_length = np.sqrt(length**2 + before**2 + 2 * KINSHIP * length * before)
    joined: Numbers = length * similarity + before * _previous(similarity, continues)
    joined /= np.where(sum_length > 0, sum_length, 1.0)
    return joined


def _dates(rows: Columns, question: Question) -> tuple[Numbers, Numbers]:
    """Whether the row is of a named day, times the share of rows that are not; and how near it is to one."""
    date = _date_of(rows)
    named, near = np.zeros(len(rows)), np.zeros(len(rows))
    for days in question.days:
        first, last = (days.first - EPOCH).days, (days.last - EPOCH).days
        away = np.maximum(0, np.maximum(first - date, date - last))
        named = np.maximum(named, away == 0)
        if last - first < WEEK_DAYS:
            near = np.maximum(near, np.exp(-away / NEAR_DAYS))
    share = float(named.mean()) if len(rows) else 0.0
    return named * (1 - share), near
