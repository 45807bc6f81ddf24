"""A recorded item that something else than a conflict excluded is in no conflict, as in `assembly.engine.reconcile`."""

from collections.abc import Iterable

from assembly.engine.codes import Code
from assembly.engine.types import Decision

WITHOUT_CONFLICT_CODES = frozenset(
    {Code.SUPERSEDED, Code.EXPIRED, Code.FILTERED, Code.RULE_EXCLUDED, Code.UNTRUSTED_ORIGIN, Code.EMPTY}
)
"""Codes of items that could not be included whatever became of their conflicts."""


def refs_without_conflict(decisions: Iterable[Decision]) -> set[str]:
    """Return the refs of the items that the archive, a rule, the request or their origin excludes in all sections."""
    excluded, others = set[str](), set[str]()
    for decision in decisions:
        (excluded if decision.code in WITHOUT_CONFLICT_CODES else others).add(decision.ref)
    return excluded - others
