"""What is different between two contexts, as JSON: the same from every endpoint that compares."""

from collections.abc import Mapping
from typing import Any

from assembly.api.documents import fate_document
from assembly.comparing import Change, SectionChange
from assembly.engine.reasons import sentence
from assembly.engine.types import SectionResult


def section_document(section: SectionChange) -> dict[str, Any]:
    """What becomes of one section."""
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


def change_document(change: Change, labels: Mapping[str, str]) -> dict[str, Any]:
    """What becomes of one item. `labels`: the headings of sections by their keys."""
    return {
        "ref": change.decision.ref,
        "effect": change.effect,
        "cut": change.is_cut,
        "reason": sentence(change.after, labels[change.after.section]) if change.after else None,
        "before": fate_document(change.before),
        "after": fate_document(change.after),
    }
