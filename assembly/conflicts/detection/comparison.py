"""This module compares two texts: do they contradict each other, say the same, or neither?

Texts are split into sentences. The pairs of sentences with common words are compared, as many as the limits below
allow, and the pair that contradicts most decides. English is compared first of all; German has its lists of words, too
(`lexicon/german.yaml`). In other languages numbers, units, ISO dates and words that are equal are compared.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assembly.conflicts.detection.classifier import Classification, Classifier, Label, load_classifier
from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.differences import Difference, Kind
from assembly.conflicts.detection.features import Pair
from assembly.conflicts.detection.lexicon import Language, load_lexicon
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.statement_analysis import analyse
from assembly.engine.extraction import sentences_of
from memories.search.languages import detected_language, stop_words

MAX_STATEMENTS = 24
"""The most statements of a text that are compared, from its beginning."""
MAX_PAIRS = 40
"""The most pairs of statements that are compared, those with most common words first."""
MAX_CHARACTERS = 8_000
"""The most characters of a text that are read, from its beginning."""
COSINE_BASE, COSINE_SLOPE = 0.25, 0.7
"""The cosine of two sentences by the share of their common words, as a line through the pairs of training; used inside
longer texts, whose sentences have no cosines of their own.
"""

_WORD = re.compile(r"[^\W\d_]+")
_GERMAN_STOP_WORDS = frozenset(stop_words("german"))
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+|^#+\s+")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two texts are related. Label, kind, subject, severity and probability are equal if the texts are swapped."""

    label: Label
    kind: Kind
    """What kind of cue makes a conflict or a change, or `duplicate`; empty otherwise."""
    subject: float
    """The certainty, 0 to 1, that both statements have one subject and one slot."""
    severity: float
    """The subject's certainty x the strength of the cue, 0 to 1; 0 unless the texts conflict."""
    cue: str
    """A sentence for people that names both values; empty without a cue."""
    probability: float
    """The probability of the label, 0 to 1."""
    left_statement: str
    """The sentence of the left text that decided, as it is written there; likewise of the right text."""
    right_statement: str


class _Compared(NamedTuple):
    pair: Pair
    found: Classification
    places: tuple[int, int]


def compare_texts(
    left: str,
    right: str,
    *,
    similarity: float,
    left_date: datetime.date | None = None,
    right_date: datetime.date | None = None,
) -> Comparison:
    """Return how two texts are related.

    `similarity` is the cosine of the embeddings of both texts. The dates are the days that the texts speak of, not
    those on which they were stored: different values on different days are not a conflict but a change.
    """
    return compare_texts_by(
        load_classifier(), left, right, similarity=similarity, left_date=left_date, right_date=right_date
    )


def compare_texts_by(
    classifier: Classifier,
    left: str,
    right: str,
    *,
    similarity: float,
    left_date: datetime.date | None = None,
    right_date: datetime.date | None = None,
) -> Comparison:
    """Return how two texts are related, by this classifier."""
    if _plain(left) == _plain(right):
        return Comparison(
            "duplicate", "duplicate", 1.0, 0.0, "Both texts are the same.", 1.0, left.strip(), right.strip()
        )
    mine, theirs = statements_of_both(left, right)
    compared = _compare_statements(mine, theirs, similarity, classifier)
    if not compared:
        return Comparison("unrelated", "", 0.0, 0.0, "", 1.0, _first(mine), _first(theirs))
    chosen, label = _decide(compared, len(mine), len(theirs))
    is_change = left_date is not None and right_date is not None and left_date != right_date
    if label == "conflict" and is_change:
        label = "evolving"
    return _comparison(chosen, label)


def statements_of_both(left: str, right: str) -> tuple[list[Statement], list[Statement]]:
    """Return the statements of both texts; a text without a sign of its language is read in that of the other one."""
    mine, theirs = language_of(left), language_of(right)
    return statements_of(left, mine or theirs or "english"), statements_of(right, theirs or mine or "english")


def language_of(text: str) -> Language | None:
    """Return whether a text is English or German; None if it has no sign of either, or is in another language."""
    detected = detected_language(text[:MAX_CHARACTERS])
    if detected:
        return "english" if detected == "english" else "german" if detected == "german" else None
    words = set(_WORD.findall(text[:MAX_CHARACTERS].lower()))
    english, german = load_lexicon("english"), load_lexicon("german")
    english_signs = len(words & (english.stop_words - german.marks - _GERMAN_STOP_WORDS))
    german_signs = len(words & (german.marks - english.stop_words - english.marks))
    german_signs += any(letter in word for word in words for letter in "äöüß")
    if english_signs == german_signs:
        return None
    return "german" if german_signs > english_signs else "english"


def statements_of(text: str, language: Language) -> list[Statement]:
    """Return the analysed sentences of a text, at most MAX_STATEMENTS, without marks of lists and headings."""
    text = text[:MAX_CHARACTERS]
    found: list[Statement] = []
    for sentence in sentences_of(text):
        said = _LIST_MARK.sub("", text[sentence.start : sentence.end])
        statement = analyse(said, language)
        if statement.words or statement.quantities or statement.dates:
            found.append(statement)
        if len(found) == MAX_STATEMENTS:
            break
    return found


def _compare_statements(
    left: Sequence[Statement], right: Sequence[Statement], similarity: float, classifier: Classifier
) -> list[_Compared]:
    """Return the compared pairs of statements: those with most common words, at most MAX_PAIRS."""
    is_single = len(left) == len(right) == 1
    pairs = [
        (_common_share(mine, theirs), row, column)
        for row, mine in enumerate(left)
        for column, theirs in enumerate(right)
    ]

    def order(pair: tuple[float, int, int]) -> tuple[float, int, list[str]]:
        # The same whichever text is left.
        share, row, column = pair
        return -share, row + column, sorted((left[row].text, right[column].text))

    likely = sorted((pair for pair in pairs if pair[0] > 0 or is_single), key=order)
    compared: list[_Compared] = []
    for share, row, column in likely[:MAX_PAIRS]:
        cosine = similarity if is_single else min(1.0, COSINE_BASE + COSINE_SLOPE * share)
        pair = Pair(left[row], right[column], find_cues(left[row], right[column]), cosine)
        compared.append(_Compared(pair, classifier.classify(pair), (row, column)))
    return compared


def _common_share(left: Statement, right: Statement) -> float:
    """Return the common words as a share of the larger statement's words, 0 to 1."""
    if left.words.isdisjoint(right.words):
        return 0.0
    return len(left.words & right.words) / max(len(left.words), len(right.words))


def _decide(compared: Sequence[_Compared], left_size: int, right_size: int) -> tuple[_Compared, Label]:
    """Return the pair of statements that decides, and the label of the texts.

    A conflict of any pair is a conflict of the texts, and likewise a change. Texts are duplicates if every statement
    of both has its duplicate, and one refines the other if every statement of the shorter one has its match.
    """

    def conflict_rank(one: _Compared) -> tuple[float, float, float]:
        strongest = one.pair.cues.strongest()
        return one.found.conflict_probability, one.found.subject, strongest.strength if strongest else 0.0

    for label in ("conflict", "evolving"):
        if found := [one for one in compared if one.found.label == label]:
            return max(found, key=conflict_rank), label
    if left_size == right_size == 1:
        return compared[0], compared[0].found.label
    same = [one for one in compared if one.found.label in ("duplicate", "refining")]
    best = max(same or compared, key=lambda one: (one.found.subject, one.found.probability))
    duplicates = [one for one in same if one.found.label == "duplicate"]
    if all(_is_covered(duplicates, side, size) for side, size in enumerate((left_size, right_size))):
        return max(duplicates, key=lambda one: one.found.probability), "duplicate"
    if any(_is_covered(same, side, size) for side, size in enumerate((left_size, right_size))):
        return best, "refining"
    related = same or [one for one in compared if one.found.label != "unrelated"]
    return best, "similar" if related else "unrelated"


def _is_covered(pairs: Sequence[_Compared], side: int, size: int) -> bool:
    return len({one.places[side] for one in pairs}) == size


def _comparison(chosen: _Compared, label: Label) -> Comparison:
    found, cues = chosen.found, chosen.pair.cues
    difference: Difference | None = cues.strongest() if label in ("conflict", "evolving") else None
    kind: Kind = "duplicate" if label == "duplicate" else difference.kind if difference else ""
    strength = difference.strength if difference and label == "conflict" else 0.0
    probability = found.probability if found.label == label else max(found.conflict_probability, found.probability)
    return Comparison(
        label=label,
        kind=kind,
        subject=round(found.subject, 4),
        severity=round(min(1.0, found.subject * strength), 4),
        cue="Both say the same." if label == "duplicate" else difference.sentence if difference else "",
        probability=round(probability, 4),
        left_statement=chosen.pair.left.text,
        right_statement=chosen.pair.right.text,
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _first(statements: Sequence[Statement]) -> str:
    return statements[0].text if statements else ""
