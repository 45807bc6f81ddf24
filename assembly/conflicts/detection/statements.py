"""A statement is a sentence, analysed for the comparison with others: its words, values, negations and states."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from assembly.conflicts.detection.dates import DateValue, dates_in
from assembly.conflicts.detection.lexicon import Language, Lexicon, Phrase, Tag, load_lexicon, stem
from assembly.conflicts.detection.quantities import COUNT, TIMES, Bound, Quantity, quantities_in

MAX_CHARACTERS = 600
"""The most characters of a statement that are analysed; longer sentences are lists or code."""
CACHED_STATEMENTS = 4_096
"""One new text is compared with many others, and each of them with many over a day."""
NEGATION_SCOPE = 6
"""The most words after a negation that it denies."""
NOUN_DISTANCE = 3
"""The most words between a number and the word that it counts."""
BOUND_DISTANCE = 7
"""The most words between a number and the word before it that makes it a bound."""
MAX_LABEL_WORDS = 7
"""The most words before a colon that name the property whose value follows."""

MAX_REPORT_WORDS = 5
"""The most words of a report after a statement: “…, as Ana said”."""

COPULA_GROUP = 0
"""The first group of single-valued properties, the forms of be."""
BOUND_LISTS: tuple[tuple[str, Bound], ...] = (
    ("lower_bounds", "lower"),
    ("upper_bounds", "upper"),
    ("approximate", "approximate"),
)

_TOKEN = re.compile(r"[^\W_]+(?:[._/@#:+&-]+[^\W_]+|_+[^\W_]*)*(?:['’][^\W\d_]+)?|#\d+|/[\w/.-]+")  # noqa: RUF001
_IDENTIFIER = re.compile(r"[\d_/@#]|\w\.\w|[a-z][A-Z]|^[A-Z]{2,}")
_CONTRACTION = re.compile(r"(?<=n)['’]t$")  # noqa: RUF001
_POSSESSIVE = re.compile(r"['’](?:s|re|ve|ll|m|d)?$")  # noqa: RUF001
_CONTRACTIONS = frozenset(
    "don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn can needn".split()
)
_OF_OWNER = re.compile(r"\w(?:['’]s|s['’]) \w| (?:of|von|des|der) \w")  # noqa: RUF001
_DETERMINERS = frozenset("the a an this that these those my your his her its our their der die das den dem ein eine".split())
_PREPOSITIONS = frozenset("of in on at for with by from to without per and or von im am bei für mit zum zur und oder".split())
_CLAUSE_BREAKS = frozenset(",;:()")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a statement."""

    word: str
    """In lower case, without a possessive s."""
    key: str
    """The stem of the word, or of the synonym that stands for it."""
    start: int
    is_content: bool
    is_name: bool
    """True for words with a capital inside a sentence, and for identifiers such as OPS-771 or config.yaml."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An analysed sentence. Words are given by their keys."""

    text: str
    words: frozenset[str]
    """All words with a meaning of their own, without those of numbers and dates."""
    subject: frozenset[str]
    """The words before the verb or colon; empty where none was found."""
    names: frozenset[str]
    sequence: tuple[str, ...]
    """The words in their order."""
    quantities: tuple[Quantity, ...]
    dates: tuple[DateValue, ...]
    is_negated: bool
    negated: frozenset[str]
    """The words in the scope of a negation."""
    negations: tuple[str, ...]
    """The negations as they were written."""
    denials: Mapping[int, str]
    """By their groups, the words which deny by themselves, such as “forbidden”."""
    poles: Mapping[int, tuple[int, str, bool]]
    """By their pairs, the opposite states: the pole, the word, and whether it belongs to the subject."""
    exclusive: Mapping[int, tuple[int, str, bool]]
    """By their groups, the values of which a subject has one: the value's number, its word, whether in the subject."""
    verb: str
    """The verb after the subject; empty for forms of be, have and do, and where none was found."""
    has_change: bool
    """Whether the statement says that something has changed."""
    may_have_change: bool
    """Whether it has a word that often goes with a change, such as “until” or “new”."""
    is_past: bool
    is_single_valued: bool
    """Whether the statement is about a property that has one value."""
    is_named_property: bool
    """Whether a word names that property, such as “default” or “lives”; forms of be alone do not."""
    is_of_owner: bool
    """Whether the subject is a property of something: “the shell of the user”, “the user's shell”."""
    is_multi_valued: bool
    has_exception: bool
    is_labelled: bool
    """Whether the subject ends with a colon, as in “Deadline: 5 May”."""
    has_pronoun: bool
    """Whether the subject is a pronoun."""
    leads: Mapping[str, str]
    """By words, the word before them if it has no meaning of its own, such as “in” or “a”."""
    spelled: Mapping[str, str]
    """The words as they were written, by their keys."""


@lru_cache(CACHED_STATEMENTS)
def analyse(text: str, language: Language) -> Statement:
    """Return the analysed statement."""
    return _Analysis(text[:MAX_CHARACTERS], text, load_lexicon(language)).statement()


class _Analysis:
    """The analysis of one statement, step by step."""

    def __init__(self, text: str, whole: str, lexicon: Lexicon) -> None:
        self.text, self.whole, self.lexicon = text, whole, lexicon
        self.dates = dates_in(text)
        self.quantities = quantities_in(text, [(date.start, date.end) for date in self.dates], lexicon)
        self.taken = [(one.start, one.end) for one in (*self.dates, *self.quantities)]
        self.tokens = list(self._tokens())
        self._leave_out_reports()
        self.tags = list(_tags(self.tokens, lexicon))
        self.verb, self.boundary, self.is_labelled = self._verb_position()

    def statement(self) -> Statement:
        quantities, labels = self._read_counts()
        content = [token for token in self.tokens if token.is_content]
        boundary = self.boundary
        subject = {token.key for token in content if token.start < boundary} | {
            key for key, start in labels.items() if start < boundary
        }
        names = {token.key for token in content if token.is_name} | set(labels)
        words = {token.key for token in content} | set(labels)
        subject = self._definite_side(subject, words)
        negations, negated, is_negated, has_exception = self._negations()
        kinds = {tag[0] for _, _, tag in self.tags}
        return Statement(
            text=self.whole,
            words=frozenset(words),
            subject=frozenset(subject),
            names=frozenset(names),
            sequence=tuple(token.key for token in content),
            quantities=tuple(quantities),
            dates=tuple(self.dates),
            is_negated=is_negated,
            negated=frozenset(negated),
            negations=tuple(negations),
            denials={tag[1]: self._spelling(position, size) for position, size, tag in self._tagged("denials")},
            poles=self._poles("opposites", boundary),
            exclusive=self._poles("exclusive", boundary),
            verb=self._verb_key(),
            has_change="changes" in kinds,
            may_have_change="weak_changes" in kinds,
            is_past="past" in kinds or self._has_past_verb(),
            is_single_valued="single_valued" in kinds or self.is_labelled,
            is_named_property=self.is_labelled or any(tag[1] > COPULA_GROUP for _, _, tag in self._tagged("single_valued")),
            is_of_owner=bool(_OF_OWNER.search(self.text[:boundary])),
            is_multi_valued=self._has_multi_valued_verb(),
            has_exception=has_exception,
            is_labelled=self.is_labelled,
            has_pronoun=bool(self.tokens) and self.tokens[0].word in ("it", "they", "he", "she", "this", "that", "these"),
            leads=self._leads(),
            spelled={token.key: token.word for token in reversed(content)},
        )

    def _tokens(self) -> Iterator[Token]:
        is_german = self.lexicon.language == "german"
        for match in _TOKEN.finditer(self.text):
            start = match.start()
            if any(first <= start < end for first, end in self.taken):
                continue
            said = match[0]
            if _IDENTIFIER.search(said):
                said = _POSSESSIVE.sub("", said)
                yield Token(said.lower(), said.lower(), start, is_content=True, is_name=True)
                continue
            # Hyphens and slashes join words that are compared one by one: read-only, on/off.
            for part in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)?", said):  # noqa: RUF001
                yield from self._word_tokens(part[0], start + part.start(), is_german=is_german)

    def _word_tokens(self, said: str, start: int, *, is_german: bool) -> Iterator[Token]:
        word = said.lower()
        if _CONTRACTION.search(word) and _CONTRACTION.sub("", word) in _CONTRACTIONS:
            base = _CONTRACTION.sub("", word)
            yield Token(base, base, start, is_content=False, is_name=False)
            yield Token("not", "not", start + len(base), is_content=False, is_name=False)
            return
        if word == "cannot":
            yield Token("can", "can", start, is_content=False, is_name=False)
            yield Token("not", "not", start + 3, is_content=False, is_name=False)
            return
        word = _POSSESSIVE.sub("", word)
        is_first = not self.text[:start].strip() or self.text[:start].rstrip()[-1] in ".!?:;"
        is_content = word not in self.lexicon.stop_words and word not in self.lexicon.auxiliaries and len(word) > 1
        is_single_letter = len(word) == 1 and said.isupper() and said not in ("A", "I")
        is_name = said[0].isupper() and not is_first and not is_german and is_content
        key = self.lexicon.canonical(word)
        yield Token(word, key, start, is_content=is_content or is_single_letter, is_name=is_name or is_single_letter)

    def _leave_out_reports(self) -> None:
        """Take the meaning from the words of a report around the statement, except names: “Ana said that …”."""
        start, end = 0, len(self.text)
        for index, token in enumerate(self.tokens):
            before = self.tokens[max(0, index - 5) : index]
            if token.word in ("that", "dass") and any(self._is_report(one) for one in before):
                start = token.start
                break
        colon = re.search(r"(?<=\w): (?=\S)", self.text)
        if colon and any(token.start < colon.start() and token.word in self.lexicon.lead_ins for token in self.tokens):
            start = max(start, colon.end())
        comma = self.text.rfind(", ")
        last = [token for token in self.tokens if 0 < comma < token.start]
        if 0 < len(last) <= MAX_REPORT_WORDS and any(self._is_report(one) for one in last):
            end = comma
        self.report_end = start
        self.tokens = [
            token if start <= token.start < end or token.is_name else replace(token, is_content=False)
            for token in self.tokens
        ]

    def _is_report(self, token: Token) -> bool:
        return stem(token.word, self.lexicon.language) in self.lexicon.reports

    def _verb_position(self) -> tuple[int | None, int, bool]:
        """Return the index of the verb, the character at which the subject ends (0 if unknown), and if by a colon."""
        lexicon = self.lexicon
        colon = re.search(r"(?<=\w): (?=\S)|(?<=\w) (?:=|->|→) ", self.text)
        if colon and colon.start() < self.report_end:
            colon = None
        before = "" if colon is None else self.text[: colon.start()]
        for index, token in enumerate(self.tokens):
            if colon and token.start > colon.start():
                break
            if token.start < self.report_end:
                continue
            is_auxiliary = token.word in lexicon.auxiliaries
            is_verb = is_auxiliary or stem(token.word, lexicon.language) in lexicon.verbs
            previous = self.tokens[index - 1].word if index else ""
            if not is_verb or previous in _DETERMINERS or (previous in _PREPOSITIONS and not is_auxiliary):
                continue
            if index == 0 and self._has_later_verb():
                continue
            if colon and not is_auxiliary:
                continue
            return index, token.start, False
        if colon and len(before.split()) <= MAX_LABEL_WORDS:
            return None, colon.end(), True
        return None, 0, False

    def _has_later_verb(self) -> bool:
        return any(token.word in self.lexicon.auxiliaries for token in self.tokens[1:5])

    def _definite_side(self, subject: set[str], words: set[str]) -> set[str]:
        """Return the subject, or the other side of “is” if that describes a role: “Dana is the CEO of Larkspur”.

        The role has one holder, so the role is what both statements must share, and its holder is the value.
        """
        if self.verb is None or self.tokens[self.verb].word not in self.lexicon.copulas:
            return subject
        after = self.tokens[self.verb + 1 : self.verb + 3]
        rest = self.text[self.tokens[self.verb].start :]
        is_role = bool(after) and (
            after[0].word in ("the", "our", "their", "der", "die", "das") or bool(re.match(r"\w+ \w+['’]s ", rest))  # noqa: RUF001
        )
        first = self.tokens[0].word if self.tokens else ""
        if is_role and first not in _DETERMINERS and subject:
            return words - subject
        return subject

    def _read_counts(self) -> tuple[list[Quantity], dict[str, int]]:
        """Return the quantities with what they count and bound, and the labels, such as “ward 4”, with their starts."""
        quantities: list[Quantity] = []
        labels: dict[str, int] = {}
        boundary = self.boundary
        for quantity in self.quantities:
            around = frozenset(token.key for token in self.tokens if token.is_content and token.start < quantity.start)
            if quantity.dimension == TIMES and quantity.period is None:
                # “Retries 5 times” counts what the words before it say.
                quantities.append(replace(quantity, dimension=COUNT, around=around, bound=self._bound(quantity)))
                continue
            if quantity.dimension != COUNT:
                quantities.append(replace(quantity, bound=self._bound(quantity)))
                continue
            before, after = self._neighbours(quantity)
            is_digit = quantity.text[0].isdigit()
            touches = before is not None and self.text[before.start : quantity.start].strip().isalpha() and before.is_content
            follows = after[0] if after else None
            counts_next = follows is not None and follows.is_content and self._is_adjacent(quantity, follows)
            is_subject = quantity.start < boundary or boundary == 0
            if before and is_digit and touches and (is_subject or (before.is_name and not counts_next)):
                if is_subject or counts_next:
                    labels[f"{before.key} {quantity.text}"] = quantity.start
                    continue
            nouns = frozenset(token.key for token in after if token.is_content) if counts_next else frozenset()
            quantities.append(replace(quantity, nouns=nouns, around=around, bound=self._bound(quantity)))
        return quantities, labels

    def _is_adjacent(self, quantity: Quantity, token: Token) -> bool:
        return not _CLAUSE_BREAKS & set(self.text[quantity.end : token.start])

    def _neighbours(self, quantity: Quantity) -> tuple[Token | None, list[Token]]:
        """Return the token before the number, and those after it in the same clause, as far as it may count them."""
        before = [token for token in self.tokens if token.start < quantity.start]
        after = [token for token in self.tokens if token.start >= quantity.end]
        return before[-1] if before else None, [
            token for token in after[:NOUN_DISTANCE] if self._is_adjacent(quantity, token)
        ]

    def _bound(self, quantity: Quantity) -> Bound:
        """Return whether words near the number make it a bound."""
        before = [token.start for token in self.tokens if token.start < quantity.start][-BOUND_DISTANCE:]
        after = [token.start for token in self.tokens if token.start >= quantity.end][:3]
        near = {*before, *after}
        found: list[tuple[int, Bound]] = [
            (size, bound)
            for name, bound in BOUND_LISTS
            for position, size, _ in self._tagged(name)
            if self.tokens[position].start in near
        ]
        # “No more than” contains “more than”: the longest phrase counts.
        return max(found, key=lambda one: one[0])[1] if found else "exact"

    def _tagged(self, name: str) -> Iterator[tuple[int, int, Tag]]:
        return (found for found in self.tags if found[2][0] == name)

    def _spelling(self, position: int, size: int) -> str:
        return " ".join(token.word for token in self.tokens[position : position + size])

    def _negations(self) -> tuple[list[str], set[str], bool, bool]:
        """Return the negations outside exceptions, the words in their scope, if a clause is denied, and if one excepts.

        Two negations of one clause cancel each other out, those of different clauses do not.
        """
        excepted = {
            place for position, size, _ in self._tagged("exceptions") for place in range(position, position + size + 1)
        }
        # “No more than” is a bound.
        for name in ("lower_bounds", "upper_bounds"):
            excepted |= {place for position, size, _ in self._tagged(name) for place in range(position, position + size)}
        # “Costs nothing” is a state as a whole.
        excepted |= {
            place
            for position, size, _ in self._tagged("opposites")
            for place in range(position, position + size)
            if size > 1
        }
        said: list[str] = []
        scope: set[str] = set()
        has_exception = any(self._tagged("exceptions"))
        clauses: Counter[int] = Counter()
        for position, size, _ in self._tagged("negations"):
            before = self.text[: self.tokens[position].start]
            if position in excepted:
                continue
            if before.rstrip().endswith((",", " but", " and")):
                # “The blue one, not the red one” limits what was said and does not deny it.
                has_exception = True
                continue
            said.append(self._spelling(position, size))
            scope |= self._scope(position + size)
            clauses[sum(map(before.count, _CLAUSE_BREAKS))] += 1
        return said, scope, any(count % 2 for count in clauses.values()), has_exception

    def _scope(self, position: int) -> set[str]:
        scope: set[str] = set()
        for index in range(position, min(position + NEGATION_SCOPE, len(self.tokens))):
            between = self.text[self.tokens[index - 1].start : self.tokens[index].start]
            if index > position and _CLAUSE_BREAKS & set(between):
                break
            if self.tokens[index].is_content:
                scope.add(self.tokens[index].key)
        return scope

    def _poles(self, name: str, boundary: int) -> dict[int, tuple[int, str, bool]]:
        """Return the pole of each pair or group of which the statement has exactly one."""
        found: dict[int, dict[int, tuple[int, str, bool]]] = {}
        for position, size, (_, number, pole) in self._tagged(name):
            in_subject = self.tokens[position].start < boundary
            found.setdefault(number, {}).setdefault(pole, (pole, self._spelling(position, size), in_subject))
        return {number: next(iter(poles.values())) for number, poles in found.items() if len(poles) == 1}

    def _leads(self) -> dict[str, str]:
        pairs = zip([None, *self.tokens], self.tokens, strict=False)
        return {
            token.key: ("a" if before.word == "an" else before.word)
            for before, token in pairs
            if before and token.is_content and not before.is_content and before.word not in self.lexicon.auxiliaries
        }

    def _verb_key(self) -> str:
        verb = None if self.verb is None else self.tokens[self.verb]
        return verb.key if verb and verb.is_content else ""

    def _has_multi_valued_verb(self) -> bool:
        """Return whether the verb, or the one after an auxiliary, is of a property with several values."""
        if self.verb is None:
            return False
        near = {self.verb, self.verb + 1} if self.tokens[self.verb].word in self.lexicon.auxiliaries else {self.verb}
        return any(position in near for position, _, _ in self._tagged("multi_valued"))

    def _has_past_verb(self) -> bool:
        """Return whether the first verb has the form of the past; participles after “is” are not it."""
        if self.verb is None or self.lexicon.language != "english":
            return False
        word = self.tokens[self.verb].word
        return word.endswith("ed") and word not in ("need", "feed", "exceed")


def _tags(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[tuple[int, int, Tag]]:
    """Yield the phrases of the lexicon that the tokens contain: position, number of tokens, and tag.

    Of the phrases of one list that begin at a token, the longest is taken.
    """
    words = [token.word for token in tokens]
    stems = [stem(word, lexicon.language) for word in words]
    for position in range(len(tokens)):
        lists: set[tuple[str, int]] = set()
        for phrases, spelled in ((lexicon.phrases, words), (lexicon.stem_phrases, stems)):
            for phrase, tag in phrases.get(spelled[position], ()):
                if tag[:2] not in lists and _matches(phrase, spelled, position):
                    lists.add(tag[:2])
                    yield position, len(phrase), tag


def _matches(phrase: Phrase, words: Sequence[str], position: int) -> bool:
    return len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase
