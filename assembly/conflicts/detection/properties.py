"""A property of which a subject has one value makes a conflict of two values: “lives in Oslo”, “lives in Bergen”.

The class of a property says how sure that is: `exclusive` values are in a list of those that exclude each other,
`single` properties have one value at a time, `multi` ones have several, such as languages spoken, and others are
`unknown`.
"""

from collections.abc import Iterable, Sequence

from assembly.conflicts.detection.differences import Difference
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.typed_values import names_land_and_town

PROPERTY_STRENGTHS = {"single": 0.8, "exclusive": 0.8, "unknown": 0.5, "multi": 0.2}
MAX_VALUE_WORDS = 4
"""The most words of a value that another value replaces."""


def property_difference(
    left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str], common: Iterable[str]
) -> tuple[str, Difference] | None:
    """Return the class of the property and the differing values, if each side has a value of its own after the verb.

    `left_rest` and `right_rest` are the words that only one of the statements has.
    """
    if not common or not left_rest or not right_rest:
        return None
    if not (left.has_predicate and right.has_predicate):
        return None
    if left_rest & left.subject or right_rest & right.subject:
        return None
    if not (_is_one_stretch(left.sequence, left_rest) and _is_one_stretch(right.sequence, right_rest)):
        return None
    if max(len(left_rest), len(right_rest)) > MAX_VALUE_WORDS or left.verb in left_rest or right.verb in right_rest:
        return None
    if names_land_and_town(left.typed, right.typed):
        return None
    kind = _property_class(left, right, left_rest, right_rest)
    if kind in ("unknown", "multi") and (left_rest & left.verbs or right_rest & right.verbs):
        # Each has a clause of its own: “… and loves tea”, “… and brings joy”.
        return None
    if kind == "unknown" and not (_is_last(left.sequence, left_rest) and _is_last(right.sequence, right_rest)):
        # What stands before a common word describes it: “the great work”, “the good work”.
        kind = "multi"
    values = _written(left, left_rest), _written(right, right_rest)
    return kind, Difference("property", PROPERTY_STRENGTHS[kind], *values)


def holder_difference(
    left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str], common: Iterable[str]
) -> Difference | None:
    """Return the names of who has the role that both statements are about: “the CEO is Ada”, “led by its CEO Ben”.

    The syntax does not matter: besides the names, only words of roles, verbs and words that say no more than that there
    is a value may differ.
    """
    both = left.words & right.words
    if not both & left.roles or not both & right.roles or not both - left.roles - left.light - left.verbs:
        return None
    holders = []
    for statement, rest in ((left, left_rest), (right, right_rest)):
        names = rest & statement.names
        others = rest - names - statement.roles - statement.light - statement.verbs
        first = statement.sequence[0] if statement.sequence else ""
        if not names and first in others and first not in common:
            # The first word of a sentence has a capital in any case: “Ada approves …”.
            names, others = frozenset((first,)), others - {first}
        if not names or others or len(names) > MAX_VALUE_WORDS or not _is_one_stretch(statement.sequence, names):
            return None
        holders.append(_written(statement, names))
    return Difference("property", PROPERTY_STRENGTHS["single"], *holders)


def _property_class(left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]) -> str:
    groups = left.exclusive.keys() & right.exclusive.keys()
    if any(left.exclusive[group].number != right.exclusive[group].number for group in groups):
        return "exclusive"
    if left.is_multi_valued or right.is_multi_valued or left_rest & left.roles or right_rest & right.roles:
        return "multi"
    is_single = left.is_single_valued and right.is_single_valued
    if not _has_same_form(left, right, left_rest, right_rest):
        return "unknown" if is_single else "multi"
    if is_single and not (left.is_named_property or right.is_named_property):
        return _copula_class(left, right, left_rest, right_rest)
    return "single" if is_single else "unknown"


def _is_one_stretch(sequence: Sequence[str], words: frozenset[str]) -> bool:
    """Return whether these words follow each other, without others between them: one value, not two differences."""
    places = [place for place, key in enumerate(sequence) if key in words]
    return bool(places) and places[-1] - places[0] + 1 == len(places)


def _is_last(sequence: Sequence[str], words: frozenset[str]) -> bool:
    return sequence[-1] in words


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


def _has_same_form(left: Statement, right: Statement, left_rest: frozenset[str], right_rest: frozenset[str]) -> bool:
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
    spelled = statement.spelled
    written = [spelled[key] for key in statement.sequence if key in words]
    lower = statement.text.lower()
    if not written:
        return ", ".join(sorted(words))
    start = lower.find(written[0])
    end = lower.rfind(written[-1]) + len(written[-1])
    return statement.text[start:end] if 0 <= start < end else " ".join(written)
