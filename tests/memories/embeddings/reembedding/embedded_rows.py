"""Everything that is found by its meaning, and how it stands with its vectors."""

from typing import Any

import numpy as np

from agents.models import Agent
from memories.embeddings.active_model import EmbeddingModel, read_active_model
from memories.embeddings.backfill import EMBEDDED_MODELS
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split
from memories.embeddings.vectors import embed_texts
from memories.models import Document, Entity, Tool
from memories.services import MemoryFacts, agent_items_create, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import file_save

TEXTS = ("The ferry leaves at nine.", "Tea is ready in the kitchen.", "The invoice was paid late.", "")
"""The last holds nothing that the bundled model knows."""


def kept(agent: Agent, team: Team, memories: int = 40) -> None:
    """Memories of both, entities, tools, a document in pieces, and a file of the team in passages."""
    for owner in (agent, team):
        facts = [
            MemoryFacts(kind="fact", text=f"{TEXTS[place % 4]}{f' {place}' if place % 4 < 3 else ''}")
            for place in range(memories)
        ]
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    names = [{"type": "thing", "name": name, "properties": {"colour": "red"}} for name in ("ferry", "kettle")]
    agent_items_create(model=Entity, agent=agent, facts=names, principal=SYSTEM)
    tools = [{"name": name, "description": "Finds what is asked for"} for name in ("search", "look_up")]
    agent_items_create(model=Tool, agent=agent, facts=tools, principal=SYSTEM)
    [document] = agent_items_create(
        model=Document,
        agent=agent,
        facts=[{"path": "notes.md", "content": "\n\n".join(f"# Part {part}\n\n{TEXTS[part]}" for part in range(3))}],
        principal=SYSTEM,
    )
    document_split(id_=document.id)
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content=document.content, expected_version=goals.version, author=SYSTEM.author)
    file_split(kind="team_file", id_=goals.id)


def all_rows() -> list[Any]:
    return [row for model in EMBEDDED_MODELS for row in model.objects.order_by("pk")]


def assert_all_in(space: EmbeddingModel) -> None:
    """The space is active, and every row has the vector in it that its text has."""
    assert read_active_model() == space
    rows = all_rows()
    assert {getattr(row, space.model_column) for row in rows} == {space.model}
    wanted = embed_texts(space, [row.said for row in rows], [DEFAULT_LEVEL] * len(rows))
    for row, vector in zip(rows, wanted, strict=True):
        has = getattr(row, space.slot)
        assert (has is None) == (vector is None), row.said
        assert vector is None or np.allclose(has, vector, atol=1e-5), row.said
