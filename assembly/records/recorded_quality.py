"""The quality of a recorded context is computed from its record, with the formulas of `assembly.engine.quality`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.quality import (
    ContextQuality,
    ScopeOutcome,
    measure_quality,
    named_entities,
    scope_outcomes,
    source_coverage,
)
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.scopes import MemoryScope, scope_of
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.models.encryption import RecordErased
from assembly.records.reader import StoredAssembly, content_of, load_record
from assembly.records.record_errors import RecordDamaged


def quality_of_record(told: StoredAssembly) -> ContextQuality | None:
    """Return the quality of a recorded context; None if its text cannot be restored, because the record is damaged
    or texts of it were erased.

    Only an older context is replayed, whose request names entities and holds no completeness; its texts are read then.
    """
    request = told.assembly.request
    try:
        is_older = "completeness" not in request and named_entities(request)
        content = content_of(load_record(told.assembly)) if is_older else ""
    except (RecordDamaged, RecordErased):
        return None
    outcomes = recorded_outcomes(told.inputs.profile.sections, told.assembly.sources, told.decisions)
    return context_quality(told.assembly, content, told.decisions, coverage=source_coverage(outcomes.values()))


def answered_quality(assembly: Assembly, content: str, decisions: Sequence[Decision]) -> ContextQuality:
    """Return the quality of a context with this text, whose scopes are those of its recorded profile."""
    scopes = {
        section["key"]: None if section["shape"] == "note" else scope_of(section["source"], section["key"])
        for section in assembly.profile["sections"]
    }
    outcomes = scope_outcomes(scopes, assembly.sources, decisions)
    return context_quality(assembly, content, decisions, coverage=source_coverage(outcomes.values()))


def context_quality(
    assembly: Assembly, content: str, decisions: Sequence[Decision], *, coverage: float = 1.0
) -> ContextQuality:
    """Return the quality of a context with this text; `coverage` is its source_coverage."""
    return measure_quality(
        decisions=decisions,
        content=content,
        request=assembly.request,
        coverage=coverage,
        disputed=disputed_refs(assembly, decisions),
    )


def disputed_refs(assembly: Assembly, decisions: Sequence[Decision]) -> frozenset[str]:
    """Return the refs of the items in unresolved conflicts, and of included items that repeat or contradict another."""
    return frozenset(ref for one in unresolved_conflicts(assembly, decisions) for ref in (one.left, one.right))


def unresolved_conflicts(assembly: Assembly, decisions: Sequence[Decision]) -> list[Reconciliation]:
    """Return the recorded conflicts of which a side is included, and that nobody and nothing has resolved.

    A minor conflict of which one side was left out is resolved. There is none with an item that is archived or
    superseded, or that a rule, the request or its origin excludes.
    """
    recorded = assembly.request.get("reconciliations")
    if not recorded:
        return []
    sensitivity = assembly.profile.get("conflict_sensitivity", 1.0)
    included = {decision.ref for decision in decisions if decision.included}
    without_conflict = refs_without_conflict(decisions)
    return [
        one
        for one in map(Reconciliation.from_dict, recorded)
        if not one.resolution
        and not included.isdisjoint((one.left, one.right))
        and without_conflict.isdisjoint((one.left, one.right))
        and (one.strategy(sensitivity) == "flag" or included.issuperset((one.left, one.right)))
    ]


def recorded_outcomes(
    sections: Iterable[Section], reports: Iterable[Mapping[str, Any]], decisions: Sequence[Decision]
) -> dict[MemoryScope, ScopeOutcome]:
    """Return what became of each scope. The note about failed sources is no memory, so it covers no scope."""
    scopes = {section.key: None if section.shape == "note" else section.scope for section in sections}
    return scope_outcomes(scopes, reports, decisions)


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
