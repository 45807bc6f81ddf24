"""Feedback on contexts, as the weights are learned from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from assembly.engine.refs import without_version

MAX_CONTEXTS = 2_000
"""The number of newest contexts with feedback that are learned from."""


@dataclass(frozen=True, slots=True)
class LabelledContext:
    """A context of which somebody said which of its items were used, and which were useless; both are refs."""

    assembly_id: UUID
    used: frozenset[str]
    useless: frozenset[str] = frozenset()

    def uses(self, ref: str) -> bool:
        """Return whether the item was used and not called useless, whatever the version of the refs."""
        named = without_version(ref)
        return _names(ref, named, self.used) and not _names(ref, named, self.useless)


def _names(ref: str, named: str, refs: frozenset[str]) -> bool:
    return ref in refs or named in refs


FeedbackReader = Callable[[str, int], Sequence[LabelledContext]]
"""A function that returns the newest contexts of a profile (by name) that have used items, at most so many."""

registered: list[FeedbackReader] = []
"""The reader of stored feedback, registered when the app is ready."""


def labelled_contexts(profile: str) -> list[LabelledContext]:
    """Return the newest contexts of the profile of which items were used, each once, the newest first."""
    found: dict[UUID, LabelledContext] = {}
    for read in registered:
        for context in read(profile, MAX_CONTEXTS):
            if context.used:
                found.setdefault(context.assembly_id, context)
    return list(found.values())
