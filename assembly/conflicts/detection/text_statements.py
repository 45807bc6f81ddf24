"""A text is split into its sentences, and each of them is analysed in the language of the text."""

import re
from collections.abc import Iterator
from dataclasses import replace

from assembly.conflicts.detection.lexicon import LANGUAGES, Language, load_lexicon
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.statement_analysis import analyse
from assembly.engine.extraction import sentences_of
from memories.search.languages import detected_language, stop_words

MAX_STATEMENTS = 24
"""The most statements of a text that are compared, from its beginning."""
MAX_CHARACTERS = 8_000
"""The most characters of a text that are read, from its beginning."""

_WORD = re.compile(r"[^\W\d_]+")
_MARKED = ("german", "spanish")
"""The languages of which a few words tell that a short text is in them."""
_LETTERS = {"german": "äöüß", "spanish": "ñ¿¡áéíóú"}
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Sra|St|vs?|No|Nr|ca|approx|bzw|z\. ?B|i\.e|e\.g|d\. ?h|Str|Abs|Art)\.$"
)
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t]*\d{1,3}\.$")
"""The number of an entry of a list, whose point ends no sentence."""
_GERMAN_DAY = re.compile(
    r" (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""This is what follows the point of “30. Juni”."""
_LINE_GOES_ON = re.compile(r"[ \t]*\n[ \t]*[a-zäöüßáéíóúñ]")
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+|^#+\s+")
_HEADING = re.compile(r"(?:#{1,6}\s+\S+(?:\s+\S+){,4}|(\*\*|__)[^*_\s]+(?:\s[^*_\s]+){,4}\1:?)(?<![.!?])")
"""A heading, or a bold line in place of one, of at most five words."""
_HEADING_MARKS = re.compile(r"^(?:#+\s+|[*_]+)|[*_:]+$")
_STATES = re.compile(
    r"\d|\b(?:is|are|was|were|has|have|can|may|must|will|no|not|never|ist|sind|kein\w*|nicht|es|son|nunca)\b|[.!?]\W*$",
    re.IGNORECASE,
)
"""This is in a heading that states something: “Closed on 3 May”, “The office is closed”."""


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
    """Return the analysed sentences of a text, at most MAX_STATEMENTS, without marks of lists.

    A short heading that states nothing is left out where other lines follow, which have it as theirs.
    """
    text = text[:MAX_CHARACTERS]
    found: list[Statement] = []
    heading = ""
    for start, end in whole_sentences(text):
        said = text[start:end]
        if text[end:].strip() and _HEADING.fullmatch(said) and not _STATES.search(said):
            heading = _HEADING_MARKS.sub("", said)
            continue
        said = _LIST_MARK.sub("", text[start:end])
        statement = replace(analyse(said, language), heading=heading)
        if statement.words or statement.quantities or statement.dates:
            found.append(statement)
        if len(found) == MAX_STATEMENTS:
            break
    return found


def whole_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence.

    The point of an abbreviation such as “Dr.” ends none, nor does a line that goes on in the next one.
    """
    start: int | None = None
    for sentence in sentences_of(text):
        start = sentence.start if start is None else start
        rest = text[sentence.end :]
        is_mark = _LIST_NUMBER.search(text[: sentence.end])
        is_abbreviated = (is_mark or _ABBREVIATION.search(text[start : sentence.end])) and rest.startswith(" ")
        is_wrapped = _LINE_GOES_ON.match(rest) and text[sentence.end - 1] not in ".!?:;|"
        is_day = text[: sentence.end].endswith(".") and _GERMAN_DAY.match(rest)
        if not is_abbreviated and not is_day and not is_wrapped:
            yield start, sentence.end
            start = None
    if start is not None:
        yield start, len(text)
