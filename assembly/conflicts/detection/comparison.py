"""This module compares two texts: do they contradict each other, say the same, or neither?

Texts are split into sentences. The pairs of sentences with common words are compared, as many as the limits below
allow, and the pair that contradicts most decides. English, German and Spanish have lists of words (`lexicon/`). In
other languages numbers, units, ISO dates and words that are equal are compared.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assembly.conflicts.detection.classifier import Classification, Classifier, Label, load_classifier
from assembly.conflicts.detection.clauses import clauses_of
from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.differences import Difference, Kind
from assembly.conflicts.detection.features import Pair
from assembly.conflicts.detection.lexicon import LANGUAGES, Language, load_lexicon
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.statement_analysis import analyse
from assembly.conflicts.detection.word_alignment import sentence_similarity
from assembly.engine.extraction import sentences_of
from memories.search.languages import detected_language, stop_words

MAX_STATEMENTS = 24
"""The most statements of a text that are compared, from its beginning."""
MAX_PAIRS = 40
"""The most pairs of statements that are compared, those with most common words first."""
MAX_CHARACTERS = 8_000
"""The most characters of a text that are read, from its beginning."""
MAX_SPLIT, MAX_CLAUSE_PAIRS = 3, 10
"""The most statements of a text that are split into clauses, and the most pairs of these that are compared."""

_WORD = re.compile(r"[^\W\d_]+")
_MARKED = ("german", "spanish")
"""The languages of which a few words tell that a short text is in them."""
_LETTERS = {"german": "äöüß", "spanish": "ñ¿¡áéíóú"}
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Sra|St|vs?|No|Nr|ca|approx|bzw|z\. ?B|i\.e|e\.g|d\. ?h|Str|Abs|Art)\.$"
)
_GERMAN_DAY = re.compile(
    r" (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""This is what follows the point of “30. Juni”."""
_LINE_GOES_ON = re.compile(r"[ \t]*\n[ \t]*[a-zäöüßáéíóúñ]")
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+|^#+\s+")


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
    if is_same_text(left, right):
        return Comparison(
            "duplicate", "duplicate", 1.0, 0.0, "Both texts are the same.", 1.0, left.strip(), right.strip()
        )
    mine, theirs = statements_of_both(left, right)
    compared = _compare_statements(mine, theirs, similarity, classifier)
    if not compared:
        return Comparison("unrelated", "", 0.0, 0.0, "", 1.0, _first(mine), _first(theirs))
    chosen, label = _decide(compared, len(mine), len(theirs))
    if label not in ("conflict", "evolving", "duplicate"):
        chosen, label = _compare_clauses(mine, theirs, similarity, classifier) or (chosen, label)
    is_change = left_date is not None and right_date is not None and left_date != right_date
    if label == "conflict" and is_change:
        label = "evolving"
    return _comparison(chosen, label)


def statements_of_both(left: str, right: str) -> tuple[list[Statement], list[Statement]]:
    """Return the statements of both texts; a text without a sign of its language is read in that of the other one."""
    mine, theirs = language_of(left), language_of(right)
    return statements_of(left, mine or theirs or "english"), statements_of(right, theirs or mine or "english")


def language_of(text: str) -> Language | None:
    """Return the language of a text; None if it has no sign of one, or is in a language without lists of words."""
    detected = detected_language(text[:MAX_CHARACTERS])
    if detected:
        return next((known for known in LANGUAGES if known == detected), None)
    words = set(_WORD.findall(text[:MAX_CHARACTERS].lower()))
    signs = {language: _signs(language, words) for language in LANGUAGES}
    first, second = sorted(signs.values(), reverse=True)[:2]
    return None if first == second else next(one for one in LANGUAGES if signs[one] == first)


def _signs(language: Language, words: set[str]) -> int:
    """Return how many of the words tell that a text is in the language."""
    other = [load_lexicon(one) for one in LANGUAGES if one != language]
    if language == "english":
        foreign = frozenset().union(*(one.marks for one in other), *map(stop_words, _MARKED))
        return len(words & (load_lexicon(language).stop_words - foreign))
    known = load_lexicon(language).marks - load_lexicon("english").stop_words - load_lexicon("english").marks
    letters = _LETTERS[language]
    return len(words & known) + sum(any(letter in word for letter in letters) for word in words)


def statements_of(text: str, language: Language) -> list[Statement]:
    """Return the analysed sentences of a text, at most MAX_STATEMENTS, without marks of lists and headings."""
    text = text[:MAX_CHARACTERS]
    found: list[Statement] = []
    for start, end in _whole_sentences(text):
        said = _LIST_MARK.sub("", text[start:end])
        statement = analyse(said, language)
        if statement.words or statement.quantities or statement.dates:
            found.append(statement)
        if len(found) == MAX_STATEMENTS:
            break
    return found


def _whole_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence.

    The point of an abbreviation such as “Dr.” ends none, nor does a line that goes on in the next one.
    """
    start: int | None = None
    for sentence in sentences_of(text):
        start = sentence.start if start is None else start
        rest = text[sentence.end :]
        is_abbreviated = _ABBREVIATION.search(text[start : sentence.end]) and rest.startswith(" ")
        is_wrapped = _LINE_GOES_ON.match(rest) and text[sentence.end - 1] not in ".!?:;|"
        is_day = text[: sentence.end].endswith(".") and _GERMAN_DAY.match(rest)
        if not is_abbreviated and not is_day and not is_wrapped:
            yield start, sentence.end
            start = None
    if start is not None:
        yield start, len(text)


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

    likely = sorted((pair for pair in pairs if pair[0] > 0 or is_single), key=order)
    found: list[tuple[Pair, tuple[int, int]]] = []
    for _, row, column in likely[:MAX_PAIRS]:
        cosine = similarity if is_single else sentence_similarity(left[row].text, right[column].text)
        pair = Pair(left[row], right[column], find_cues(left[row], right[column]), cosine, text_cosine=similarity)
        found.append((pair, (row, column)))
    return found


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
        + [(analyse(text, statement.language), True) for statement in side for text in clauses_of(statement)]
        for side in (left[:MAX_SPLIT], right[:MAX_SPLIT])
    ]
    chosen = [
        (mine, theirs)
        for mine, is_clause in parts[0]
        for theirs, is_other_clause in parts[1]
        if (is_clause or is_other_clause) and not mine.words.isdisjoint(theirs.words)
    ]
    chosen.sort(key=lambda pair: (-_common_share(*pair), sorted((pair[0].text, pair[1].text))))
    return [
        Pair(mine, theirs, find_cues(mine, theirs), sentence_similarity(mine.text, theirs.text), True, similarity)
        for mine, theirs in chosen[:MAX_CLAUSE_PAIRS]
    ]


def _common_share(left: Statement, right: Statement) -> float:
    """Return the common words as a share of the larger statement's words, 0 to 1."""
    if left.words.isdisjoint(right.words):
        return 0.0
    return len(left.words & right.words) / max(len(left.words), len(right.words))


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


def is_same_text(left: str, right: str) -> bool:
    """Return whether both texts are equal but for white space and case."""
    return _plain(left) == _plain(right)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _first(statements: Sequence[Statement]) -> str:
    return statements[0].text if statements else ""
