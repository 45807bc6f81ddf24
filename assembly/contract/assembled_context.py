"""The answer to a MemoryRequest.v0 is built from an assembly and the request alone, so it can be built again.

Whether the assembly was just made or is read from its record: the same values give the same bytes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from msgspec import structs

from assembly.contexts.documents import build_messages, source_document
from assembly.contexts.recorded_cost import cost_document
from assembly.contexts.second_round_account import second_round_document
from assembly.contract.translation import requested_scopes
from assembly.engine.assemble import coherence_of
from assembly.engine.codes import Code, SourceCode, WarningCode
from assembly.engine.priority import PRIORITY, PRIORITY_PREFIX
from assembly.engine.profile import Profile, Section
from assembly.engine.quality import ScopeOutcome, source_coverage
from assembly.engine.ranking import decision_relevance
from assembly.engine.reconciliation import CONFIDENCES, UNCHECKED, Reconciliation, Strategy, outcome_of
from assembly.engine.scopes import SCOPE_LAYERS, SCOPES, SOURCE_SCOPES, MemoryScope
from assembly.engine.types import Candidate, Decision, Level, field_values
from assembly.models import Assembly
from assembly.records.recorded_quality import context_quality
from assembly.records.warnings import UNREAD_CONFLICTS, flagged_among, warnings_of

SHORTER_LEVELS = {"macro", "micro"}
"""Levels that are shorter than the whole text. If a request prefers one, its items are meant to be short."""
TRIM_CODES = {
    *(Code.TRUNCATED, Code.COMPACTED, Code.SUMMARISED),
    *(Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET),
}
"""Codes of items that were cut, shortened or left out for want of room."""
MEASURES = ("relevance", "recency", "credibility", "coherence")


@dataclass(frozen=True, slots=True)
class AnsweredAssembly:
    """An answered assembly has what the answer needs: row, text, profile, and the decision on each candidate."""

    assembly: Assembly
    content: str
    profile: Profile
    decided: Sequence[tuple[Decision, Candidate]]
    """Each decision with its candidate, in the order of deciding."""


def assembled_context(memory_request: Mapping[str, Any], answered: AnsweredAssembly) -> dict[str, Any]:
    """Return the AssembledContext.v0 of the assembly that was made for the valid request, as JSON values."""
    assembly, sections = answered.assembly, {section.key: section for section in answered.profile.sections}
    trims = trims_of(answered.profile, [decision for decision, _ in answered.decided])
    coverage = _coverage(set(requested_scopes(memory_request)), assembly.sources, answered.decided, sections)
    return {
        "request_id": memory_request["request_id"],
        "fragments": fragments_of(answered.content, answered.decided, sections),
        "metadata": {
            "total_tokens": assembly.tokens,
            "assembly_time_ms": assembly.assembly_ms,
            **_measures(answered, coverage.values()),
            "assembly": str(assembly.id),
            "agent": assembly.agent_slug,
            "team": assembly.team_slug or None,
            "profile": assembly.profile_name,
            "tokenizer": assembly.tokenizer,
            "sha256": bytes(assembly.sha256).hex(),
            "overrun": WarningCode.BUDGET_EXCEEDED in assembly.warnings,
            "warnings": _warning_documents(assembly, trims),
            "trims": trims,
            **conflict_documents(answered),
            "coverage": coverage,
            "sources": [_source_document(report) for report in assembly.sources],
            **_second_round(assembly),
            **_cost(assembly),
            **_whole_text(memory_request.get("format", "fragments"), answered),
        },
    }


def fragments_of(
    content: str, decided: Iterable[tuple[Decision, Candidate]], sections: Mapping[str, Section]
) -> list[dict[str, Any]]:
    """Return what is in the content as fragments, in the order of the text. Their token costs add up to the whole."""
    included = sorted((one for one in decided if one[0].included), key=lambda one: one[0].start or 0)
    return [_fragment(content, decision, candidate, sections[decision.section]) for decision, candidate in included]


def _fragment(content: str, decision: Decision, candidate: Candidate, section: Section) -> dict[str, Any]:
    scope, signals = _scope_of(section), dict(decision.signals)
    return {
        "id": decision.ref,
        "content": content[decision.start : decision.end],
        "source_layer": scope,
        "layer": SCOPE_LAYERS[scope] if scope else None,
        "lod": level_of(decision),
        "priority_score": _priority(decision, section, signals),
        "token_cost": decision.tokens,
        "metadata": {
            **{name: _clamped(_measure(signals, name)) for name in MEASURES},
            "similarity": _clamped(signals.get("similarity")),  # which the quality of the whole is made of
            "created_at": _moment_of(candidate),
            "origin": candidate.origin,
            "section": section.key,
        },
    }


def _scope_of(section: Section) -> MemoryScope | None:
    """Return the scope of the section's items. The note about failed sources is no memory, so it covers no scope."""
    return None if section.shape == "note" else section.scope


def level_of(decision: Decision) -> Level:
    """Return the level of detail of an included item; a summary that is not one of its levels counts as micro."""
    level: Level = decision.detail.get("lod") or ("micro" if decision.code is Code.SUMMARISED else "atomic")
    return level


def _measure(signals: Mapping[str, float], name: str) -> float | None:
    """Return a measure of a block, or of an item with an order of its own; None if it was not measured."""
    return signals.get(f"{PRIORITY_PREFIX}{name}", signals.get(name))


def _priority(decision: Decision, section: Section, signals: Mapping[str, float]) -> float:
    known = decision.score if section.shape == "blocks" else signals.get(PRIORITY)
    return _clamped(decision_relevance(decision, section.shape) if known is None else known) or 0.0


def _clamped(measure: float | None) -> float | None:
    return None if measure is None else min(1.0, max(0.0, float(measure)))


def _moment_of(candidate: Candidate) -> str | None:
    if candidate.occurred_at:
        return candidate.occurred_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return candidate.date.isoformat() if candidate.date else None


def trims_of(profile: Profile, decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    """Return each item that was cut, shortened or left out for want of room, in the order of deciding."""
    return [
        {
            "id": decision.ref,
            "section": decision.section,
            "code": str(decision.code),
            "token_cost_full": decision.tokens_full,
            "token_cost": decision.tokens,
            "steps": _steps_of(decision),
        }
        for decision in decisions
        if decision.code in TRIM_CODES and not _is_preferred_level(profile, decision)
    ]


def conflict_documents(answered: AnsweredAssembly) -> dict[str, Any]:
    """Return how the conflicts between candidates were handled, as a whole and each by itself.

    The whole agrees with the warnings: it is flagged if and only if they tell of a flagged or an unchecked conflict.
    """
    sensitivity, decisions = answered.profile.conflict_sensitivity, [decision for decision, _ in answered.decided]
    recorded = answered.assembly.request.get("reconciliations", ())
    known = [Reconciliation.from_dict(one) for one in recorded]
    included = {decision.ref for decision in decisions if decision.included}
    flagged = flagged_among(known, answered.assembly, decisions, sensitivity)
    outcome = UNCHECKED if _is_unchecked(answered, decisions) else outcome_of(known, flagged, sensitivity)
    return {
        "conflict_resolution": structs.asdict(outcome),
        "conflicts": [_conflict_document(one, one.strategy(sensitivity), included) for one in known],
    }


def _is_unchecked(answered: AnsweredAssembly, decisions: Iterable[Decision]) -> bool:
    """Return whether conflicts could not be read.

    Older records do not say so: there, COHERENCE_FAILURE is about conflicts if the coherence is not below its least.
    """
    if answered.assembly.request.get(UNREAD_CONFLICTS):
        return True
    is_failed = WarningCode.COHERENCE_FAILURE in answered.assembly.warnings
    return is_failed and coherence_of(decisions) >= answered.profile.coherence_min


def _conflict_document(one: Reconciliation, strategy: Strategy, included: Collection[str]) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "left": one.left,
        "right": one.right,
        "cue": one.cue,
        "severity": one.severity,
        "strategy": strategy,
        "confidence": CONFIDENCES[strategy],
        "reasoning": one.reasoning(strategy),
        "included": [ref for ref in (one.left, one.right) if ref in included],
    }


def _steps_of(decision: Decision) -> list[dict[str, Any]]:
    """Return how the item was shortened: the overflow steps, or its level with the tokens of the whole and of it."""
    steps = [dict(step) for step in decision.detail.get("steps", ())]
    level, costs = decision.detail.get("lod"), decision.detail.get("levels", {})
    if level in SHORTER_LEVELS and not steps:
        return [{"step": level, "before": costs["atomic"], "after": costs[level]}]
    return steps


def _is_preferred_level(profile: Profile, decision: Decision) -> bool:
    return profile.lod in SHORTER_LEVELS and decision.detail.get("lod") == profile.lod


def _coverage(
    requested: set[MemoryScope],
    reports: Sequence[Mapping[str, Any]],
    decided: Sequence[tuple[Decision, Candidate]],
    sections: Mapping[str, Section],
) -> dict[str, dict[str, Any]]:
    """Return how many items of each scope were returned and included, and its failed sources, by its name."""
    found = [(_scope_of(sections[decision.section]), decision.included) for decision, _ in decided]
    return {
        scope: {
            "layer": SCOPE_LAYERS[scope],
            "asked": scope in requested,
            "returned": sum(found_scope == scope for found_scope, _ in found),
            "in": sum(found_scope == scope and included for found_scope, included in found),
            "failed": [report["name"] for report in mine if report.get("code")],
            "deadline_ms": max((report["deadline_ms"] for report in mine if report.get("deadline_ms")), default=None),
        }
        for scope in SCOPES
        for mine in [[report for report in reports if _scope_of_report(report) == scope]]
    }


def _measures(answered: AnsweredAssembly, scopes: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the measures of quality by name; `scopes` are the values of the coverage."""
    outcomes = [ScopeOutcome(one["asked"], one["returned"], one["in"], len(one["failed"])) for one in scopes]
    decisions = [decision for decision, _ in answered.decided]
    coverage = source_coverage(outcomes)
    return field_values(context_quality(answered.assembly, answered.content, decisions, coverage=coverage))


def _scope_of_report(report: Mapping[str, Any]) -> MemoryScope | None:
    return SOURCE_SCOPES.get(report["name"].partition(":")[0])


def _source_document(report: dict[str, Any]) -> dict[str, Any]:
    return {"name": report["name"], "source_layer": _scope_of_report(report), **source_document(report)}


def _second_round(assembly: Assembly) -> dict[str, Any]:
    """Return the member with the account of a second round, if one was needed."""
    account = second_round_document(assembly)
    return {} if account is None else {"second_round": account}


def _cost(assembly: Assembly) -> dict[str, Any]:
    """Return the member with the cost, which older records do not have."""
    cost = cost_document(assembly)
    return {} if cost is None else {"cost": cost}


def _warning_documents(assembly: Assembly, trims: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the warnings, each with the sources that it is about; what was trimmed is the first of them."""
    recorded = [
        {"code": one.code, "message": one.message, "sources": _failed_sources(assembly, one.code)}
        for one in warnings_of(assembly)
    ]
    if not trims or WarningCode.BUDGET_EXCEEDED in assembly.warnings:
        return recorded
    left_out = sum(not trim["token_cost"] for trim in trims)
    message = (
        f"The token budget had no room for everything: {len(trims) - left_out} shortened, {left_out} left out. "
        "metadata.trims names them."
    )
    return [{"code": str(WarningCode.BUDGET_EXCEEDED), "message": message, "sources": []}, *recorded]


def _failed_sources(assembly: Assembly, code: str) -> list[str]:
    if code not in set(SourceCode):
        return []
    return [report["name"] for report in assembly.sources if report.get("code") == code]


def _whole_text(form: str, answered: AnsweredAssembly) -> dict[str, Any]:
    """Return the members with the whole text, as far as its `format` asks for it."""
    if form == "fragments":
        return {}
    content, assembly = answered.content, answered.assembly
    if form == "markdown":
        return {"content": content}
    decisions = [decision for decision, _ in answered.decided]
    return {
        "content": content,
        "messages": build_messages(content, assembly.profile["sections"], assembly.sections, decisions),
    }
