"""What speaks for a row, as numbers of fixed ranges: they mean the same from question to question.

Rows that stand next to each other on one day are neighbours: what was said before and after tells what a row is about.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.dating import date_of, nearness, of_named_days
from memories.retrieval.question import Question
from memories.retrieval.rarity import Rarity, has, terms_of
from memories.retrieval.rows import ASKS, LABELLED, SAYS_A_TIME, Columns
from memories.retrieval.scores import BREVITY

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
Terms = NDArray[np.int64]
Values = TypeVar("Values", Numbers, Terms)

TERMS_A_BYTE = 8
ANY_BYTE = np.arange(256)
BYTES_A_TOKEN = 4
LONG = 6.0
"""log(1 + tokens) from which on more length says nothing more."""
MIDDLING_BYTES = 400.0
"""The mean length of an owner's texts at which brevity is one half: turns of talk have 140 bytes, messages 2,000."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""Robertson's k1 and b of BM25, as most search engines set them."""
SMOOTHING_BYTES = 20.0
SHORTEST, LONGEST = -3.0, 2.0
"""Logarithms of a length over the mean, beyond which a text counts as no shorter and no longer."""
KINSHIP = 0.35
"""Mean cosine of two texts that follow one another, measured on long conversations: it spares a second vector."""


def features(rows: Columns, question: Question, rarity: Rarity) -> dict[str, Numbers]:
    """By name, a number per row, for rows in order of time.

    Similarities are cosines. Matches of words are shares of the question's weight, `words_for_length` up to 1.7 of it.
    `relative_length` is the logarithm of the length over the mean of the owner's texts. All others are 0 to 1.
    """
    starts, continues = _days_of(rows)
    similarity = rows["similarity"].astype(float)
    similarity[np.isnan(similarity)] = 0
    share = _Shares(rarity.idf)
    found = terms_of(rows)
    words = share.of(found)
    asks = _marked(found, ASKS)
    said_before, said_after = _previous(found, continues), _next(found, continues)
    return {
        "similarity": similarity,
        "similarity_with_previous": _joined(rows, similarity, continues),
        "similarity_of_day": _of_day(np.maximum, similarity, starts),
        "words": words,
        "words_for_length": words * _word_gain(rows, rarity.mean_bytes),
        "words_with_previous": share.of(found | said_before),
        "words_around": share.of(found | said_before | said_after),
        "words_of_day": share.of(_of_day(np.bitwise_or, found, starts)),
        "labelled": _marked(found, LABELLED),
        "date": of_named_days(rows, question) * (1 - rarity.dated),
        "near_date": nearness(rows, question),
        "time_said": _marked(found, SAYS_A_TIME),
        "relative_length": _relative_length(rows, rarity.mean_bytes),
        "length": np.minimum(np.log1p(rows["length"] / BYTES_A_TOKEN), LONG) / LONG,
        "asks": asks,
        "after_question": _previous(asks, continues),
        "salience": rows["salience"].astype(float),
        "credibility": rows["credibility"].astype(float),
        BREVITY: np.full(len(rows), brevity_of(rarity.mean_bytes)),
    }


def brevity_of(mean_bytes: float) -> float:
    """How brief an owner's texts are: near 1 for short turns, one half at MIDDLING_BYTES, near 0 for whole pages."""
    return 1 / (1 + (mean_bytes / MIDDLING_BYTES) ** 2)


def _word_gain(rows: Columns, mean_bytes: float) -> Numbers:
    """BM25's factor for a word that a text of this length has once: 1 for a text of mean length."""
    length = rows["length"].astype(float) / (mean_bytes or 1.0)
    gain: Numbers = (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length))
    return gain


def _relative_length(rows: Columns, mean_bytes: float) -> Numbers:
    length = rows["length"].astype(float) + SMOOTHING_BYTES
    return np.clip(np.log(length / (mean_bytes + SMOOTHING_BYTES)), SHORTEST, LONGEST)


def _marked(found: Terms, mark: int) -> Numbers:
    return ((found & mark) > 0).astype(float)


def _days_of(rows: Columns) -> tuple[Places, Flags]:
    """Where each day begins, and whether the row before is of the same day."""
    date = date_of(rows)
    continues = np.zeros(len(rows), dtype=bool)
    continues[1:] = date[1:] == date[:-1]
    return np.flatnonzero(~continues), continues


def _of_day(joined: np.ufunc, values: Values, starts: Places) -> Values:
    """What the values of all rows of the same day are, joined."""
    if not len(starts):
        return values
    of_day: Values = joined.reduceat(values, starts)
    return np.repeat(of_day, np.diff(starts, append=len(values)))


def _previous(values: Values, continues: Flags) -> Values:
    """That of the row before, nothing where it is of another day."""
    before = np.zeros_like(values)
    before[1:] = values[:-1] * continues[1:]
    return before


def _next(values: Values, continues: Flags) -> Values:
    """That of the row after, nothing where it is of another day."""
    after = np.zeros_like(values)
    after[:-1] = values[1:] * continues[1:]
    return after


class _Shares:
    """How much of a question's weight terms have, if each tells as much as given."""

    def __init__(self, idf: Numbers) -> None:
        total = float(idf.sum()) or 1.0
        eights = [idf[start : start + TERMS_A_BYTE] for start in range(0, len(idf), TERMS_A_BYTE)]
        self.of_byte = [has(ANY_BYTE, len(eight)).astype(float) @ eight / total for eight in eights]
        """By eight terms, what each of the bytes tells that say which of them there are: looked up, and not summed."""

    def of(self, found: Terms) -> Numbers:
        """A number per row, 0 to 1."""
        in_bytes = found.astype("<i8").view(np.uint8).reshape(-1, found.itemsize)
        share = np.zeros(len(found))
        for place, of_byte in enumerate(self.of_byte):
            share += of_byte[in_bytes[:, place]]
        return share


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
