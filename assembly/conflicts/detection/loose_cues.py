"""Loose cues are differences of statements in quite different words, found where no strict cue is.

Each rule compares values of one kind wherever they stand: who has a relation to something, languages and other typed
values, places, counts of related things, a limit and “no limit”, a denial of something related. They are weaker than
strict cues; the classifier has weights of their own for them.
"""

from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

from assembly.conflicts.detection.antonyms import antonyms_in
from assembly.conflicts.detection.differences import Difference, has_equal_numbers, number_strength
from assembly.conflicts.detection.quantities import COUNT, PERCENT
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.typed_values import names_land_and_town

Rule = Literal["holder", "typed", "place", "count", "limit", "denial", "scope", "antonym", "setting", ""]
RULES: tuple[Rule, ...] = ("holder", "typed", "place", "count", "limit", "denial", "scope", "antonym", "setting")

QUALIFIERS = "qualifiers"
"""The names of classes that tell two things apart, such as staging and production, begin so."""
ALIKE = 2
"""The least common words of statements about persons that name no relation, such as “decides on press requests”."""
STRENGTH = 0.7
DENIAL_STRENGTH = 0.6


class LooseCue(NamedTuple):
    """A loose cue, the rule that found it, and the words of its values."""

    rule: Rule
    difference: Difference
    words: frozenset[str] = frozenset()


def loose_cue(left: Statement, right: Statement, common: Collection[str], *, may_deny: bool) -> LooseCue | None:
    """Return the first loose cue of two statements with these common or aligned words; None if there is none.

    A denial is none where a negation and an opposite say the same, as in “not difficult” and “easy”.
    """
    if not common:
        return None
    for rule, find in _RULES:
        if rule == "denial" and not may_deny:
            continue
        if difference := find(left, right, common):
            return LooseCue(rule, difference, _words_of(rule, difference, left, right))
    return None


def _words_of(rule: Rule, difference: Difference, left: Statement, right: Statement) -> frozenset[str]:
    """Return the words of the values of both statements, with those for the relation to a person."""
    found: set[str] = set()
    for side, text in ((left, difference.left), (right, difference.right)):
        written = set(text.lower().split())
        found.update(key for key, word in side.spelled.items() if word in written)
        if rule == "holder":
            found |= side.typed.relation_words
    return frozenset(found)


def limit_of(left: Statement, right: Statement) -> Difference | None:
    """Return a limit and its denial: “at least 250 euros” and “no minimum”, “three years” and “never expires”."""
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        if one.unlimited and not one.quantities and not one.dates and not other.unlimited:
            bounds = [value.text for value in other.quantities if value.dimension != COUNT or value.bound != "exact"]
            bounds += [value.text for value in other.dates if value.kind == "day"]
            if bounds:
                return _difference("number", one.unlimited, bounds[0], is_swapped)
        part = next((value for value in other.quantities if value.dimension == PERCENT and value.high < 100), None)  # noqa: PLR2004
        if part and len(other.quantities) == 1 and one.is_universal and not one.quantities and not one.is_negated:
            return _difference("number", "all", part.text, is_swapped)
    return None


def _holder(left: Statement, right: Statement, common: Collection[str]) -> Difference | None:
    """Return the persons who have the same relation to something, if each statement names others."""
    mine, theirs = left.typed, right.typed
    is_alike = len(set(common) - mine.persons - theirs.persons) >= ALIKE and mine.has_title and theirs.has_title
    is_alike = is_alike or (mine.is_holder_last and theirs.is_holder_last)
    if not mine.relations & theirs.relations and not is_alike:
        return None
    named = (mine.persons ^ theirs.persons) - (left.words & right.words)
    if not set(common) - mine.relation_words - theirs.relation_words - named:
        return None
    persons = mine.persons - right.words, theirs.persons - left.words
    if not all(persons):
        return None
    return Difference(
        "property", STRENGTH, *(_spelled(one, some) for one, some in zip((left, right), persons, strict=True))
    )


def _typed(left: Statement, right: Statement, _: Collection[str]) -> Difference | None:
    """Return the different values of one class, if each statement names one of it."""
    for name in sorted(left.typed.classes.keys() & right.typed.classes.keys()):
        if name.startswith(QUALIFIERS):
            continue
        mine, theirs = left.typed.classes[name], right.typed.classes[name]
        if len(mine) == len(theirs) == 1 and mine != theirs:
            return Difference("property", STRENGTH, left.typed.written[name], right.typed.written[name])
    return None


def _place(left: Statement, right: Statement, _: Collection[str]) -> Difference | None:
    """Return the names of the places, if each statement is in another one."""
    if left.typed.places & right.typed.places or names_land_and_town(left.typed, right.typed):
        return None
    mine, theirs = left.typed.places - right.words, right.typed.places - left.words
    if mine and not theirs:
        theirs = right.names - right.typed.persons - left.words
    elif theirs and not mine:
        mine = left.names - left.typed.persons - right.words
    if not mine or not theirs:
        return None
    return Difference("property", STRENGTH, _spelled(left, mine), _spelled(right, theirs))


def _scope(left: Statement, right: Statement, _: Collection[str]) -> Difference | None:
    """Return “everyone” and “only …”, if one statement limits what the other one says of all."""
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        if one.is_universal and not one.is_limited and other.is_limited and not other.is_universal:
            return _difference("state", "all", "only", is_swapped)
    return None


def _count(left: Statement, right: Statement, _: Collection[str]) -> Difference | None:
    """Return the counts, or amounts without a unit, if each statement has one and they differ."""
    mine, theirs = ([value for value in one.quantities if value.dimension == COUNT] for one in (left, right))
    if has_equal_numbers(left.quantities, right.quantities):
        return None
    if len(mine) != 1 or len(theirs) != 1 or (mine[0].period is None) != (theirs[0].period is None):
        return None
    apart = mine[0].difference(theirs[0])
    return Difference("number", number_strength(apart), mine[0].text, theirs[0].text) if apart else None


def _antonym(left: Statement, right: Statement, _: Collection[str]) -> Difference | None:
    """Return an English word and its antonym, if each statement has one of them and neither has a negation."""
    if left.negations or right.negations or left.denials or right.denials:
        return None
    found = antonyms_in(left, right)
    return Difference("state", STRENGTH, *found) if found else None


def _denial(left: Statement, right: Statement, common: Collection[str]) -> Difference | None:
    """Return the negations of one statement if the other has none, and at least one denied word is common."""
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        if denied := one.excepted & other.words - other.negated:
            text = "not " + _spelled(one, denied)
            return Difference("negation", DENIAL_STRENGTH, *(("", text) if is_swapped else (text, "")))
        said = [*one.negations, *one.denials.values()]
        if said and not other.negations and not other.denials:
            reached = one.negated.intersection(common) if one.negations else set(common)
            if reached:
                text = ", ".join(said)
                return Difference("negation", DENIAL_STRENGTH, *(("", text) if is_swapped else (text, "")))
    return None


def _setting(left: Statement, right: Statement, common: Collection[str]) -> Difference | None:
    """Return where each statement says something is, comes from or goes to, if they name other things."""
    mine, theirs = left.typed.settings - right.words, right.typed.settings - left.words
    if any(one.startswith(other) or other.startswith(one) for one in mine for other in theirs):
        return None  # “class” and “classroom”
    if not mine or not theirs or left.typed.settings & right.typed.settings or (mine | theirs).intersection(common):
        return None
    return Difference("property", STRENGTH, _spelled(left, mine), _spelled(right, theirs))


_RULES: tuple[tuple[Rule, Callable[[Statement, Statement, Collection[str]], Difference | None]], ...] = (
    ("holder", _holder),
    ("typed", _typed),
    ("place", _place),
    ("count", _count),
    ("scope", _scope),
    ("antonym", _antonym),
    ("denial", _denial),
    ("setting", _setting),
)


def _difference(kind: Literal["number", "state"], mine: str, theirs: str, is_swapped: bool) -> Difference:
    return Difference(kind, STRENGTH, *((theirs, mine) if is_swapped else (mine, theirs)))


def _spelled(statement: Statement, keys: Collection[str]) -> str:
    return " ".join(statement.spelled[key] for key in dict.fromkeys(statement.sequence) if key in keys) or ", ".join(
        sorted(keys)
    )
