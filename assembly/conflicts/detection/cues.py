"""Cues tell in which way two statements contradict each other, and how far they are about the same thing.

A cue is typed: a number, a date, a negation, an opposite state, or another value of a property that has one value. Each
has a strength from 0 to 1. The words of the differing values are taken away; what remains on either side tells whether
both statements have one subject and one slot: the price and the weight of a bike are two slots, and the prices of two
bikes have two subjects.
"""

from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz

from assembly.conflicts.detection.differences import (
    PRICE_WORDS,
    Difference,
    Kind,
    date_differences,
    number_differences,
    price_difference,
)
from assembly.conflicts.detection.loose_cues import LooseCue, Rule, limit_of, loose_cue
from assembly.conflicts.detection.polarity import STATE_STRENGTH, compare_polarity
from assembly.conflicts.detection.properties import holder_difference, property_difference
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.word_alignment import aligned_words

SPELLING_RATIO = 90.0
"""The ratio of rapidfuzz, 0 to 100, from which two words are spellings of one."""
LEAST_SPELLED = 5
"""The least letters of words that are compared by their spelling."""


@dataclass(frozen=True, slots=True)
class Cues:
    """How two statements differ, and what they share. Equal if left and right are swapped, except for the texts."""

    differences: tuple[Difference, ...]
    common: frozenset[str]
    spelled_alike: frozenset[str]
    """The common words that are not equal but spelled nearly alike."""
    balanced: frozenset[str]
    """The words of opposites and denials that negations make equal."""
    left_rest: frozenset[str]
    """The words of the left statement alone, without those of differing values."""
    right_rest: frozenset[str]
    subject_share: float
    """The share, 0 to 1, of the words of a subject that the other statement has; the smaller one of both sides."""
    has_other_name: bool
    """This tells whether each statement has a name of its own that is not a differing value."""
    has_other_subject: bool
    """This tells whether each subject has a word that the other statement lacks, or both opposites of a pair."""
    has_other_roles: bool
    """This tells whether two common names are in another order, as in “Ana helped Ben” and “Ben thanked Ana”."""
    equal_values: int
    """The number of equal numbers and dates."""
    left_extra: int
    """The number of numbers and dates of the left statement that have no counterpart."""
    right_extra: int
    property_class: str
    """The class of a differing property, see `properties`; empty if no property differs."""
    is_finer: bool
    """This tells whether one statement gives an equal date or number more exactly, or makes an exception."""
    is_even: bool
    """This tells whether neither statement denies what the other one says, nor a detail of its own."""
    aligned: float
    """The words that are aligned by their vectors, weighed by their cosines."""
    is_contrasted: bool
    """This tells whether a common word has another word before it on each side: express parcels, standard parcels."""
    loose_rule: Rule
    """The rule that found a loose cue; empty if the cue is strict, or there is none."""
    has_other_event: bool
    """This tells whether they speak of two moments, “opens at 7” and “closes at 19”, or of two numbered subjects."""
    has_other_number: bool
    """This tells whether numbers or letters tell two subjects apart: ward 3 and ward 4, the guests in 407 and 409."""

    def strength(self, kind: Kind) -> float:
        """Return the largest strength of the cues of a kind; 0 if there is none."""
        return max((one.strength for one in self.differences if one.kind == kind), default=0.0)

    def strongest_kind(self) -> Kind:
        """Return the kind of the strongest cue; "" without cues."""
        strongest = self.strongest()
        return strongest.kind if strongest else ""

    def strongest(self) -> Difference | None:
        """Return the cue with the largest strength, the first of equals; None without cues."""
        return max(self.differences, key=lambda one: one.strength, default=None)


def find_cues(left: Statement, right: Statement) -> Cues:  # noqa: C901 - one rule after the other
    """Return the cues of two statements."""
    common = _common_words(left, right)
    numbers = number_differences(left.quantities, right.quantities)
    price = price_difference(left, right)
    dates = date_differences(left.dates, right.dates)
    polarity = compare_polarity(left, right, common)
    differences = [*numbers.differences, *dates.differences]
    if price:
        differences.append(price)
    # “Only admins may …” denies it of everybody else itself.
    is_limited = left.is_limited_to_subject != right.is_limited_to_subject and left.subject.isdisjoint(right.subject)
    is_restated = polarity.is_restated or _is_restated_limit(left, right)
    if polarity.difference and not price and not is_limited and not is_restated:
        differences.append(polarity.difference)
    explained = common | polarity.words | _denied_of_all(left, right)
    if price:
        explained |= left.gratis_words | right.gratis_words | PRICE_WORDS
    left_rest, right_rest = left.words - explained, right.words - explained
    if differences and common:
        # “Covers two years”, “is valid for 36 months”: such words tell no two properties apart.
        left_rest, right_rest = left_rest - left.light, right_rest - right.light
    has_other_subject = bool(left.subject & left_rest and right.subject & right_rest)
    property_class = ""
    limit_cue = None if numbers.differences or dates.differences or price else limit_of(left, right)
    if limit_cue:
        differences = [limit_cue]
    if not differences and (limit := _limit_difference(left, right, left_rest, right_rest)):
        differences.append(limit)
        left_rest, right_rest = left_rest - left.subject, right_rest - right.subject
        has_other_subject = False
    if not differences and (holder := holder_difference(left, right, left_rest, right_rest, common)):
        property_class = "single"
        differences.append(holder)
        left_rest = right_rest = frozenset()
        has_other_subject = False
    if not differences and (of_property := property_difference(left, right, left_rest, right_rest, common)):
        property_class, difference = of_property
        differences.append(difference)
        left_rest = right_rest = frozenset()
    partners = aligned_words(_written(left, left_rest), _written(right, right_rest))
    loose = LooseCue("limit", limit_cue) if limit_cue else None
    if not loose and (not differences or property_class in ("multi", "unknown")):
        near = common | partners.keys() | {other for other, _ in partners.values()}
        if found := loose_cue(left, right, near, may_deny=not polarity.balanced and not is_restated):
            loose, differences, property_class = found, [found.difference], ""
            left_rest, right_rest = left_rest - found.words, right_rest - found.words
            has_other_subject = bool(left.subject & left_rest and right.subject & right_rest)
    return Cues(
        differences=tuple(differences),
        common=frozenset(common),
        spelled_alike=frozenset(common - (left.words & right.words)),
        balanced=frozenset(polarity.balanced),
        left_rest=left_rest,
        right_rest=right_rest,
        subject_share=min(_share(one.subject - polarity.words, common) for one in (left, right)),
        has_other_name=bool(left.names & left_rest and right.names & right_rest),
        has_other_subject=polarity.has_other_subject or has_other_subject or _has_other_day(left, right),
        has_other_roles=_order_of_names(left, right, common) != _order_of_names(right, left, common),
        equal_values=numbers.equal + dates.equal,
        left_extra=dates.left_extra + (0 if price else numbers.left_extra),
        right_extra=dates.right_extra + (0 if price else numbers.right_extra),
        property_class=property_class,
        is_finer=left.has_exception != right.has_exception or numbers.is_finer or dates.is_finer,
        is_even=polarity.is_even,
        aligned=sum(cosine for _, cosine in partners.values()),
        is_contrasted=_is_contrasted(left, right, left_rest, right_rest),
        loose_rule=loose.rule if loose else "",
        has_other_event=_has_other_event(left, right) or _has_other_number(left, right),
        has_other_number=_has_other_number(left, right),
    )


def _limit_difference(
    left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]
) -> Difference | None:
    """Return both subjects if “only” limits to one of them what the other statement says of the other one."""
    if left.is_limited_to_subject == right.is_limited_to_subject or left.is_negated or right.is_negated:
        return None
    limited, other = (left, right) if left.is_limited_to_subject else (right, left)
    done, done_by_other = limited.words - limited.subject, other.words - other.subject
    if not done or not done <= done_by_other or not left.subject <= left_rest or not right.subject <= right_rest:
        return None
    if not left.subject or not right.subject:
        return None
    subjects = [", ".join(one.spelled[key] for key in one.sequence if key in one.subject) for one in (left, right)]
    return Difference("state", STATE_STRENGTH, *subjects)


def _is_restated_limit(left: Statement, right: Statement) -> bool:
    """Return whether one says “only” or “must” and the other denies with an exception: “no … without”."""
    return any(
        (one.is_limited or one.is_obliging)
        and not one.is_negated
        and other.negations
        and (other.has_exception or other.is_conditional)
        for one, other in ((left, right), (right, left))
    )


def _written(statement: Statement, keys: frozenset[str]) -> list[tuple[str, str]]:
    """Return these words with their spellings, without names: names that are near are two names."""
    return [(key, statement.spelled.get(key, key)) for key in keys - statement.names]


def _is_contrasted(left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]) -> bool:
    before = [
        {after: word for word, after in pairwise(one.sequence) if word in rest and after not in rest}
        for one, rest in ((left, left_rest), (right, right_rest))
    ]
    return not before[0].keys().isdisjoint(before[1])


def _denied_of_all(left: Statement, right: Statement) -> frozenset[str]:
    """Return the words of a part for which one statement denies what the other one says of the whole.

    “Heated all year” leaves no exception, so “not heated in winter” says no other thing.
    """
    if left.is_universal and right.is_negated and not left.is_negated:
        return right.negated
    if right.is_universal and left.is_negated and not right.is_negated:
        return left.negated
    return frozenset()


def _has_other_event(left: Statement, right: Statement) -> bool:
    pairs = left.events.keys() & right.events.keys()
    return any(left.events[pair].number != right.events[pair].number for pair in pairs)


def _has_other_number(left: Statement, right: Statement) -> bool:
    """Return whether both subjects have a number or letter that tells which one it is, and these differ."""
    mine, theirs = ({**one.labels, **_letters(one)} for one in (left, right))
    if any(mine[word] != theirs[word] for word in mine.keys() & theirs.keys()):
        return True
    bare = [
        {value.low for value in one.quantities if value.start < one.subject_end and value.is_bare}
        for one in (left, right)
    ]
    return bool(bare[0] and bare[1]) and bare[0].isdisjoint(bare[1]) and not left.subject.isdisjoint(right.subject)


def _letters(statement: Statement) -> dict[str, str]:
    """Return single letters by the words before them: “hall A”."""
    return {word: f"{word} {letter}" for word, letter in pairwise(statement.sequence) if len(letter) == 1}


def _has_other_day(left: Statement, right: Statement) -> bool:
    """Return whether both subjects have a date, and these differ: “Monday's soup”, “the soup of Thursday”."""
    days = [[date for date in one.dates if date.start < one.subject_end] for one in (left, right)]
    return bool(days[0] and days[1]) and bool(date_differences(days[0], days[1]).differences)


def _order_of_names(one: Statement, other: Statement, common: set[str]) -> list[str]:
    """Return the common names in the order of one statement; the other tells that its first word is a name."""
    names = (one.names | other.names) & common
    return list(dict.fromkeys(key for key in one.sequence if key in names))


def _share(words: frozenset[str], common: set[str]) -> float:
    return len(words & common) / len(words) if words else 1.0


def _common_words(left: Statement, right: Statement) -> set[str]:
    """Return the words that both have: equal ones, and those of either that are spelled nearly as one of the other."""
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
