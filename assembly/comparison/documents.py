"""These JSON documents of comparisons are the same for every endpoint that compares."""

from collections.abc import Mapping
from typing import Any

from assembly.comparison.causes import Cause, cause_sentence
from assembly.comparison.diff_sentences import count_sentence, side_warnings
from assembly.comparison.explain import ExplainedComparison
from assembly.comparison.side_by_side import ComparedContext, SideBySide
from assembly.contexts.documents import decision_summary_document
from assembly.engine.diff import DecisionChange, SectionChange
from assembly.engine.reasons import decision_sentence
from assembly.engine.types import SectionResult
from teams.api.serializers import actor_document
from teams.text_diff.difference import diff_texts
from teams.versioned_text.serializers import hunk_document


def section_document(section: SectionChange) -> dict[str, Any]:
    """Return the changes of a section as JSON."""
    told = section.section
    return {
        **{name: getattr(told, name) for name in ("key", "layer", "label")},
        "same": section.is_same,
        "before": _state_document(section.before),
        "after": _state_document(section.after),
    }


def _state_document(section: SectionResult | None) -> dict[str, Any] | None:
    if section is None:
        return None
    return {name: getattr(section, name) for name in ("tokens", "status", "included", "considered")}


def change_document(change: DecisionChange, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the change of an item as JSON. `labels` are the headings of sections by key."""
    return {
        "ref": change.decision.ref,
        "effect": change.effect,
        "truncated": change.is_cut,
        "reason": decision_sentence(change.after, labels[change.after.section]) if change.after else None,
        "before": decision_summary_document(change.before),
        "after": decision_summary_document(change.after),
    }


def comparison_document(beside: SideBySide, *, with_content: bool) -> dict[str, Any]:
    """Return the differences of texts, decisions and parameters as JSON; with both texts if requested."""
    comparison = beside.comparison
    labels = labels_of(beside)
    texts = diff_texts(beside.before.content, beside.after.content)
    return {
        "summary": count_sentence(beside),
        "same": beside.is_same,
        "before": _side_document(beside.before, with_content=with_content),
        "after": _side_document(beside.after, with_content=with_content),
        "settings": [
            {"name": one.name, "section": one.of or None, "before": one.before, "after": one.after}
            for one in beside.settings
        ],
        "sections": [section_document(section) for section in comparison.sections],
        "changes": [change_document(change, labels) for change in comparison.changes],
        "difference": {
            "changes": len(texts.changes),
            "words_added": texts.words_added,
            "words_removed": texts.words_removed,
            "hunks": [hunk_document(part) for part in texts.changes],
        },
        "missing_sources": sorted(beside.missing),
    }


def explained_document(found: ExplainedComparison, *, with_content: bool) -> dict[str, Any]:
    """Return the differences as JSON, each change with its causes, and all edits among the causes once."""
    document = comparison_document(found.beside, with_content=with_content)
    changes = [
        {**told, "causes": [cause_document(cause) for cause in causes]}
        for told, (_, causes) in zip(document["changes"], found.changes, strict=True)
    ]
    return {**document, "changes": changes, "causes": [cause_document(cause) for cause in found.causes]}


def cause_document(cause: Cause) -> dict[str, Any]:
    """Return a cause as JSON: its kind for programs, its sentence for people."""
    return {
        "kind": cause.kind,
        "message": cause_sentence(cause),
        "ref": cause.ref or None,
        "name": cause.name or None,
        "before": cause.before,
        "after": cause.after,
        "changed_by": actor_document(cause.by_ref, cause.by) if cause.at else None,
        "changed_at": cause.at,
        "note": cause.note,
    }


def labels_of(beside: SideBySide) -> dict[str, str]:
    """Return the headings of the sections of both contexts, by key."""
    return {
        section.key: section.label
        for one in beside.comparison.sections
        for section in (one.before, one.after)
        if section is not None
    }


def _side_document(side: ComparedContext, *, with_content: bool) -> dict[str, Any]:
    request, profile = side.inputs.request, side.inputs.profile
    return {
        "tokens": side.tokens,
        "budget": request.budget,
        "tokenizer": request.tokenizer,
        "profile": profile.name,
        "profile_version": profile.version,
        "topic": request.topic,
        "now": request.now,
        "rules": [rule.label for rule in request.rules],
        "sha256": side.sha256,
        "warnings": [{"code": code, "message": message} for code, message in side_warnings(side)],
        **({"content": side.content} if with_content else {}),
    }
