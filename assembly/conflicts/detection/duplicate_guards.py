"""Duplicates are collapsed in contexts without a word, so what the classifier says must also pass these hard guards.

Two statements are no duplicates if any value differs or is missing, if one denies what the other does not, if they
have opposites that no negation makes equal, or if a word of one of them has no equal, stem or listed synonym in the
other one. Words without a meaning of their own, such as “only”, “from” or “she”, are compared by two lists.
"""

import re
from collections import Counter
from collections.abc import Sequence

from assembly.conflicts.detection.date_values import DateValue
from assembly.conflicts.detection.features import Pair
from assembly.conflicts.detection.statement import Statement

LEAST_SHARED = 2
"""The least words, numbers and dates that duplicates have in common."""
DIRECTIONS = frozenset(("to", "from", "by", "for", "than", "before", "after", "an", "von", "nach", "zu", "vor"))
"""Words by which the order of two names matters after the verb, too: from Oslo to Bergen."""

_SHORT_MODAL = re.compile(r"['’](?:ll|d)\b")  # noqa: RUF001 - “I'll” and “that'd”


def is_possible_duplicate(pair: Pair) -> bool:
    """Return whether nothing in the statements differs that would make one of them say more, or something else."""
    return is_possible_paraphrase(pair) and _has_equal_words(pair)


def is_possible_paraphrase(pair: Pair) -> bool:
    """Return whether the statements agree in all that counts but their words: values, negations, roles, tense."""
    cues, left, right = pair.cues, pair.left, pair.right
    if cues.differences or cues.is_finer or cues.has_other_subject or cues.has_other_event or not cues.is_even:
        return False
    if len(cues.common) + cues.equal_values < LEAST_SHARED:
        return False
    return _has_equal_values(pair) and _has_equal_roles(pair) and _has_equal_circumstances(left, right)


def _has_equal_words(pair: Pair) -> bool:
    """Return whether each word has its equal, or is an opposite that a negation makes equal; spelling is no reason."""
    explained = pair.cues.common - pair.cues.spelled_alike | pair.cues.balanced
    return pair.left.words <= explained and pair.right.words <= explained


def _has_equal_values(pair: Pair) -> bool:
    """Return whether both have the same numbers and dates; half past nine and 21:30 may be two times."""
    cues, left, right = pair.cues, pair.left, pair.right
    if cues.left_extra or cues.right_extra or len(left.quantities) != len(right.quantities):
        return False
    return _minutes(left.dates) == _minutes(right.dates)


def _minutes(dates: Sequence[DateValue]) -> Counter[tuple[str, int | None]]:
    return Counter((date.kind, date.minute) for date in dates)


def _has_equal_roles(pair: Pair) -> bool:
    """Return whether both say the same of the same: names are in one order, or in a list after the verb."""
    left, right = pair.left, pair.right
    if not pair.cues.has_other_roles:
        return True
    words = {*left.text.lower().split(), *right.text.lower().split()}
    names = left.names | right.names
    is_same_subject = bool(left.subject) and left.subject & names == right.subject & names
    return is_same_subject and words.isdisjoint(DIRECTIONS)


def _has_short_modal(statement: Statement) -> bool:
    return bool(_SHORT_MODAL.search(statement.text))


def _has_equal_circumstances(left: Statement, right: Statement) -> bool:
    """Return whether both ask or say, speak of the same time and people, and limit nothing or the same."""
    if left.is_question != right.is_question or left.is_past != right.is_past or left.has_change != right.has_change:
        return False
    if left.markers != right.markers or _has_short_modal(left) != _has_short_modal(right):
        return False
    both = left.contrasts.keys() & right.contrasts.keys()
    return all(left.contrasts[group].number == right.contrasts[group].number for group in both)
