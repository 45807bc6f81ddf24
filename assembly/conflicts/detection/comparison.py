"""This module compares two texts: do they contradict each other, say the same, or neither?

Texts are split into sentences. The pairs of sentences with common words are compared, as many as the limits below
allow, and the pair that contradicts most decides. English, German and Spanish have lists of words (`lexicon/`). In
other languages numbers, units, ISO dates and words that are equal are compared.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assembly.conflicts.detection.classifier import Classification, Classifier, Label, load_classifier
from assembly.conflicts.detection.clauses import clauses_of
from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.differences import Difference, Kind
from assembly.conflicts.detection.features import Pair, PairPlace
from assembly.conflicts.detection.inference import INFERRED_STRENGTH, InferenceModel, infer_labels, refute
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.statement_analysis import analyse
from assembly.conflicts.detection.text_statements import statements_of_both
from assembly.conflicts.detection.word_alignment import sentence_similarity

MAX_PAIRS = 40
"""The most pairs of statements that are compared, those with most common words first."""
MAX_SPLIT, MAX_CLAUSE_PAIRS = 3, 10
"""The most statements of a text that are split into clauses, and the most pairs of these that are compared."""
MAX_OF_NOTE, MAX_LINES, LEAST_OF_LINES = 3, 2, 0.2
"""The most statements of a note, and the most pairs of one of them and a line of a longer text that are compared almost
as two notes would be, with their least cosine."""
DECIDED: tuple[Label, ...] = ("conflict", "evolving", "duplicate")
"""The labels after which clauses are not compared."""
ON_OTHER_DAYS: Mapping[Label, Label] = {"conflict": "evolving", "duplicate": "similar"}
"""This says what texts of different days are instead: a value has changed, or the same happened once more."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two texts are related. Label, kind, subject, severity and probability are equal if the texts are swapped."""

    label: Label
    kind: Kind
    """This is what kind of cue makes a conflict or a change, or `duplicate`; empty otherwise."""
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
    model: str = ""
    """The name of the language model that decided; empty where the cues did."""


class _Compared(NamedTuple):
    pair: Pair
    found: Classification
    places: tuple[int, int]
    model: str = ""
    """The name of the language model that gave the label; empty where the cues did."""


def compare_texts(
    left: str,
    right: str,
    *,
    similarity: float,
    left_date: datetime.date | None = None,
    right_date: datetime.date | None = None,
    model: InferenceModel | None = None,
) -> Comparison:
    """Return how two texts are related.

    `similarity` is the cosine of the embeddings of both texts. The dates are the days that the texts speak of, not
    those on which they were stored: different values on different days are not a conflict but a change, and the same
    words on different days are not a duplicate but similar. The model, if there is one, may refute each conflict that
    the cues find, and is asked where neither one is left nor a duplicate.
    """
    return compare_texts_by(
        load_classifier(), left, right, similarity=similarity, left_date=left_date, right_date=right_date, model=model
    )


def compare_texts_by(
    classifier: Classifier,
    left: str,
    right: str,
    *,
    similarity: float,
    left_date: datetime.date | None = None,
    right_date: datetime.date | None = None,
    model: InferenceModel | None = None,
) -> Comparison:
    """Return how two texts are related, by this classifier and this model."""
    is_other_day = left_date is not None and right_date is not None and left_date != right_date
    if is_same_text(left, right):
        if is_other_day:
            return Comparison("similar", "", 1.0, 0.0, "", 1.0, left.strip(), right.strip())
        return Comparison(
            "duplicate", "duplicate", 1.0, 0.0, "Both texts are the same.", 1.0, left.strip(), right.strip()
        )
    mine, theirs = statements_of_both(left, right)
    compared = _compare_statements(mine, theirs, similarity, classifier)
    if not compared:
        return Comparison("unrelated", "", 0.0, 0.0, "", 1.0, _first(mine), _first(theirs))
    chosen, label = _decide(compared, len(mine), len(theirs))
    if label not in DECIDED:
        chosen, label = _compare_clauses(mine, theirs, similarity, classifier) or (chosen, label)
    while model and label == "conflict" and (refuted := refute(chosen.pair, chosen.found, model)):
        refuted_pair = chosen._replace(found=refuted)
        is_clause = not any(one is chosen for one in compared)
        compared = [refuted_pair if one is chosen else one for one in compared]
        chosen, label = (refuted_pair, refuted.label) if is_clause else _decide(compared, len(mine), len(theirs))
    if model and label not in ("conflict", "duplicate") and (inferred := _infer(compared, model)):
        chosen, label = _decide(inferred, len(mine), len(theirs))
        if label == "duplicate":  # what made it one
            chosen = max((one for one in inferred if one.model), key=lambda one: one.found.probability)
    return _comparison(chosen, ON_OTHER_DAYS.get(label, label) if is_other_day else label)


def compared_pairs(left: str, right: str, similarity: float) -> list[Pair]:
    """Return all pairs of statements and of clauses of two texts, with this cosine, that may be compared."""
    mine, theirs = statements_of_both(left, right)
    pairs = [pair for pair, _ in _statement_pairs(mine, theirs, similarity)]
    return pairs + clause_pairs(mine, theirs, similarity)


def _compare_statements(
    left: Sequence[Statement], right: Sequence[Statement], similarity: float, classifier: Classifier
) -> list[_Compared]:
    """Return the compared pairs of statements."""
    pairs = _statement_pairs(left, right, similarity)
    return [_Compared(pair, classifier.classify(pair), places) for pair, places in pairs]


def _statement_pairs(
    left: Sequence[Statement], right: Sequence[Statement], similarity: float
) -> list[tuple[Pair, tuple[int, int]]]:
    """Return the pairs of statements with most common words and their places, at most MAX_PAIRS."""
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

    likely = sorted((pair for pair in pairs if pair[0] > 0 or is_single), key=order)[:MAX_PAIRS]
    lines = _lines_of_note(left, right)
    places = dict.fromkeys([*((row, column) for _, row, column in likely), *lines])
    cosines = {
        (row, column): similarity if is_single else sentence_similarity(left[row].text, right[column].text)
        for row, column in places
    }
    line: PairPlace = "line" if min(len(left), len(right)) == 1 else "lines"
    found: list[tuple[Pair, tuple[int, int]]] = []
    for (row, column), cosine in cosines.items():
        mine, theirs, is_line = left[row], right[column], (row, column) in lines
        place: PairPlace = "notes" if is_single else line if is_line else "texts"
        pair = Pair(mine, theirs, find_cues(mine, theirs), cosine, text_cosine=similarity, place=place)
        found.append((pair, (row, column)))
    return found


def _lines_of_note(left: Sequence[Statement], right: Sequence[Statement]) -> list[tuple[int, int]]:
    """Return the places of the statements of a note and of the lines of the other text that are nearest in meaning.

    They need no common words, because a language model may find that one contradicts the other.
    """
    if min(len(left), len(right)) > MAX_OF_NOTE or len(left) == len(right) == 1:
        return []
    cosines = {
        (row, column): sentence_similarity(mine.text_with_heading, theirs.text_with_heading)
        for row, mine in enumerate(left)
        for column, theirs in enumerate(right)
    }
    near = [place for place, cosine in cosines.items() if cosine >= LEAST_OF_LINES]
    near.sort(key=lambda place: (-cosines[place], sorted((left[place[0]].text, right[place[1]].text))))
    return near[:MAX_LINES]


def _compare_clauses(
    left: Sequence[Statement], right: Sequence[Statement], similarity: float, classifier: Classifier
) -> tuple[_Compared, Label] | None:
    """Return the pair of clauses, or of a clause and a sentence, that contradict each other most; None without one."""
    pairs = clause_pairs(left, right, similarity)
    found = [_Compared(pair, classifier.classify(pair), (0, 0)) for pair in pairs]
    conflicts = [one for one in found if one.found.label == "conflict"]
    return (max(conflicts, key=_conflict_rank), "conflict") if conflicts else None


def clause_pairs(left: Sequence[Statement], right: Sequence[Statement], similarity: float) -> list[Pair]:
    """Return the pairs of clauses, and of clauses and sentences, with common words, at most MAX_CLAUSE_PAIRS.

    `similarity` is the cosine of the texts.
    """
    parts = [
        [(statement, False) for statement in side]
        + [
            (replace(analyse(text, statement.language), heading=statement.heading), True)
            for statement in side
            for text in clauses_of(statement)
        ]
        for side in (left[:MAX_SPLIT], right[:MAX_SPLIT])
    ]
    chosen = [
        (mine, theirs)
        for mine, is_clause in parts[0]
        for theirs, is_other_clause in parts[1]
        if (is_clause or is_other_clause) and not mine.words.isdisjoint(theirs.words)
    ]
    chosen.sort(key=lambda pair: (-_common_share(*pair), sorted((pair[0].text, pair[1].text))))
    place: PairPlace = "notes" if len(left) == len(right) == 1 else "texts"
    return [
        Pair(
            mine,
            theirs,
            find_cues(mine, theirs),
            sentence_similarity(mine.text, theirs.text),
            True,
            similarity,
            place,
        )
        for mine, theirs in chosen[:MAX_CLAUSE_PAIRS]
    ]


def _common_share(left: Statement, right: Statement) -> float:
    """Return the common words as a share of the larger statement's words, 0 to 1."""
    if left.words.isdisjoint(right.words):
        return 0.0
    return len(left.words & right.words) / max(len(left.words), len(right.words))


def _infer(compared: Sequence[_Compared], model: InferenceModel) -> list[_Compared] | None:
    """Return all pairs with the labels that the model gives some of them; None if it gives none."""
    found = infer_labels([(one.pair, one.found) for one in compared], model)
    if not found:
        return None
    return [
        one._replace(found=found[place], model=model.name) if place in found else one
        for place, one in enumerate(compared)
    ]


def _conflict_rank(one: _Compared) -> tuple[float, float, float]:
    strongest = one.pair.cues.strongest()
    return one.found.conflict_probability, one.found.subject, strongest.strength if strongest else 0.0


def _decide(compared: Sequence[_Compared], left_size: int, right_size: int) -> tuple[_Compared, Label]:
    """Return the pair of statements that decides, and the label of the texts.

    A conflict of any pair is a conflict of the texts, and likewise a change. Texts are duplicates if every statement
    of both has its duplicate, and one refines the other if every statement of the shorter one has its match.
    """

    for label in ("conflict", "evolving"):
        if found := [one for one in compared if one.found.label == label]:
            return max(found, key=_conflict_rank), label
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
    if chosen.model and label in DECIDED:
        return _inferred_comparison(chosen, label)
    kind: Kind = "duplicate" if label == "duplicate" else difference.shown_kind if difference else ""
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


def _inferred_comparison(chosen: _Compared, label: Label) -> Comparison:
    """Return the comparison of texts of which a language model finds a contradiction, or that both say the same."""
    found, share = chosen.found, f"{chosen.found.probability:.0%}".replace("%", " %")
    is_duplicate = label == "duplicate"
    says = "both say the same" if is_duplicate else "one contradicts the other"
    return Comparison(
        label=label,
        kind="duplicate" if is_duplicate else "meaning",
        subject=round(found.subject, 4),
        severity=round(found.subject * INFERRED_STRENGTH, 4) if label == "conflict" else 0.0,
        cue=f"The language model {chosen.model} finds that {says} (probability {share}).",
        probability=round(found.probability, 4),
        left_statement=chosen.pair.left.text,
        right_statement=chosen.pair.right.text,
        model=chosen.model,
    )


def is_same_text(left: str, right: str) -> bool:
    """Return whether both texts are equal but for white space and case."""
    return _plain(left) == _plain(right)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _first(statements: Sequence[Statement]) -> str:
    return statements[0].text if statements else ""
