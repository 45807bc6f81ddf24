"""Assemblies as JSON documents, the same from every endpoint."""

from collections.abc import Sequence
from typing import Any

from assembly.cache import Answer
from assembly.components import components_of, considered_of
from assembly.engine.profile import Section
from assembly.engine.reasons import sentence
from assembly.engine.types import Decision
from assembly.messages import messages_of
from assembly.models import Assembly
from assembly.warnings import warnings_of, warnings_read


def summary_documents(assemblies: Sequence[Assembly]) -> list[dict[str, Any]]:
    """What lists show of them."""
    warnings_read(assemblies)
    return [summary_document(one) for one in assemblies]


def summary_document(assembly: Assembly) -> dict[str, Any]:
    """What lists show of an assembly."""
    return {
        "id": assembly.id,
        "created": assembly.created,
        "agent": assembly.agent_slug,
        "team": assembly.team_slug or None,
        "topic": assembly.topic,
        "profile": assembly.profile_name,
        "tokenizer": assembly.tokenizer,
        "now": assembly.now,
        "budget": assembly.budget,
        "tokens": assembly.tokens,
        "truncated": assembly.truncated,
        "warnings": [{"code": warned.code, "message": warned.message} for warned in warnings_of(assembly)],
        "parent": assembly.parent,
        "repeats": assembly.decided_in,
        "sha256": bytes(assembly.sha256).hex(),
    }


def assembly_document(answer: Answer) -> dict[str, Any]:
    """An assembly whole; with a list of messages where that was asked for."""
    assembly, asked = answer.assembly, answer.assembly.request
    form = asked.get("format", "markdown")
    return {
        **summary_document(assembly),
        "content": answer.content,
        "format": form,
        **({"messages": messages_of(answer)} if form == "messages" else {}),
        "components": components_of(answer),
        "sections": [_section_document(section, answer.decisions) for section in assembly.sections],
        "strategy": assembly.profile,
        "metadata": {
            "query": asked.get("query", assembly.topic),
            "signals": asked.get("signals"),
            **considered_of(assembly.sources),
            "considered": len(answer.decisions),
            "included": len(answer.decisions) - assembly.left_out,
            "left_out": assembly.left_out,
            "sources": [_source_document(report) for report in assembly.sources],
            "quality": asked.get("quality"),
            "summaries": asked.get("summaries"),
            "rules": [_fired(rule) for rule in asked.get("rules", ())],
            "unreadable_rules": asked.get("unreadable_rules", []),
            "assembly_ms": assembly.assembly_ms,
        },
    }


def _source_document(report: dict[str, Any]) -> dict[str, Any]:
    # Older records have no times but the duration, and do not count what was left out.
    return {"started_ms": 0, "deadline_ms": None, "code": None, "fault": "", "left_out": 0, **report}


def _fired(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: rule[name] for name in ("name", "version", "scope", "did")}


def _section_document(section: dict[str, Any], decisions: Sequence[Decision]) -> dict[str, Any]:
    included = [decision for decision in decisions if decision.section == section["key"] and decision.included]
    return {
        **{name: section[name] for name in ("layer", "label", "tokens", "cap", "status")},
        "items": [{"ref": item.ref, "code": item.code, "tokens": item.tokens} for item in included],
    }


def decision_document(decision: Decision, position: int, section: Section) -> dict[str, Any]:
    """A decision of its section with its reason in words. `position`: its place in the order of deciding, from 0."""
    return {
        "position": position,
        "ref": decision.ref,
        "section": decision.section,
        "source": section.source,
        "code": decision.code,
        "included": decision.included,
        "reason": sentence(decision, section.label),
        "rank": decision.rank,
        "score": decision.score,
        "signals": dict(decision.signals),
        "tokens": decision.tokens,
        "tokens_full": decision.tokens_full,
        "detail": decision.detail,
    }


def fate_document(decision: Decision | None) -> dict[str, Any] | None:
    """What became of a candidate in one of two contexts; None where it was not considered."""
    if decision is None:
        return None
    return {name: getattr(decision, name) for name in ("section", "code", "included", "rank", "score", "tokens")}
