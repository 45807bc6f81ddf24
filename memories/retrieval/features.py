"""Features: what speaks for a row, as numbers that mean the same from question to question and from owner to owner.

How near a row's meaning is, and how well its words match, is told among the rows at hand: as a standard score (z), by
how many standard deviations the row lies above their mean. A cosine of .4 is much among long texts and little among
short ones; two standard deviations are as much here as there.
"""

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.dating import nearness, of_named_days
from memories.retrieval.neighbours import Neighbours
from memories.retrieval.question import Question
from memories.retrieval.rarity import Rarity, has, terms_of
from memories.retrieval.rows import ASKS, LABELLED, SAYS_A_TIME, Columns
from memories.retrieval.scores import BREVITY

Numbers = NDArray[np.float64]
Terms = NDArray[np.int64]

MIDDLING_BYTES = 400.0
"""The mean length of an owner's texts at which brevity is one half: turns of talk have 140 bytes, messages 2,000."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""Robertson's k1 and b of BM25, as most search engines set them."""
SMOOTHING_BYTES = 20.0
SHORTEST, LONGEST = -3.0, 2.0
"""Logarithms of a length over the mean, beyond which a text counts as no shorter and no longer."""
ROWS_AROUND = 3
KINSHIP = 0.35
"""Mean cosine of two texts that follow one another, measured on long conversations: it spares a second vector."""
LEAST_DEVIATION = 1e-6


def features(rows: Columns, question: Question, rarity: Rarity) -> dict[str, Numbers]:
    """Return by name a number per row, for rows in order of time.

    Those that end in `_z` are standard scores. `words` is a share of the question's weight, `relative_length` the
    logarithm of the length over the mean of the owner's texts. All others are 0 to 1; `brevity` is the owner's.
    """
    neighbours = Neighbours(rows)
    similarity = np.nan_to_num(rows["similarity"].astype(float), nan=0.0)
    of_day = neighbours.spread(neighbours.per_day(np.maximum, similarity))
    found = terms_of(rows)
    match = _WordMatch(found, rows["length"].astype(float), rarity, neighbours)
    asks = _marked(found, ASKS)
    return {
        "similarity_z": _standard_score(similarity),
        "similarity_with_previous_z": _standard_score(_joined(rows, similarity, neighbours)),
        "similarity_of_day_z": _standard_score(of_day),
        "words": match.share,
        "words_z": _standard_score(match.own),
        "words_around_z": _standard_score(match.around),
        "words_of_day_z": _standard_score(match.of_day),
        "labelled": _marked(found, LABELLED),
        "date": of_named_days(rows, question) * (1 - rarity.dated),
        "near_date": nearness(rows, question),
        "time_said": _marked(found, SAYS_A_TIME),
        "relative_length": _relative_length(rows, rarity.mean_bytes),
        "asks": asks,
        "after_question": neighbours.previous(asks),
        "salience": rows["salience"].astype(float),
        "credibility": rows["credibility"].astype(float),
        BREVITY: np.full(len(rows), brevity_of(rarity.mean_bytes)),
    }


def brevity_of(mean_bytes: float) -> float:
    """Return how brief an owner's texts are, by their mean length: near 1 for short turns, near 0 for whole pages."""
    return 1 / (1 + (mean_bytes / MIDDLING_BYTES) ** 2)


class _WordMatch:
    """How well the words of a question match each row, as BM25 has it: of rows, each word counts once.

    `share` is the share of the question's weight in words that the row has, whatever its length, 0 to 1.
    """

    def __init__(self, found: Terms, length: Numbers, rarity: Rarity, neighbours: Neighbours) -> None:
        idf = rarity.idf
        self._weights = idf / (float(idf.sum()) or 1.0)
        counts = has(found, len(idf)).astype(float)
        mean = rarity.mean_bytes or 1.0
        self.share: Numbers = counts @ self._weights
        self.own = self.share * self._matches(np.ones(1), length / mean)
        around = neighbours.around(length) / (mean * ROWS_AROUND)
        self.around = self._matches(neighbours.around(counts), around[:, None]) @ self._weights
        days = neighbours.per_day(np.add, length)
        relative = days / (float(days.mean()) if len(days) else 1.0)
        of_days = self._matches(neighbours.per_day(np.add, counts), relative[:, None]) @ self._weights
        self.of_day = neighbours.spread(of_days)

    @staticmethod
    def _matches(counts: Numbers, relative_length: Numbers) -> Numbers:
        """Return BM25's factor for a word that occurs so often in a text so much longer than the mean."""
        saturation = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length)
        matches: Numbers = counts * (SATURATION + 1) / (counts + saturation)
        return matches


def _standard_score(values: Numbers) -> Numbers:
    """Return by how many standard deviations each value lies above the mean; 0 where all are alike."""
    deviation = float(values.std()) if len(values) else 0.0
    if deviation < LEAST_DEVIATION:
        return np.zeros(len(values))
    scores: Numbers = (values - values.mean()) / deviation
    return scores


def _relative_length(rows: Columns, mean_bytes: float) -> Numbers:
    length = rows["length"].astype(float) + SMOOTHING_BYTES
    return np.clip(np.log(length / (mean_bytes + SMOOTHING_BYTES)), SHORTEST, LONGEST)


def _marked(found: Terms, mark: int) -> Numbers:
    return ((found & mark) > 0).astype(float)


def _joined(rows: Columns, similarity: Numbers, neighbours: Neighbours) -> Numbers:
    """Return about the cosine of the row's text together with that of the row before.

    The vector of two texts is the sum of theirs, each as long as the square root of its text.
    """
    length = np.sqrt(rows["length"].astype(float))
    before = neighbours.previous(length)
    sum_length = np.sqrt(length**2 + before**2 + 2 * KINSHIP * length * before)
    joined: Numbers = length * similarity + before * neighbours.previous(similarity)
    joined /= np.where(sum_length > 0, sum_length, 1.0)
    return joined
