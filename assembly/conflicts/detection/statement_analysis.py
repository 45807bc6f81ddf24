"""The analysis of a sentence finds its subject, values, negations, states and words of change."""

import re
from collections.abc import Iterator
from dataclasses import replace

from assembly.conflicts.detection.caches import cached_texts
from assembly.conflicts.detection.date_values import dates_in
from assembly.conflicts.detection.lexicon import Language, Lexicon, load_lexicon, stem
from assembly.conflicts.detection.negations import CLAUSE_BREAKS, NEGATION_SCOPE, negations_in
from assembly.conflicts.detection.quantities import COUNT, TIMES, Bound, Quantity, quantities_in
from assembly.conflicts.detection.statement import Pole, Statement
from assembly.conflicts.detection.tokens import MAX_STEMMED, Tagged, Token, tagged_phrases, tokens_in, without_reports
from assembly.conflicts.detection.typed_values import typed_values

MAX_CHARACTERS = 600
"""The most characters of a statement that are analysed; longer sentences are lists or code."""
MAX_CACHE_BYTES = 8_000_000
STATEMENT_BYTES, BYTES_PER_CHARACTER = 3_000, 60
"""Approximate bytes of memory of an analysed statement: in all, and for each character."""
NOUN_DISTANCE = 3
"""The most words between a number and the word that it counts."""
BOUND_DISTANCE = 7
"""The most words between a number and the word before it that makes it a bound."""
MAX_LABEL_WORDS = 7
"""The most words before a colon that name the property whose value follows."""

COPULA_GROUP = 0
"""The first group of single-valued properties, the forms of be."""
BOUND_LISTS: tuple[tuple[str, Bound], ...] = (
    ("lower_bounds", "lower"),
    ("upper_bounds", "upper"),
    ("approximate", "approximate"),
)

_OPPOSITE_BOUNDS: dict[Bound, Bound] = {"lower": "upper", "upper": "lower"}
_OF_OWNER = re.compile(r"\w(?:['’]s|s['’]) \w| (?:of|von|des|der) \w")  # noqa: RUF001
_DETERMINERS = frozenset((
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "der", "die",
    "das", "den", "dem", "ein", "eine",
))  # fmt: skip
_PREPOSITIONS = frozenset((
    "of", "in", "on", "at", "for", "with", "by", "from", "to", "without", "per", "and", "or", "von", "im", "am", "bei",
    "für", "mit", "zum", "zur", "und", "oder",
))  # fmt: skip
_PERMITTING = frozenset(("may", "can", "darf", "dürfen", "kann", "können"))
_CONDITIONS = frozenset((
    "if", "unless", "when", "whenever", "once", "without", "wenn", "falls", "sofern", "sobald", "ohne", "si", "cuando",
    "sin",
))  # fmt: skip
_ONLY = ("only", "nur")
_DEFINITE = ("the", "our", "their", "der", "die", "das")
_PRONOUNS = ("it", "they", "he", "she", "this", "that", "these", "er", "sie", "es")
_NOT_PAST = ("need", "feed", "exceed")


def _statement_bytes(text: str, _: Language) -> int:
    return STATEMENT_BYTES + BYTES_PER_CHARACTER * len(text)


@cached_texts(MAX_CACHE_BYTES, _statement_bytes)
def analyse(text: str, language: Language) -> Statement:
    """Return the analysed statement."""
    return _Analysis(text[:MAX_CHARACTERS], text, load_lexicon(language)).statement()


class _Analysis:
    """The analysis of one statement, step by step."""

    def __init__(self, text: str, whole: str, lexicon: Lexicon) -> None:
        self.text, self.whole, self.lexicon = text, whole, lexicon
        self.dates = dates_in(text)
        self.quantities = quantities_in(text, [(date.start, date.end) for date in self.dates], lexicon)
        self.taken = [(date.start, date.end) for date in self.dates]
        self.taken += [(quantity.start, quantity.end) for quantity in self.quantities]
        self.tokens, self.report_end = without_reports(tokens_in(text, self.taken, lexicon), text, lexicon)
        self.tags = list(tagged_phrases(self.tokens, lexicon))
        self.tags_by_list: dict[str, list[Tagged]] = {}
        for tag in self.tags:
            self.tags_by_list.setdefault(tag.list, []).append(tag)
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
        negations = negations_in(self.text, self.tokens, self.tags_by_list)
        kinds = {tag.list for tag in self.tags}
        return Statement(
            text=self.whole,
            language=self.lexicon.language,
            words=frozenset(words),
            subject=frozenset(subject),
            names=frozenset(names),
            labels={
                label.rpartition(" ")[0]: label for label, start in labels.items() if start < boundary or boundary == 0
            },
            sequence=tuple(token.key for token in content),
            quantities=tuple(quantities),
            dates=tuple(self.dates),
            is_negated=negations.is_odd,
            negated=frozenset(negations.scope),
            denied_words=frozenset(negations.words),
            has_negative_state="negative_states" in kinds,
            negations=tuple(negations.said),
            denials={tag.group: self._spelling(tag) for tag in self._tagged("denials")},
            poles=self._poles("opposites"),
            exclusive=self._poles("exclusive"),
            events=self._poles("events"),
            markers=frozenset(tag.group for tag in self._tagged("markers")),
            contrasts=self._poles("contrasts"),
            excepted=frozenset(negations.excepted),
            is_limited="limited" in kinds,
            is_obliging="obliging" in kinds,
            is_question=self.text.rstrip().endswith("?"),
            light=frozenset(words & self.lexicon.light),
            roles=frozenset(words & self.lexicon.roles),
            is_universal="universals" in kinds,
            gratis=next((self._spelling(tag) for tag in self._tagged("gratis")), ""),
            gratis_words=frozenset(self.tokens[place].key for tag in self._tagged("gratis") for place in tag.places),
            unlimited=next((self._spelling(tag) for tag in self._tagged("unlimited")), ""),
            subject_end=0 if self.is_labelled else boundary,
            verb_words=frozenset(
                token.word for token in self.tokens if token.word in self.lexicon.auxiliaries or self._is_verb(token)
            ),
            is_conditional=not _CONDITIONS.isdisjoint(token.word for token in self.tokens),
            is_exclusive="exclusively" in kinds,
            typed=typed_values(self.text, self.tokens, self.tags, boundary, self.lexicon),
            is_limited_to_subject=bool(self.tokens) and self.tokens[0].word in _ONLY,
            verb=self._verb_key(),
            verbs=frozenset(token.key for token in content if self._is_verb(token)),
            has_change="changes" in kinds,
            may_have_change="weak_changes" in kinds,
            is_past="past" in kinds or self._has_past_verb(),
            is_single_valued="single_valued" in kinds or self.is_labelled,
            is_named_property=self._names_property(),
            is_of_owner=bool(_OF_OWNER.search(self.text[:boundary])),
            is_multi_valued=self._has_multi_valued_verb(),
            has_exception=negations.has_exception,
            has_predicate=self.verb is not None or self.is_labelled,
            has_pronoun=bool(self.tokens) and self.tokens[0].word in _PRONOUNS,
            leads=self._leads(),
            spelled={token.key: token.word for token in reversed(content)},
        )

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
            is_verb = is_auxiliary or self._is_verb(token)
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

    def _is_verb(self, token: Token) -> bool:
        return stem(token.word[:MAX_STEMMED], self.lexicon.language) in self.lexicon.verbs

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
            after[0].word in _DEFINITE or bool(re.match(r"\w+ \w+['’]s ", rest))  # noqa: RUF001
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
            if quantity.dimension == TIMES and quantity.period is None and " " not in quantity.text:
                # “Repeated twice” says how something was done; “twice a day” is a number.
                continue
            if quantity.dimension == TIMES and quantity.period is None:
                # “Retries 5 times” counts what the words before it say.
                quantities.append(replace(quantity, dimension=COUNT, around=around, bound=self._bound(quantity)))
                continue
            if quantity.dimension != COUNT:
                quantities.append(replace(quantity, bound=self._bound(quantity)))
                continue
            before, after = self._neighbours(quantity)
            is_digit = quantity.text[0].isdigit()
            touches = (
                before is not None and self.text[before.start : quantity.start].strip().isalpha() and before.is_content
            )
            follows = after[0] if after else None
            # “Chapter four stands at 8:50”: a word before the verb is a label as a digit is.
            is_word = quantity.text.isalpha() and follows is not None and follows.start == boundary
            counts_next = follows is not None and follows.is_content and self._is_adjacent(quantity, follows)
            # Without a verb the last number is the value: “ward 4 closed”, but “gate code 4471”.
            is_last = not self.text[quantity.end :].strip(" .!?)")
            is_subject = quantity.start < boundary or (boundary == 0 and not is_last)
            # “Seats 40 people” has a verb; the number after it counts.
            is_verb = before is not None and before.word.endswith(("s", "ed")) and not before.is_name and counts_next
            is_version = "." in quantity.text and self._bound(quantity) in ("lower", "upper")
            # German nouns have a capital: “Raum 3” is a label, “fasst 30” is not.
            is_verb = is_verb or (
                before is not None and self.lexicon.language == "german" and self.text[before.start].islower()
            )
            if before and is_word and touches:
                labels[f"{before.key} {quantity.low:g}"] = quantity.start
                continue
            if before and is_digit and touches and is_subject and not is_verb and not is_version:
                labels[f"{before.key} {quantity.text}"] = quantity.start
                continue
            nouns = frozenset(token.key for token in after if token.is_content) if counts_next else frozenset()
            if is_version:
                # Versions are counted by what has them: “Python 3.9 is the minimum”, “at least Python 3.11”.
                nouns = frozenset((before.key,)) if before and touches else frozenset()
            quantities.append(replace(quantity, nouns=nouns, around=around, bound=self._bound(quantity)))
        return quantities, labels

    def _is_adjacent(self, quantity: Quantity, token: Token) -> bool:
        return not CLAUSE_BREAKS & set(self.text[quantity.end : token.start])

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
            (tag.size, bound)
            for name, bound in BOUND_LISTS
            for tag in self._tagged(name)
            if self.tokens[tag.position].start in near
        ]
        # “No more than” contains “more than”: the longest phrase counts.
        if found:
            bound = max(found, key=lambda one: one[0])[1]
            return _OPPOSITE_BOUNDS[bound] if bound != "approximate" and self._is_denied_bound(quantity) else bound
        auxiliaries = {token.word for token in self.tokens if token.start in near}
        return "exact" if auxiliaries.isdisjoint(_PERMITTING) else "permitted"

    def _is_denied_bound(self, quantity: Quantity) -> bool:
        """Return whether a negation stands before the words that make the number a bound: “nobody under 14”."""
        positions = [tag.places for name, _ in BOUND_LISTS[:2] for tag in self._tagged(name)]
        positions = [places for places in positions if self.tokens[places.start].start < quantity.start]
        if not positions:
            return False
        nearest = max(positions, key=lambda places: places.start)
        inside = {place for places in positions for place in places}
        return any(
            tag.position < nearest.start
            and tag.position not in inside
            and nearest.start - tag.position <= NEGATION_SCOPE
            and not CLAUSE_BREAKS & set(self.text[self.tokens[tag.position].start : quantity.start])
            for tag in self._tagged("negations")
        )

    def _tagged(self, *names: str) -> Iterator[Tagged]:
        return (tag for name in names for tag in self.tags_by_list.get(name, ()))

    def _spelling(self, tag: Tagged) -> str:
        return " ".join(self.tokens[place].word for place in tag.places)

    def _poles(self, name: str) -> dict[int, Pole]:
        """Return the pole of each pair or group of which the statement has exactly one."""
        found: dict[int, dict[int, Pole]] = {}
        for tag in self._tagged(name):
            is_subject = self.tokens[tag.position].start < self.boundary
            pole = Pole(tag.pole, self._spelling(tag), is_subject)
            found.setdefault(tag.group, {}).setdefault(tag.pole, pole)
        return {group: next(iter(poles.values())) for group, poles in found.items() if len(poles) == 1}

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

    def _names_property(self) -> bool:
        return self.is_labelled or any(tag.group > COPULA_GROUP for tag in self._tagged("single_valued"))

    def _has_multi_valued_verb(self) -> bool:
        """Return whether the verb, or the one after an auxiliary, is of a property with several values."""
        if self.verb is None:
            return False
        near = {self.verb, self.verb + 1} if self.tokens[self.verb].word in self.lexicon.auxiliaries else {self.verb}
        return any(tag.position in near for tag in self._tagged("multi_valued"))

    def _has_past_verb(self) -> bool:
        """Return whether the first verb has the form of the past; participles after “is” are not it."""
        if self.verb is None or self.lexicon.language != "english":
            return False
        word = self.tokens[self.verb].word
        return word.endswith("ed") and word not in _NOT_PAST
