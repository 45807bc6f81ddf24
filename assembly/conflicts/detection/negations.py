"""This module finds the negations of a statement, and the words that they deny."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assembly.conflicts.detection.tokens import Tagged, Token

NEGATION_SCOPE = 6
"""The most words after a negation that it denies."""
WORDS_BEFORE = 3
"""The most words before a negation that it denies if none follows, as in German: “funktioniert nicht”."""
CLAUSE_BREAKS = frozenset(",;:()")

_BESIDE = ("not", "never", "nicht", "nie", "no", "nunca")
"""Negations that limit what was said if they follow a comma: “the blue one, not the red one”."""
_CONTINUED = ("nor",)
"""Negations that go on with one: “can be neither refunded nor exchanged”."""
_LIMITS = ("lower_bounds", "upper_bounds")
_WHOLE = ("gratis",)
"""The lists whose phrases are states as a whole, such as “without paying”."""


@dataclass(slots=True)
class Negations:
    """The negations of a statement, outside exceptions."""

    said: list[str] = field(default_factory=list)
    scope: set[str] = field(default_factory=set)
    """The keys of the words with a meaning that they deny."""
    words: set[str] = field(default_factory=set)
    """All words in their scope as they were written."""
    excepted: set[str] = field(default_factory=set)
    """The keys of the words after “, not” and the like."""
    has_exception: bool = False
    is_odd: bool = False
    """This tells whether a clause is denied: two negations of one clause cancel each other out."""


def negations_in(text: str, tokens: Sequence[Token], tags: Mapping[str, Sequence[Tagged]]) -> Negations:
    """Return the negations of the text; the tags are given by their lists."""
    exceptions = tags.get("exceptions", ())
    skipped = {place for tag in exceptions for place in (*tag.places, tag.places.stop)}
    # “No more than” is a bound, and “costs nothing” is a state as a whole.
    skipped |= {place for name in _LIMITS for tag in tags.get(name, ()) for place in tag.places}
    skipped |= {place for name in _WHOLE for tag in tags.get(name, ()) if tag.size > 1 for place in tag.places}
    skipped |= {place for tag in tags.get("opposites", ()) if tag.size > 1 for place in tag.places}
    found = Negations(has_exception=bool(exceptions))
    clauses: Counter[int] = Counter()
    for tag in tags.get("negations", ()):
        if tag.position in skipped or _is_in_compound(text, tokens, tag) or _is_answer(text, tokens, tag):
            continue
        before = text[: tokens[tag.position].start]
        said = " ".join(tokens[place].word for place in tag.places)
        stop = tag.places.stop
        if before.rstrip().endswith((",", " but", " and")) and said in _BESIDE:
            found.has_exception = True
            found.excepted |= _scope(text, tokens, stop)
            continue
        found.said.append(said)
        found.scope |= _scope(text, tokens, stop)
        found.words |= {token.word for token in tokens[stop : stop + NEGATION_SCOPE]}
        if said not in _CONTINUED:
            clauses[sum(map(before.count, CLAUSE_BREAKS))] += 1
    # “Nor” alone, at the beginning of an answer, denies as well.
    found.is_odd = bool(found.said and not clauses) or any(count % 2 for count in clauses.values())
    return found


def _is_in_compound(text: str, tokens: Sequence[Token], tag: Tagged) -> bool:
    """Return whether a hyphen joins the negation to a word, as in “--no-cache” and “no-frills”."""
    last = tokens[tag.places.stop - 1]
    return text[last.start + len(last.word) :].startswith("-")


def _is_answer(text: str, tokens: Sequence[Token], tag: Tagged) -> bool:
    """Return whether the negation is the beginning of an answer: “No, it is open.”"""
    end = tokens[tag.position].start + len(tokens[tag.position].word)
    return tag.position == 0 and text[end : end + 1] in (",", "!", ".")


def _scope(text: str, tokens: Sequence[Token], position: int) -> set[str]:
    scope: set[str] = set()
    for index in range(position, min(position + NEGATION_SCOPE, len(tokens))):
        between = text[tokens[index - 1].start : tokens[index].start]
        if index > position and CLAUSE_BREAKS & set(between):
            break
        if tokens[index].is_content:
            scope.add(tokens[index].key)
    return scope or {token.key for token in tokens[max(0, position - WORDS_BEFORE) : position] if token.is_content}
