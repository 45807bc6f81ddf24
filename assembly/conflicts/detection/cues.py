"""Cues tell in which way two statements contradict each other, and how far they are about the same thing.

A cue is typed: a number, a date, a negation, an opposite state, or another value of a property that has one value. Each
has a strength from 0 to 1. The words of the differing values are taken away; what remains on either side tells whether
both statements have one subject and one slot: the price and the weight of a bike are two slots, and the prices of two
bikes have two subjects.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rapidfuzz import fuzz

from assembly.conflicts.detection.dates import DateValue
from assembly.conflicts.detection.lexicon import load_lexicon
from assembly.conflicts.detection.quantities import Quantity
from assembly.conflicts.detection.statements import Statement

Kind = Literal["number", "date", "negation", "state", "property", "duplicate", ""]

Value = TypeVar("Value", Quantity, DateValue)

NUMBER_LEAST, NUMBER_SPAN = 0.3, 0.6
"""A number's strength is .3 for nearly equal ones up to .9, by the relative difference."""
DATE_LEAST, DATE_SPAN, DATE_DAYS = 0.3, 0.5, 60.0
"""A date's strength is .3 for neighbouring ones up to .8 for a distance of 60 days, by the logarithm of the distance."""
CLOCK_SPAN = 0.25
"""Times of day, and weekdays, count by their share of a quarter of the day, or of half a week."""
NEGATION_STRENGTH, STATE_STRENGTH = 0.9, 0.8
PROPERTY_STRENGTHS = {"single": 0.8, "exclusive": 0.8, "unknown": 0.5, "multi": 0.2}
NO_SCOPE = 0.6
"""The share of denied words in the other statement that is assumed for a negation without any, such as “nobody”."""
SPELLING_RATIO = 90.0
"""The ratio of rapidfuzz, 0 to 100, from which two words are spellings of one."""
LEAST_SPELLED = 5
"""The least letters of words that are compared by their spelling."""
LEAST_PREFIXED = 4
"""The least letters of a word that a prefix makes its opposite."""
MAX_VALUE_WORDS = 4
"""The most words of a value that another value replaces."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A cue: its kind, its strength 0 to 1, and both values as they were written."""

    kind: Kind
    strength: float
    left: str
    right: str

    @property
    def sentence(self) -> str:
        """The cue as a sentence for people."""
        if self.kind == "negation":
            side = "the left text" if self.left else "the right text"
            return f"“{self.left or self.right}” only in {side}" if not (self.left and self.right) else self._both()
        return self._both()

    def _both(self) -> str:
        return f"“{self.left}” against “{self.right}”"


@dataclass(frozen=True, slots=True)
class Cues:
    """How two statements differ, and what they share. Equal if left and right are swapped, except for the texts."""

    differences: tuple[Difference, ...]
    common: frozenset[str]
    left_rest: frozenset[str]
    """The words of the left statement alone, without those of differing values."""
    right_rest: frozenset[str]
    subject_share: float
    """The share, 0 to 1, of the words of a subject that are in the other statement, of the side with the smaller one."""
    has_other_name: bool
    """Whether each statement has a name of its own that is not a differing value."""
    has_other_subject: bool
    """Whether each subject has a word that the other statement does not have, or both opposites of a pair."""
    equal_values: int
    """The number of equal numbers and dates."""
    left_extra: int
    """The number of numbers and dates of the left statement that have no counterpart."""
    right_extra: int
    property_class: str
    """For a differing property: `single`, `exclusive`, `unknown` or `multi`, by how many values it can have; else ""."""
    is_finer: bool
    """Whether one statement gives an equal date or number more exactly, or makes an exception."""

    def strength(self, kind: Kind) -> float:
        """Return the largest strength of the cues of a kind; 0 if there is none."""
        return max((one.strength for one in self.differences if one.kind == kind), default=0.0)

    def strongest(self) -> Difference | None:
        """Return the cue with the largest strength, the first of equals; None without cues."""
        return max(self.differences, key=lambda one: one.strength, default=None)


def find_cues(left: Statement, right: Statement) -> Cues:
    """Return the cues of two statements."""
    common = _common_words(left, right)
    left_only, right_only = left.words - common, right.words - common
    differences: list[Difference] = []
    numbers, equal_numbers, number_extra, finer_numbers = _number_differences(left.quantities, right.quantities)
    dates, equal_dates, date_extra, finer_dates = _date_differences(left.dates, right.dates)
    differences += [*numbers, *dates]
    polarity, used, other_subject = _polarity_differences(left, right, common)
    differences += polarity
    left_rest, right_rest = left_only - used, right_only - used
    property_class = ""
    if not differences and (found := _property_difference(left, right, left_rest, right_rest, common)):
        property_class, difference = found
        differences.append(difference)
        left_rest, right_rest = frozenset(), frozenset()
    left_subject, right_subject = left.subject - common - used, right.subject - common - used
    is_other_subject = other_subject or bool(left_subject & left_rest and right_subject & right_rest)
    return Cues(
        differences=tuple(differences),
        common=frozenset(common),
        left_rest=frozenset(left_rest),
        right_rest=frozenset(right_rest),
        subject_share=min(_share(left.subject - used, common), _share(right.subject - used, common)),
        has_other_name=bool(left.names & left_rest and right.names & right_rest),
        has_other_subject=is_other_subject,
        equal_values=equal_numbers + equal_dates,
        left_extra=number_extra[0] + date_extra[0],
        right_extra=number_extra[1] + date_extra[1],
        property_class=property_class,
        is_finer=left.has_exception != right.has_exception or finer_numbers or finer_dates,
    )


def _share(words: frozenset[str], common: Iterable[str]) -> float:
    return len(words & set(common)) / len(words) if words else 1.0


def _common_words(left: Statement, right: Statement) -> set[str]:
    """Return the words that both have: equal, spelled nearly alike, or one an abbreviation of the other."""
    common = set(left.words & right.words)
    # Names that are spelled alike are two names: Austria and Australia.
    names = left.names | right.names
    others = right.words - common - names
    for word in left.words - common - names:
        matches = [other for other in others if _is_same_word(word, other)]
        if matches:
            common.update(matches, [word])
    return common


def _is_same_word(one: str, other: str) -> bool:
    if one[0] != other[0] or min(len(one), len(other)) < LEAST_SPELLED:
        return False
    return fuzz.ratio(one, other) >= SPELLING_RATIO


_Compared = tuple[list[Difference], int, tuple[int, int], bool]
"""Differing values, how many are equal, how many of each side have no counterpart, and if an equal one is more exact."""


def _number_differences(left: Sequence[Quantity], right: Sequence[Quantity]) -> _Compared:
    def difference(mine: Quantity, theirs: Quantity) -> float | None:
        return mine.difference(theirs) if mine.is_comparable(theirs) else None

    return _compare_values("number", left, right, difference, lambda _, relative: NUMBER_LEAST + NUMBER_SPAN * relative)


def _date_differences(left: Sequence[DateValue], right: Sequence[DateValue]) -> _Compared:
    return _compare_values("date", left, right, DateValue.distance, _date_strength)


def _compare_values(
    kind: Kind,
    left: Sequence[Value],
    right: Sequence[Value],
    difference: Callable[[Value, Value], float | None],
    strength: Callable[[Value, float], float],
) -> _Compared:
    """Return the values that differ from all comparable ones of the other side; a value that has an equal one agrees."""
    apart = [[difference(mine, theirs) for theirs in right] for mine in left]
    equal_left = {row for row, line in enumerate(apart) if 0 in line}
    equal_right = {column for column in range(len(right)) if any(line[column] == 0 for line in apart)}
    found: list[Difference] = []
    compared_left, compared_right = set(equal_left), set(equal_right)
    for row, line in enumerate(apart):
        for column, distance in enumerate(line):
            if distance and row not in equal_left and column not in equal_right:
                mine, theirs = left[row], right[column]
                found.append(Difference(kind, strength(mine, distance), mine.text, theirs.text))
                compared_left.add(row)
                compared_right.add(column)
    extra = len(left) - len(compared_left), len(right) - len(compared_right)
    is_finer = any(
        distance == 0 and left[row].precision != right[column].precision
        for row, line in enumerate(apart)
        for column, distance in enumerate(line)
    )
    return found, min(len(equal_left), len(equal_right)), extra, is_finer


def _date_strength(value: DateValue, days: float) -> float:
    """Return the strength for a distance in days; of weekdays and times of day by their share of the largest one."""
    if value.kind == "day":
        share = math.log1p(days) / math.log1p(DATE_DAYS)
    elif value.kind == "weekday":
        share = days / 3
    else:
        share = days / CLOCK_SPAN
    return DATE_LEAST + DATE_SPAN * min(1.0, share)


def _polarity_differences(
    left: Statement, right: Statement, common: Iterable[str]
) -> tuple[list[Difference], set[str], bool]:
    """Return a negation or opposite state, the words of both poles, and whether opposites tell two subjects apart.

    Two negations cancel each other out, and so do a negation and an opposite: what is not closed is open.
    """
    shared = set(common)
    flips: list[tuple[str, str]] = []
    used: set[str] = set()
    is_other_subject = False
    poles = [
        (left.poles[pair], right.poles[pair])
        for pair in left.poles.keys() & right.poles.keys()
        if left.poles[pair][0] != right.poles[pair][0]
    ]
    poles += _prefixed_opposites(left, right)
    for pair in left.poles.keys() & right.poles.keys():
        if left.poles[pair][0] == right.poles[pair][0]:
            used |= _keys(left, left.poles[pair][1]) | _keys(right, right.poles[pair][1])
    explained: set[str] = set()
    for (_, mine, in_left), (_, theirs, in_right) in poles:
        if in_left and in_right:
            is_other_subject = True
            continue
        flips.append((mine, theirs))
        used |= _keys(left, mine) | _keys(right, theirs)
        explained |= {mine, theirs}
    denials_left = [word for word in left.denials.values() if word not in explained]
    denials_right = [word for word in right.denials.values() if word not in explained]
    both = left.denials.keys() & right.denials.keys()
    if both:
        denials_left = denials_right = []
    is_left_denied = left.is_negated != (len(denials_left) % 2 == 1)
    is_right_denied = right.is_negated != (len(denials_right) % 2 == 1)
    for words, statement in ((denials_left, left), (denials_right, right)):
        for word in words:
            used |= _keys(statement, word)
    differs = is_left_denied != is_right_denied
    if flips:
        # Synonymous pairs may flip together, such as “open” with “public”; they are one opposition.
        if differs:
            return [], used, is_other_subject
        mine, theirs = sorted(flips)[0]
        return [Difference("state", STATE_STRENGTH, mine, theirs)], used, is_other_subject
    if differs:
        scope = left.negated if is_left_denied else right.negated
        said_left = ", ".join([*left.negations, *denials_left]) if is_left_denied else ""
        said_right = ", ".join([*right.negations, *denials_right]) if is_right_denied else ""
        reach = _share(frozenset(scope), shared) if scope else NO_SCOPE
        if not reach:
            # What is denied is a detail that the other statement does not mention.
            return [], used, is_other_subject
        strength = NEGATION_STRENGTH * (0.5 + 0.5 * reach)
        return [Difference("negation", strength, said_left, said_right)], used, is_other_subject
    return [], used, is_other_subject


def _keys(statement: Statement, words: str) -> set[str]:
    """Return the keys of the statement's words that were written so."""
    spelled = set(words.split())
    return {key for key, word in statement.spelled.items() if word in spelled}


def _prefixed_opposites(
    left: Statement, right: Statement
) -> list[tuple[tuple[int, str, bool], tuple[int, str, bool]]]:
    """Return pairs such as “stable” and “unstable”, which need no entry in the list of opposites."""
    prefixes = load_lexicon("english").opposite_prefixes
    found = []
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        for key, word in one.spelled.items():
            for prefix in prefixes:
                if len(word) >= LEAST_PREFIXED and (negative := prefix + word) in other.spelled.values():
                    pole = (0, word, key in one.subject)
                    opposite = (1, negative, bool(_keys(other, negative) & other.subject))
                    found.append((opposite, pole) if is_swapped else (pole, opposite))
    return found


def _property_difference(
    left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str], common: Iterable[str]
) -> tuple[str, Difference] | None:
    """Return the class of the property and the differing values, if each side has a value of its own after the verb."""
    if not common or not left_rest or not right_rest:
        return None
    if left_rest & left.subject or right_rest & right.subject:
        return None
    if not (_is_one_stretch(left.sequence, left_rest) and _is_one_stretch(right.sequence, right_rest)):
        return None
    if max(len(left_rest), len(right_rest)) > MAX_VALUE_WORDS or left.verb in left_rest or right.verb in right_rest:
        return None
    group = next(
        (
            number
            for number in left.exclusive.keys() & right.exclusive.keys()
            if left.exclusive[number][0] != right.exclusive[number][0]
        ),
        None,
    )
    if group is not None:
        kind = "exclusive"
    elif left.is_multi_valued or right.is_multi_valued:
        kind = "multi"
    else:
        kind = "single" if left.is_single_valued and right.is_single_valued else "unknown"
    if kind in ("single", "unknown"):
        if not _has_same_form(left, right, left_rest, right_rest):
            kind = "unknown" if kind == "single" else "multi"
        elif not (left.is_named_property or right.is_named_property) and kind == "single":
            kind = _copula_class(left, right, left_rest, right_rest)
    difference = Difference("property", PROPERTY_STRENGTHS[kind], _written(left, left_rest), _written(right, right_rest))
    return kind, difference


def _is_one_stretch(sequence: Sequence[str], words: frozenset[str]) -> bool:
    """Return whether these words follow each other, without others between them: one value, not two differences."""
    places = [place for place, key in enumerate(sequence) if key in words]
    return bool(places) and places[-1] - places[0] + 1 == len(places)


def _copula_class(left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]) -> str:
    """Return the class of what is said with forms of be alone: “is PostgreSQL”, “is a nurse”, “is tall”.

    A name is one value, a kind may be one of several, and adjectives that are no opposites can all be true.
    """
    if (left.names & left_rest) or (right.names & right_rest):
        return "single"
    firsts = [
        statement.leads.get(next((key for key in statement.sequence if key in rest), ""), "")
        for statement, rest in ((left, left_rest), (right, right_rest))
    ]
    return "unknown" if any(firsts) or (left.is_of_owner and right.is_of_owner) else "multi"


def _has_same_form(
    left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]
) -> bool:
    """Return whether both values are names or both are not, and the words before them are the same, such as “in”."""
    forms = []
    for statement, rest in ((left, left_rest), (right, right_rest)):
        first = next((key for key in statement.sequence if key in rest), "")
        if statement.sequence[:1] == (first,):
            # A first word has a capital in any case, and no word before it.
            return True
        forms.append((bool(statement.names & rest), statement.leads.get(first, "")))
    return forms[0] == forms[1]


def _written(statement: Statement, words: frozenset[str]) -> str:
    """Return the part of the text from the first to the last of these words."""
    spelled: Mapping[str, str] = statement.spelled
    written = [spelled[key] for key in statement.sequence if key in words and key in spelled]
    lower = statement.text.lower()
    if not written:
        return ", ".join(sorted(words))
    start = lower.find(written[0])
    end = lower.rfind(written[-1]) + len(written[-1])
    return statement.text[start:end] if 0 <= start < end else " ".join(written)
