"""Shorter forms of a text are derived from the text alone, without a topic: its levels of detail macro and micro.

Source: the levels macro, micro and atomic of the seed "Memory Layer", which does not say how they are made. Here:

- macro says what the text is about: its title, its most telling sentence and its headings, in at most a ninth of the
  text's tokens and at most MAX_MACRO_TOKENS;
- micro has its most telling sentences, in at most a third of the text's tokens;
- atomic is the text itself, and the only level of a text with fewer tokens than MIN_SHORTENED_TOKENS.

A level is made of pieces, which are sentences, or clauses of sentences that are long for the level. They are chosen so
that together they have as many of the text's telling words as fit: numbers, names and long words, most of all those
that the text repeats. A piece counts more near the beginning, and less if it is code within prose. The first line stays
if it is a title, such as the path of a passage; so does the name of a speaker.

The time is bounded, because only the first MAX_CHARACTERS of a text are considered: a longer text has the levels of its
beginning. Equal texts have equal levels.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from assembly.engine.extraction import GAP, LINE_GAP, Sentence, sentences_of, title_of
from assembly.engine.overflow import MIN_SHORTENED_TOKENS, SHORTENED_DIVISOR
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.truncation import outline_of
from assembly.engine.types import ShorterLevel

EXTRACTIVE_LEVELS = "extractive-levels@1"
"""The name of this deriver in records. Its number rises when equal texts would get other levels."""

MAX_MACRO_TOKENS = 60
"""The most tokens of the level macro of any text."""
MACRO_DIVISOR = 9
"""The level macro has at most one token for this many tokens of its text."""
MAX_CHARACTERS = 40_000
"""The characters at the beginning of a text from which its levels are derived: about 10,000 tokens."""
MAX_PIECES = 1_000
"""The most pieces that are compared; of a text with more, neighbouring pieces are joined."""

LONG_PIECE: Mapping[ShorterLevel, int] = {"macro": 40, "micro": 80}
"""Sentences with more characters than this are split into clauses."""
MIN_CLAUSE = 16
"""The least characters of a clause."""
WRAPPED_LINE = 50
"""The least characters of a line that may go on in the next one, as lines of wrapped prose do."""

# The weights below were chosen by the share of the answers' words that stand in the levels of messages in long chats;
# tests/benchmarks/levels.py measures it on other chats.
NUMBER_WEIGHT, NAME_FACTOR, FULL_WEIGHT_CHARACTERS = 2.5, 2.0, 7
"""The weight of a number, the factor for a name, and the characters from which on a word has the weight 1."""
REPETITION_WEIGHT = 0.3
"""How much the weight of a word grows with the logarithm of its frequency in the text."""
EARLY_WEIGHT, EARLY_PIECES = 2.0, 3
"""The first piece counts 1 + EARLY_WEIGHT times as much; this addition halves every EARLY_PIECES pieces."""
CODE_FACTOR = 0.3
"""The factor for a line of fenced code, which has most of the words and least of the statements of a message."""
HEADING_FACTOR: Mapping[ShorterLevel, float] = {"macro": 3.0, "micro": 1.5}
"""The factor for a heading, and for the first line of a function or class."""
COST_POWER = 0.6
"""The power of a piece's tokens by which its gain is divided: 1 would favour fragments, 0 the longest sentences."""
LEAST_SHARE = 0.1
"""Pieces with less than this share of the gain of the best one are not worth their tokens."""

_CLAUSE = re.compile(r"(?<=[,;:])\s+(?!\d)|\s+(?=[–—]\s)|(?<=[、；：])")  # noqa: RUF001 - dashes; marks of Japanese
_LIST_MARK = re.compile(r"(?:\d{1,3}[.)]|[-*+•])$")
_DEFINITION = re.compile(
    r"(?:(?:async|export|default|public|private|static|pub) )*"
    r"(?:def|class|function|func|fn|struct|interface|trait|enum|impl|type|create table)\b.*[:{(,;)]$",
    re.IGNORECASE | re.DOTALL,
)
_DAY = re.compile(r"(?<!\d)\d{1,2}\.$")
_GERMAN_MONTH = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_LABEL = re.compile(r"\s*((?:[^\W\d_][^\s:]{0,30} ?){1,4}[:：])(?=\s)")  # noqa: RUF001 - a full-width colon
_TERM = re.compile(
    r"\d[\d.,:/%-]*"
    r"|[\u4e00-\u9fff々〆]+|[\u30a1-\u30ffー]+"  # of Japanese, the words that say something: kanji, katakana
    r"|[^\W\d_\u3040-\u30ff\u4e00-\u9fff々〆][^\W\u3040-\u30ff\u4e00-\u9fff々〆]*(?:['’-]\w+)*"  # noqa: RUF001
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:*#\"“-]\s?|\n\s*)$")
_MIN_LETTERS = 4
_NEAR = 100  # characters before the end of a sentence in which the beginning of its line is looked for


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece is the part of a text from start to end, with its terms, its tokens as one of several, and its factor."""

    start: int
    end: int
    terms: frozenset[str]
    tokens: int
    factor: float


def derive_levels(text: str, tokenizer: Tokenizer) -> dict[ShorterLevel, str]:
    """Return the shorter levels of the text that exist: none for a short text, and none where nothing fits.

    The pieces of a level are verbatim parts of the text, in its order; gap marks stand for what is omitted. A macro has
    fewer tokens than the micro.
    """
    beginning = _beginning_of(text)
    rooms = _rooms(tokenizer.count(beginning))
    if not rooms:
        return {}
    parts = _TextParts.of(beginning, tokenizer)
    levels = {level: _Derivation(parts, level, room, tokenizer).derived() for level, room in rooms.items()}
    if not tokenizer.count(levels["macro"]) < tokenizer.count(levels["micro"]):
        del levels["macro"]
    return {level: derived for level, derived in levels.items() if derived}


def level_rooms(text: str, tokenizer: Tokenizer) -> dict[ShorterLevel, int]:
    """Return the most tokens of each shorter level of the text; {} for a text that has none."""
    return _rooms(tokenizer.count(_beginning_of(text)))


def _rooms(tokens: int) -> dict[ShorterLevel, int]:
    if tokens < MIN_SHORTENED_TOKENS:
        return {}
    return {"macro": min(MAX_MACRO_TOKENS, tokens // MACRO_DIVISOR), "micro": tokens // SHORTENED_DIVISOR}


def _beginning_of(text: str) -> str:
    """Return the part of a text from which its levels are derived, without white space at its end."""
    if len(text) <= MAX_CHARACTERS:
        return text.rstrip()
    beginning = text[:MAX_CHARACTERS]
    return (beginning[: beginning.rfind("\n") + 1] or beginning).rstrip()


@dataclass(frozen=True, slots=True)
class _Outline:
    """An outline says where the headings of a text begin, and where its fenced code is."""

    headings: frozenset[int]
    code: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str) -> "_Outline":
        spans = list(outline_of(text))
        code = [(span.start, span.end) for span in spans if not span.is_heading]
        return cls(frozenset(span.start for span in spans if span.is_heading), code)

    def is_code(self, position: int) -> bool:
        """Return whether the position is within fenced code."""
        place = bisect_right(self.code, position, key=lambda span: span[0]) - 1
        return place >= 0 and position < self.code[place][1]


@dataclass(frozen=True, slots=True)
class _TextParts:
    """All levels of a text are derived from its parts: its lead, its sentences after the lead, and its terms."""

    text: str
    lead: Sentence | None
    """What each level begins with: the speaker or the title."""
    has_title: bool
    sentences: Sequence[Sentence]
    outline: _Outline
    terms: Sequence[str]
    positions: Sequence[int]
    """Where the terms begin, in order."""
    weights: Mapping[str, float]

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> "_TextParts":
        outline = _Outline.of(text)
        speaker = _LABEL.match(text)
        lead = Sentence(speaker.start(1), speaker.end(1)) if speaker else title_of(text, tokenizer)
        sentences = list(_joined_lines(text, lead.end if lead else 0, outline))
        found = list(_TERM.finditer(text))
        terms = [one[0].casefold() for one in found]
        has_title = lead is not None and not speaker
        positions = [one.start() for one in found]
        return cls(text, lead, has_title, sentences, outline, terms, positions, _term_weights(text, found, terms))

    def terms_within(self, piece: Sentence) -> frozenset[str]:
        """Return the telling terms of a piece of the text."""
        first, last = bisect_left(self.positions, piece.start), bisect_left(self.positions, piece.end)
        return frozenset(self.terms[first:last]) & self.weights.keys()


@dataclass(frozen=True, slots=True)
class _Derivation:
    """A derivation makes one level of a text, in at most `room` tokens."""

    parts: _TextParts
    level: ShorterLevel
    room: int
    tokenizer: Tokenizer

    def derived(self) -> str:
        """Return the level; "" where nothing fits."""
        lead, pieces = self.parts.lead, list(self._pieces())
        room = self.room - (self.tokenizer.count(self.parts.text[lead.start : lead.end]) if lead else 0)
        chosen = self._chosen(pieces, room)
        while chosen or self.parts.has_title:
            level = self._joined(pieces, sorted(chosen))
            if self.tokenizer.count(level) <= self.room:
                return level
            if not chosen:
                break
            chosen.pop()
        return ""

    def _pieces(self) -> Iterator[_Piece]:
        """Yield the pieces after the lead, in order."""
        text, outline = self.parts.text, self.parts.outline
        clauses = [clause for one in self.parts.sentences for clause in _clauses(text, one, LONG_PIECE[self.level])]
        end = self.parts.lead.end if self.parts.lead else 0
        for place, piece in enumerate(_grouped(clauses)):
            piece_text = text[piece.start : piece.end]
            factor = 1 + EARLY_WEIGHT * math.pow(0.5, place / EARLY_PIECES)
            if piece.start in outline.headings or _DEFINITION.match(piece_text):
                factor *= HEADING_FACTOR[self.level]
            if outline.is_code(piece.start):
                factor *= CODE_FACTOR
            # A piece that cannot fit need not be counted.
            mark = LINE_GAP if "\n" in text[end : piece.start] else GAP
            is_too_long = len(piece_text) > 8 * self.room + 8
            tokens = len(piece_text) if is_too_long else self.tokenizer.count(mark + piece_text)
            end = piece.end
            yield _Piece(piece.start, piece.end, self.parts.terms_within(piece), tokens, factor)

    def _chosen(self, pieces: Sequence[_Piece], room: int) -> list[int]:
        """Return the places of the pieces with most telling words for their tokens, the best first.

        A word counts once, so what is said already is not chosen again. Of equal pieces, the earlier one is chosen.
        """
        covered: set[str] = set()

        def gain(place: int) -> float:
            piece = pieces[place]
            fresh = math.fsum(map(self.parts.weights.__getitem__, piece.terms - covered))
            return piece.factor * fresh / math.pow(max(1, piece.tokens), COST_POWER)

        queue = [(-gain(place), place) for place, piece in enumerate(pieces) if piece.tokens <= room]
        heapify(queue)
        least = -queue[0][0] * LEAST_SHARE if queue else 0.0
        chosen: list[int] = []
        while queue:
            _, place = heappop(queue)
            if pieces[place].tokens > room:
                continue
            # Gains only fall while words are covered, so a piece that is still ahead of all others is the best one.
            now = gain(place)
            if queue and -now > queue[0][0]:
                heappush(queue, (-now, place))
                continue
            if now <= least:
                break
            chosen.append(place)
            covered |= pieces[place].terms
            room -= pieces[place].tokens
        return chosen

    def _joined(self, pieces: Sequence[_Piece], places: Sequence[int]) -> str:
        """Return the lead and the pieces at these places as one text: neighbours as in the original, others with gaps
        between them.
        """
        text, lead = self.parts.text, self.parts.lead
        joined, before, end = ("", -1, None) if lead is None else (text[lead.start : lead.end], -1, lead.end)
        for place in places:
            piece = pieces[place]
            if end is not None:
                between = text[end : piece.start]
                joined += between if place == before + 1 else _gap(between)
            joined += text[piece.start : piece.end]
            before, end = place, piece.end
        return joined


def _gap(between: str) -> str:
    """Return the mark for an omitted part of a text: with the line break and the indentation at its end, if any."""
    if "\n" not in between:
        return GAP
    space = between[len(between.rstrip()) :]
    return LINE_GAP + space[space.rfind("\n") + 1 :] if "\n" in space else LINE_GAP


def _joined_lines(text: str, start: int, outline: _Outline) -> Iterator[Sentence]:
    """Yield the sentences from that position on; those that are wrapped to several lines are one, and so are the number
    or bullet of an entry of a list and its text.
    """
    last: Sentence | None = None
    for found in sentences_of(text[start:]):
        sentence = Sentence(found.start + start, found.end + start)
        if last and not outline.is_code(last.start) and _goes_on(text, last, sentence):
            last = Sentence(last.start, sentence.end)
            continue
        if last:
            yield last
        last = sentence
    if last:
        yield last


def _goes_on(text: str, last: Sentence, following: Sentence) -> bool:
    between = text[last.end : following.start]
    near = max(0, last.end - _NEAR)
    line = text[max(near, text.rfind("\n", near, last.end) + 1) : last.end]
    is_german_date = _DAY.search(line) and _GERMAN_MONTH.match(text, following.start)
    if _LIST_MARK.match(line.strip()) or is_german_date:
        return "\n" not in between
    is_wrapped = between.count("\n") == 1 and len(line) >= WRAPPED_LINE and text[following.start].isalpha()
    return is_wrapped and (text[last.end - 1].isalpha() or text[last.end - 1] == ",") and not between.endswith(" ")


def _clauses(text: str, sentence: Sentence, most: int) -> Iterator[Sentence]:
    """Yield the sentence, or its clauses if it has more than that many characters."""
    start = sentence.start
    if sentence.end - start > most:
        for between in _CLAUSE.finditer(text, start, sentence.end):
            if between.start() - start >= MIN_CLAUSE and sentence.end - between.end() >= MIN_CLAUSE:
                yield Sentence(start, between.start())
                start = between.end()
    yield Sentence(start, sentence.end)


def _grouped(pieces: Sequence[Sentence]) -> list[Sentence]:
    """Return at most MAX_PIECES pieces: of more, neighbours are joined."""
    size = max(1, -(-len(pieces) // MAX_PIECES))
    groups = (pieces[first : first + size] for first in range(0, len(pieces), size))
    return [Sentence(group[0].start, group[-1].end) for group in groups]


def _term_weights(text: str, found: Sequence[re.Match[str]], terms: Sequence[str]) -> dict[str, float]:
    """Return the weight of each term that may be telling; `found` says where each of the terms stands."""
    frequencies, weights = Counter(terms), dict[str, float]()
    for term, one in zip(terms, found, strict=True):
        if weight := _weight(text, one):
            weights[term] = max(weight, weights.get(term, 0.0))
    return {term: weight * (1 + REPETITION_WEIGHT * math.log(frequencies[term])) for term, weight in weights.items()}


def _weight(text: str, found: re.Match[str]) -> float:
    """Return the weight of a word or number where it stands; 0 for a short word, which is mostly one of grammar."""
    word = found[0]
    if word[0].isdigit():
        return NUMBER_WEIGHT
    has_capital_inside = any(map(str.isupper, word[1:]))
    is_whole_word = not word[0].islower() and not word[0].isupper()  # of a script without capitals
    if len(word) < _MIN_LETTERS and not has_capital_inside and not (is_whole_word and len(word) > 1):
        return 0.0
    most = FULL_WEIGHT_CHARACTERS if not is_whole_word else _MIN_LETTERS
    weight = min(1.0, (len(word) - 1) / (most - 1))
    is_name = word[0].isupper() and not _SENTENCE_START.search(text, max(0, found.start() - 3), found.start())
    return weight * NAME_FACTOR if is_name or has_capital_inside else weight
