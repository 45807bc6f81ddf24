"""Finding what somebody means among the candidates of a context: by its ref, its name, or words of its text. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assembly.comparing import named
from assembly.engine.filling import document_of
from assembly.engine.types import Candidate, Decision
from assembly.recorded import Recorded

MOST = 20
"""Matches, the best first."""
MAX_CHARACTERS = 400
"""Of what is typed."""


@dataclass(frozen=True, slots=True)
class Match:
    """One candidate of the context, and what became of it."""

    decision: Decision
    candidate: Candidate
    label: str
    """The heading of its section."""


def by_ref(told: Recorded, ref: str) -> list[Match]:
    """The candidates that the ref names, with or without its version, or by the id alone; what is in comes first.

    The version that is named comes before others of the same thing, which answer for it, too.
    """
    matches = [match for match in _all(told) if _is_named(match.decision.ref, ref)]
    return sorted(matches, key=lambda match: (match.decision.ref != ref, not match.decision.included))


def by_words(told: Recorded, words: str) -> list[Match]:
    """The candidates that are called so, or say so: the best match first, of equals what is left out first.

    A name that is the same beats one that holds the words, which beats a text that holds them together, which beats one
    that holds all of them, which beats one that holds some.
    """
    sought = _plain(words)
    graded = [(_grade(match, sought), match) for match in _all(told)] if sought else []
    found = [(grade, match) for grade, match in graded if grade > 0]
    found.sort(key=lambda pair: (-pair[0], pair[1].decision.included))
    return [match for _, match in found[:MOST]]


def _all(told: Recorded) -> Iterator[Match]:
    labels = {section.key: section.label for section in told.inputs.profile.sections}
    return (Match(decision, candidate, labels[decision.section]) for decision, candidate in told.decided)


def _is_named(ref: str, sought: str) -> bool:
    """A document stands for its pieces, too."""
    unversioned, document = named(ref), named(document_of(ref))
    ids = {unversioned.partition(":")[2], document.partition(":")[2]}
    return sought in {ref, *ids} or named(sought) in {unversioned, document}


def _grade(match: Match, sought: str) -> float:
    names = [_plain(name) for name in _names(match)]
    if sought in names:
        return 4
    if any(sought in name for name in names):
        return 3
    text = _plain(match.candidate.text)
    if sought in text:
        return 2
    words = sought.split()
    share = sum(word in text or any(word in name for name in names) for word in words) / len(words)
    return share if len(words) > 1 else 0


def _names(match: Match) -> Sequence[str]:
    """What people call it: its section where it is all that stands there, its file, path, names or day."""
    candidate = match.candidate
    labels = [name for by in ("path", "kg_entity") for name in candidate.labels.get(by, ())]
    is_file = candidate.ref.partition(":")[0] in {"agent_file", "team_file"}
    own = [match.label, candidate.kind] if is_file else []
    return [*labels, *own, *([candidate.date.isoformat()] if candidate.date else [])]


def _plain(text: str) -> str:
    """As it is compared: whatever its case and its white space."""
    return " ".join(text.casefold().split())
