"""A finished context as the parts that it is made of.

Source: ContextComponent and Context.metadata of the seed "Context Assembly Specification".
"""

from typing import Any, TypedDict

from assembly.cache import Answer
from assembly.engine.scoring import relevance
from assembly.sources import SOURCES
from assembly.sources.base import Component

GONE: Component = "custom"
"""The type of components whose source this version of Dossier does not have any more."""


class ContextComponent(TypedDict):
    """A part of the text; `source` is the ref of the item that it shows."""

    type: Component
    source: str
    content: str
    tokens: int
    relevance_score: float


def components_of(answer: Answer) -> list[ContextComponent]:
    """The parts in the order of the text."""
    sections = {section["key"]: section for section in answer.assembly.profile["sections"]}
    included = sorted((decision for decision in answer.decisions if decision.included), key=lambda one: one.start or 0)
    return [
        ContextComponent(
            type=component_of(sections[decision.section]["source"]),
            source=decision.ref,
            content=answer.content[decision.start : decision.end],
            tokens=decision.tokens,
            relevance_score=relevance(decision, sections[decision.section]["shape"]),
        )
        for decision in included
    ]


def component_of(source: str) -> Component:
    """The seed's type for what the source with this name gives."""
    return SOURCES[source].component if source in SOURCES else GONE


def considered_of(reports: list[dict[str, Any]]) -> dict[str, int]:
    """How many events and entities were considered, and chunks searched."""
    counts = {report["name"]: report["count"] for report in reports}
    return {
        "events_considered": counts.get("recent_events", 0) + counts.get("tool_results", 0),
        "entities_considered": counts.get("entities", 0),
        "chunks_searched": counts.get("semantic_content", 0),
    }
