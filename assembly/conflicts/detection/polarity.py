"""Polarity tells whether one statement denies what the other says, by a negation or an opposite state.

Two negations cancel each other out, and so do a negation and an opposite: what is not closed is open, and what must not
be done is forbidden.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from assembly.conflicts.detection.differences import Difference
from assembly.conflicts.detection.lexicon import load_lexicon
from assembly.conflicts.detection.statement import Pole, Statement

NEGATION_STRENGTH, STATE_STRENGTH = 0.9, 0.8
NO_SCOPE = 0.6
"""The share of denied words in the other statement that is assumed for a negation without any, such as “nobody”."""
LEAST_PREFIXED = 4
"""The least letters of a word that a prefix makes its opposite."""

_PERMISSIONS = frozenset(("allow", "possibl", "welcom", "accept", "erlaubt", "gestattet", "möglich", "posibl"))
"""The keys of words that deny the whole statement if they are denied: “merging on Fridays is not allowed”."""
_DEFINITE = "(?:the|our|der|die|das|den|dem|el|la|los|las)"
_BOUNDS = frozenset(
    ("above", "over", "below", "under", "before", "after", "über", "unter", "vor", "nach", "antes", "después")
)
"""Opposites that set a bound to a number or date, which are compared themselves: “above 50 euros”, “below 50 euros”."""


class Polarity(NamedTuple):
    """How the polarities of two statements differ."""

    difference: Difference | None
    """A negation or an opposite state; None if both statements affirm or deny the same."""
    words: set[str]
    """The words of both statements that are explained by it: opposites, equal states, denials."""
    has_other_subject: bool
    """This tells whether opposites tell two subjects apart: the north door and the south door."""
    balanced: set[str]
    """The words of opposites and denials that negations make equal."""
    is_even: bool
    """This tells whether neither statement denies what the other one says, nor a detail of its own."""
    is_restated: bool
    """This tells whether one denies with a word such as “closed” what the other denies with a negation."""


def compare_polarity(left: Statement, right: Statement, common: Iterable[str]) -> Polarity:
    """Return how the polarities of two statements with these common words differ."""
    flips, words, has_other_subject = _opposites(left, right)
    explained = {word for flip in flips for word in flip}
    left_denials, right_denials = _denials(left, right, explained)
    for denials, statement in ((left_denials, left), (right_denials, right)):
        words.update(key for word in denials for key in _keys(statement, word))
    is_left_negated, is_right_negated = left.is_negated, right.is_negated
    if is_left_negated and is_right_negated and left.negated.isdisjoint(right.negated):
        # “Without extra charge” and “not accepted” deny two things; the one that the other statement says counts.
        is_left_negated, is_right_negated = _denies_common(left, common), _denies_common(right, common)
    if left.denials.keys() & right.denials.keys():
        # “Cancelled” and “there is none, it was called off” deny the same twice.
        is_left_negated = is_left_negated and _reaches_denial(left)
        is_right_negated = is_right_negated and _reaches_denial(right)
    is_left_denied = is_left_negated != (len(left_denials) % 2 == 1)
    is_right_denied = is_right_negated != (len(right_denials) % 2 == 1)
    difference = None
    is_even, is_restated = is_left_denied == is_right_denied, False
    if flips and is_left_denied != is_right_denied and not _reaches_flip(left, right, flips):
        # “Closed without a fix” denies the fix, so it is no “open”.
        is_left_denied = is_right_denied
    if flips and is_left_denied == is_right_denied:
        # Synonymous pairs flip together, such as “open” with “public”; they are one opposition.
        difference = Difference("state", STATE_STRENGTH, *min(flips))
    elif not flips and is_left_denied != is_right_denied:
        said_left = ", ".join([*left.negations, *left_denials]) if is_left_denied else ""
        said_right = ", ".join([*right.negations, *right_denials]) if is_right_denied else ""
        denied, other = (left, right) if is_left_denied else (right, left)
        reach = _reach(denied, common)
        # “Not open” and “closed” say the same; “not closed” and “closed” do not.
        is_restated = other.has_negative_state and not other.denials and not denied.has_negative_state
        if reach and not is_restated:
            difference = Difference("negation", NEGATION_STRENGTH * (1 + reach) / 2, said_left, said_right)
    balanced = {key for pair in flips for word in pair for key in _keys(left, word) | _keys(right, word)}
    balanced |= {key for word in left_denials for key in _keys(left, word)}
    balanced |= {key for word in right_denials for key in _keys(right, word)}
    is_even = difference is None and (is_even or bool(flips))
    return Polarity(difference, words, has_other_subject, balanced, is_even, is_restated)


def _denies_common(statement: Statement, common: Iterable[str]) -> bool:
    denied = statement.negated
    return not denied or not denied.isdisjoint(common) or denied <= _PERMISSIONS


def _reaches_denial(statement: Statement) -> bool:
    """Return whether a negation is about a word that denies by itself, as in “not cancelled”."""
    denied = {word for text in statement.denials.values() for word in text.split()}
    return any(statement.spelled.get(key, key) in denied for key in statement.negated)


def _reaches_flip(left: Statement, right: Statement, flips: Iterable[tuple[str, str]]) -> bool:
    """Return whether a negation, or a word that denies by itself, is about one of the opposite states."""
    said = set(left.denials.values()) | set(right.denials.values())
    return any(
        _keys(left, mine) & left.negated
        or _keys(right, theirs) & right.negated
        or {mine, theirs} & said
        or mine.split()[0] in left.denied_words
        or theirs.split()[0] in right.denied_words
        for mine, theirs in flips
    ) or bool(said)


def _reach(denied: Statement, common: Iterable[str]) -> float:
    """Return the share of the denied words that the other statement has; 0 if what is denied is a detail of its own."""
    return len(denied.negated.intersection(common)) / len(denied.negated) if denied.negated else NO_SCOPE


def _opposites(left: Statement, right: Statement) -> tuple[list[tuple[str, str]], set[str], bool]:
    """Return the opposite states as they were written, the words of all states, and if there are two subjects."""
    flips: list[tuple[str, str]] = []
    words: set[str] = set()
    has_other_subject = False
    pairs = [(left.poles[pair], right.poles[pair]) for pair in left.poles.keys() & right.poles.keys()]
    for mine, theirs in [*pairs, *_prefixed_opposites(left, right)]:
        if mine.number != theirs.number and (
            (mine.is_subject and theirs.is_subject)
            or _describe_one_noun(left, mine, right, theirs)
            or ({mine.text, theirs.text} <= _BOUNDS and _have_values(left, right))
        ):
            has_other_subject = True
            continue
        if mine.number != theirs.number:
            flips.append((mine.text, theirs.text))
        words |= _keys(left, mine.text) | _keys(right, theirs.text)
    return flips, words, has_other_subject


def _describe_one_noun(left: Statement, mine: Pole, right: Statement, theirs: Pole) -> bool:
    """Return whether opposites tell two things of one kind apart: “the small tent”, “in the big tent”."""
    nouns = [_described(one, pole.text) for one, pole in ((left, mine), (right, theirs))]
    return bool(nouns[0]) and nouns[0] == nouns[1]


def _described(statement: Statement, adjective: str) -> str:
    """Return the key of the word after “the” and the adjective; empty if there is none."""
    found = re.search(rf"\b{_DEFINITE} {re.escape(adjective)} (\w+)", statement.text.lower())
    return next((key for key, word in statement.spelled.items() if found and word == found[1]), "")


def _have_values(left: Statement, right: Statement) -> bool:
    return all(one.quantities or one.dates for one in (left, right))


def _denials(left: Statement, right: Statement, explained: set[str]) -> tuple[list[str], list[str]]:
    """Return the words of each statement which deny by themselves, unless both have them or they are opposites."""
    if left.denials.keys() & right.denials.keys():
        return [], []
    found = [[word for word in one.denials.values() if word not in explained] for one in (left, right)]
    return found[0], found[1]


def _keys(statement: Statement, text: str) -> set[str]:
    """Return the keys of the statement's words that were written so."""
    spelled = set(text.split())
    return {key for key, word in statement.spelled.items() if word in spelled}


def _prefixed_opposites(left: Statement, right: Statement) -> list[tuple[Pole, Pole]]:
    """Return pairs such as “stable” and “unstable”, which need no entry in the list of opposites."""
    found = []
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        written = set(other.spelled.values()) - set(one.spelled.values())
        for key, word in one.spelled.items():
            for prefix in load_lexicon("english").opposite_prefixes if len(word) >= LEAST_PREFIXED else ():
                if prefix + word in written:
                    negative = prefix + word
                    pole = Pole(0, word, key in one.subject)
                    opposite = Pole(1, negative, bool(_keys(other, negative) & other.subject))
                    found.append((opposite, pole) if is_swapped else (pole, opposite))
    return found
