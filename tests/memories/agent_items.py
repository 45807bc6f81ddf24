"""One of everything that an agent keeps, and bodies that make more of it over REST."""

import uuid
from typing import Any

from agents.models import Agent
from memories.api.urls import ENDPOINTS
from memories.models.agent_item import AgentItem
from teams.principal import SYSTEM

NOBODY = str(uuid.UUID(int=0))

# What makes a new thing over REST. Those who named an entity here must name one that is there.
BODIES: dict[str, dict[str, Any]] = {
    "sessions": {"title": "New"},
    "events": {"type": "message", "content": {"text": "New"}},
    "entities": {"type": "Person", "name": "New"},
    "relations": {"type": "new", "source": NOBODY, "target": NOBODY},
    "patterns": {"name": "New", "guidance": "Ask first."},
    "documents": {"path": "new.md", "content": "New"},
    "threads": {"title": "New"},
    "tools": {"name": "new"},
    "tasks": {"goal": "New"},
}
PATCHES: dict[str, dict[str, Any]] = {
    "sessions": {"title": "Changed"},
    "events": {"outcome": "changed"},
    "entities": {"name": "Changed"},
    "relations": {"type": "changed"},
    "patterns": {"guidance": "Changed"},
    "documents": {"content": "Changed"},
    "threads": {"summary": "Changed"},
    "tools": {"description": "Changed"},
    "tasks": {"goal": "Changed"},
}
FACTS: dict[str, dict[str, Any]] = {
    "sessions": {"title": "Known"},
    "events": {"type": "message", "content": {"text": "Known"}},
    "entities": {"type": "Person", "name": "Known"},
    "relations": {"type": "known"},
    "patterns": {"name": "Known", "guidance": "Ask first."},
    "documents": {"path": "known.md", "content": "Known"},
    "threads": {"title": "Known"},
    "tools": {"name": "known"},
    "tasks": {"goal": "Known"},
}

# The fields that tell one thing from another, where the agent may have only one like it.
ONCE: dict[str, list[str]] = {noun.name: [] for noun in ENDPOINTS} | {
    "entities": ["name"],
    "relations": ["type"],
    "patterns": ["name"],
    "documents": ["path"],
    "tools": ["name"],
}


def things_of(agent: Agent) -> dict[str, AgentItem]:
    """A new thing of each kind, by the name that it has in addresses."""
    things: dict[str, AgentItem] = {}
    for noun in ENDPOINTS:
        facts = FACTS[noun.name]
        if noun.name == "relations":
            facts = {**facts, "source": things["entities"], "target": things["entities"]}
        [things[noun.name]] = noun.creates(agent=agent, facts=[facts], principal=SYSTEM)
    return things


def body_of(noun: str, things: dict[str, AgentItem], **changes: Any) -> dict[str, Any]:
    """A body that makes a new thing, which may hang on those that are there."""
    named = {"source": str(things["entities"].id), "target": str(things["entities"].id)} if noun == "relations" else {}
    return {**BODIES[noun], **named, **changes}
