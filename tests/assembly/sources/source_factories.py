"""An agent with something in its stores, and a source asked on its own."""

import datetime
from typing import Any

import numpy as np

from agents.models import Agent
from agents.services import agent_create
from assembly.engine.profile import Section
from assembly.engine.query_signals import parse_signals
from assembly.engine.types import Candidate
from assembly.pipeline.read_plan import NEED_READERS
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, SourceResult
from memories.embeddings.active_model import EmbeddingModel
from memories.embeddings.vectors import QueryVector
from memories.embeddings.wordllama import DIMENSIONS, MODEL_NAME, embed
from memories.models import Chunk, Document, Entity, Event, Pattern, Relation, Session, TaskFrame, Tool
from tests.assembly.conftest import NOW

HOUR = datetime.timedelta(hours=1)
STRANGER = "stranger"
BUNDLED = EmbeddingModel(MODEL_NAME, DIMENSIONS, "embedding")


def gather_context(agent: Agent, topic: str = "", **facts: Any) -> GatherContext:
    """What the service would hand over for the topic."""
    vector = facts.pop("vector", embed([topic])[0] if topic.strip() else None)
    direction = None if vector is None else QueryVector(topic, BUNDLED, vector)
    return GatherContext(
        agent=agent,
        team=facts.pop("team_of", None),
        vector=direction,
        now=NOW,
        topic=topic,
        signals=parse_signals(topic),
        **facts,
    )


def completed_for(gather_context: GatherContext, *sources: str) -> GatherContext:
    """The situation as these sources get it."""
    for need, found in NEED_READERS.items():
        if any(need in SOURCES[source].needs for source in sources):
            gather_context = found(gather_context)
    return gather_context


def ask(source: str, gather_context: GatherContext, *keys: str) -> SourceResult:
    """What the source returns for sections of these keys; one named after it unless given."""
    sections = [Section(key, key, "L6", source, "blocks") for key in keys or (source,)]
    return SOURCES[source].gather(completed_for(gather_context, source), sections)


def found(source: str, gather_context: GatherContext, *keys: str) -> list[Candidate]:
    return list(ask(source, gather_context, *keys).candidates)


def texts(source: str, gather_context: GatherContext, *keys: str) -> list[str]:
    return [candidate.text for candidate in found(source, gather_context, *keys)]


def refs(source: str, gather_context: GatherContext, *keys: str) -> list[str]:
    return [candidate.ref for candidate in found(source, gather_context, *keys)]


def stranger() -> Agent:
    """Another agent, whose things are nobody else's business."""
    return Agent.objects.filter(slug=STRANGER).first() or agent_create(slug=STRANGER, name="Stranger")


def session(agent: Agent, hours_ago: float = 1) -> Session:
    return Session.objects.create(agent=agent, started_at=NOW - hours_ago * HOUR)


def event(agent: Agent, hours_ago: float = 0, type: str = "message", **facts: Any) -> Event:  # noqa: A002 - its name
    content = facts.pop("content", {"text": f"{hours_ago} hours ago"})
    return Event.objects.create(
        agent=agent, type=type, content=content, size=20, occurred_at=NOW - hours_ago * HOUR, **facts
    )


def entity(agent: Agent, name: str, salience: float = 0.5, **facts: Any) -> Entity:
    return Entity.objects.create(agent=agent, name=name, salience=salience, type=facts.pop("type", "person"), **facts)


def relation(source: Entity, target: Entity, weight: float = 0.5, **facts: Any) -> Relation:
    return Relation.objects.create(
        agent=source.agent, source=source, target=target, weight=weight, type=facts.pop("type", "knows"), **facts
    )


def pattern(agent: Agent, name: str, successes: int = 0, applications: int = 0, **facts: Any) -> Pattern:
    return Pattern.objects.create(
        agent=agent, name=name, guidance="Do it.", successes=successes, applications=applications, **facts
    )


def document(agent: Agent, path: str, hours_ago: float = 48, **facts: Any) -> Document:
    made = Document.objects.create(agent=agent, path=path, **facts)
    Document.objects.filter(pk=made.pk).update(updated=NOW - hours_ago * HOUR)
    return made


def chunk(document: Document, text: str, position: int = 0) -> Chunk:
    return Chunk.objects.create(
        document=document,
        agent=document.agent,
        document_version=document.version,
        position=position,
        start=0,
        end=len(text),
        line=10 * position + 1,
        text=text,
        embedding=embed([text])[0],
        embedding_model=MODEL_NAME,
    )


def tool(agent: Agent, name: str, description: str = "", **facts: Any) -> Tool:
    [embedding] = embed([f"{name}: {description}"])
    directed = {"embedding": embedding, "embedding_model": MODEL_NAME}
    return Tool.objects.create(agent=agent, name=name, description=description, **directed, **facts)


def frame(agent: Agent, goal: str, parent: TaskFrame | None = None, **facts: Any) -> TaskFrame:
    depth = parent.depth + 1 if parent else 0
    return TaskFrame.objects.create(agent=agent, goal=goal, parent=parent, depth=depth, **facts)


def axis(number: int) -> Any:
    """The unit vector along one dimension."""
    return np.eye(1, 256, number, dtype=np.float32)[0]
