"""The four scopes of memory (seed "Memory Layer"), and the scope that each source's items belong to.

Items of an earlier scope in SCOPES precede items of a later one where their scores do not decide.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

MemoryScope = Literal["noosphere", "library", "experience", "workshop"]
"""noosphere (L1): knowledge of the whole organisation; library (L2): knowledge of the team and its project; experience
(L4): what agents have learnt; workshop (L3): what is being worked on. In the order of their precedence.
"""
SCOPES: tuple[MemoryScope, ...] = get_args(MemoryScope)

SCOPE_LAYERS: Mapping[MemoryScope, str] = MappingProxyType(
    {"noosphere": "L1", "library": "L2", "workshop": "L3", "experience": "L4"}
)
"""The seed's number of each scope."""

SOURCE_SCOPES: Mapping[str, MemoryScope] = MappingProxyType(
    {
        "organisation_files": "noosphere",
        "team_files": "library",
        "semantic_content": "library",
        "open_files": "library",
        "project_structure": "library",
        "entities": "library",
        "relations": "library",
        "threads": "library",
        "external": "library",
        "rule_inclusions": "library",
        "recent_events": "workshop",
        "tool_results": "workshop",
        "tools": "workshop",
        "task_stack": "workshop",
        "turns": "workshop",
        "additional_context": "workshop",
        "failure_note": "workshop",
        "team_memories": "experience",
        "agent_memories": "experience",
        "patterns": "experience",
        "daily_logs": "experience",
        "agent_files": "experience",
    }
)
"""The scope of each source's items."""

IDENTITY_KEYS = frozenset({"identity", "instructions"})
"""Sections of agent files that say who the agent is; they are no memory and belong to no scope."""


def scope_of(source: str, key: str) -> MemoryScope | None:
    """Return the scope of the items of a section, given its source and key; None if they belong to none."""
    if source == "agent_files" and key in IDENTITY_KEYS:
        return None
    return SOURCE_SCOPES.get(source)
