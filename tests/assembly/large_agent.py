"""A large agent, for tests and benchmarks: months of events, a dense graph, a project's files. The same each time."""

import datetime
import random
from dataclasses import dataclass, field

import numpy as np
from django.db import connections
from numpy.typing import NDArray

from agents.models import Agent
from memories.embeddings.wordllama import DIMENSIONS, MODEL_NAME
from memories.models import Chunk, Document, Entity, Event, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.models.graph import names_in_queries

BATCH_ROWS = 1_000
TOPIC = "Why does AuthService fail with a login timeout?"
SUBJECTS = ["the login", "a session token", "the cache", "the report", "a refund", "the ticket shop", "the queue"]
VERBS = ["times out in", "is missing from", "was fixed in", "blocks", "is slower than", "depends on", "was moved to"]
PARTS = ["Auth", "Billing", "Ticket", "Search", "Mail", "Report", "Queue", "Cache", "Guide", "Visit"]
ROLES = ["Service", "Store", "Client", "Worker", "Index", "Gateway", "Policy", "Model", "View", "Job"]
ENTITY_TYPES = ["service", "person", "file", "concept"]
RELATION_TYPES = ["uses", "owns", "calls", "knows", "is_part_of"]
MINUTE = datetime.timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many rows of each."""

    sessions: int = 60
    events: int = 10_000
    entities: int = 2_000
    relations: int = 8_000
    documents: int = 600
    chunks: int = 5_000
    patterns: int = 300
    tools: int = 120
    threads: int = 40
    tasks: int = 200


ONE_OF_EACH = Size(
    sessions=2, events=12, entities=2, relations=1, documents=1, chunks=1, patterns=1, tools=1, threads=1, tasks=5
)
"""The least that gives every source something: events of each type in two sessions, a relation's ends, a task path."""


def fill(agent: Agent, now: datetime.datetime, size: Size | None = None) -> Session:
    """Store everything for the agent, up to `now`. Returns its last session, which has the current task."""
    filling = Filling(agent, now, size or Size())
    session = filling.sessions_and_events()
    filling.graph()
    filling.documents()
    filling.guidance()
    return session


def analyse() -> None:
    """Let the planner know what was loaded, as autovacuum does after a while."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")


@dataclass(slots=True)
class Filling:
    """The stores of one agent, filled by a chance that is the same each time."""

    agent: Agent
    now: datetime.datetime
    size: Size
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    directions: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def sessions_and_events(self) -> Session:
        """Sessions one after the other; the last has a task stack, and each event's task is that of its session."""
        started = [self.now - (self.size.sessions - number) * 400 * MINUTE for number in range(self.size.sessions)]
        sessions = [Session(agent=self.agent, title=f"Run {n}", started_at=at) for n, at in enumerate(started)]
        Session.objects.bulk_create(sessions)
        current = self._tasks(sessions[-1])
        events = [self._event(number, sessions) for number in range(self.size.events)]
        for event in events:
            event.task = current if event.session == sessions[-1] and self.chance.random() < 0.5 else None
        Event.objects.bulk_create(events, batch_size=BATCH_ROWS)
        return sessions[-1]

    def graph(self) -> None:
        """Entities, the first of which is AuthService, and relations that a few hubs have most of."""
        entities = [self._entity(number) for number in range(self.size.entities)]
        Entity.objects.bulk_create(entities, batch_size=BATCH_ROWS)
        pairs: dict[tuple[int, int], None] = {}
        while len(pairs) < self.size.relations:
            hub = min(int(self.chance.paretovariate(0.7)) - 1, len(entities) - 1)
            other = self.chance.randrange(len(entities))
            if hub != other:
                pairs[hub, other] = None
        relations = [
            Relation(
                agent=self.agent,
                source=entities[source],
                target=entities[target],
                type=self.chance.choice(RELATION_TYPES),
                weight=round(self.chance.random(), 3),
                directed=self.chance.random() < 0.8,
            )
            for source, target in pairs
        ]
        Relation.objects.bulk_create(relations, batch_size=BATCH_ROWS)

    def documents(self) -> None:
        """A project's files, every hundredth of them open, and their chunks."""
        documents = [
            Document(
                agent=self.agent,
                path=f"src/{self._name(number).lower()}_{number}.py",
                language="python",
                content=self._text(12),
                is_open=number % 100 == 0,
                split_version=1,
            )
            for number in range(self.size.documents)
        ]
        Document.objects.bulk_create(documents, batch_size=BATCH_ROWS)
        chunks = [self._chunk(documents[number % len(documents)], number) for number in range(self.size.chunks)]
        Chunk.objects.bulk_create(chunks, batch_size=BATCH_ROWS)

    def guidance(self) -> None:
        """Patterns, tools and threads."""
        size, now = self.size, self.now
        Pattern.objects.bulk_create([self._pattern(number) for number in range(size.patterns)])
        Tool.objects.bulk_create([self._tool(number) for number in range(size.tools)])
        Thread.objects.bulk_create(
            Thread(agent=self.agent, title=f"Thread {n}", summary=self._text(2), touched_at=now - n * 60 * MINUTE)
            for n in range(size.threads)
        )

    def _tasks(self, session: Session) -> TaskFrame:
        """A path of four frames, the last of them current; all others are done, beside it or below the root."""
        root = self._task(session, None, "Make the ticket shop fast and safe")
        above = self._task(session, root, "Harden the login")
        middle = self._task(session, above, "Find out why sessions end early")
        frames = [root, above, middle]
        for number in range(self.size.tasks - len(frames) - 1):
            done = self._task(session, middle if number % 2 == 0 else root, f"Step {number}", "complete")
            done.result = self._text(1)
            frames.append(done)
        current = self._task(session, middle, "Fix the login timeout in AuthService")
        TaskFrame.objects.bulk_create([*frames, current])
        return current

    def _task(self, session: Session, parent: TaskFrame | None, goal: str, status: str = "active") -> TaskFrame:
        depth = parent.depth + 1 if parent else 0
        return TaskFrame(
            agent=self.agent, session=session, parent=parent, goal=goal, status=status, depth=depth, result=""
        )

    def _event(self, number: int, sessions: list[Session]) -> Event:
        """The sessions take turns in equal runs, so that each has events of all types."""
        session = sessions[number * len(sessions) // self.size.events]
        kind, content = self._content(number)
        return Event(
            agent=self.agent,
            session=session,
            type=kind,
            content=content,
            outcome="success" if kind == "shell_exec" else "",
            tool="search_tickets" if kind == "tool_result" else "",
            size=len(str(content)),
            occurred_at=self.now - (self.size.events - number) * MINUTE,
        )

    def _content(self, number: int) -> tuple[str, dict[str, object]]:
        path = f"src/{self._name(number).lower()}_{number % 600}.py"
        match number % 6:
            case 0:
                return "tool_result", {"output": self._text(6)}
            case 1:
                return "file_read", {"path": path}
            case 2:
                return "file_write", {"path": path, "lines": self.chance.randint(1, 300)}
            case 3:
                return "shell_exec", {"command": f"pytest {path}", "stdout": self._text(3)}
            case 4:
                return "error", {"message": self._text(1), "stack": f"{path}:12\n{path}:98"}
            case _:
                return "message", {"role": "user", "text": self._text(2)}

    def _entity(self, number: int) -> Entity:
        name = f"{self._name(number)}{number // 100 or ''}"
        return Entity(
            agent=self.agent,
            type=ENTITY_TYPES[number % len(ENTITY_TYPES)],
            name=name,
            names=names_in_queries(name, []),
            properties={"language": "python", "lines": self.chance.randint(10, 900)},
            salience=round(self.chance.random(), 3),
            embedding=self._vector(),
            embedding_model=MODEL_NAME,
        )

    def _chunk(self, document: Document, number: int) -> Chunk:
        position, text = number // self.size.documents, self._text(8)
        return Chunk(
            document=document,
            agent=self.agent,
            document_version=1,
            position=position,
            start=position * 1_000,
            end=position * 1_000 + len(text),
            line=position * 20 + 1,
            text=text,
            embedding=self._vector(),
            embedding_model=MODEL_NAME,
        )

    def _pattern(self, number: int) -> Pattern:
        applications = self.chance.randint(0, 20)
        return Pattern(
            agent=self.agent,
            name=f"Pattern {number}",
            keywords=[["login", "refund", "report"][number % 3]],
            intents=["fix"] if number % 10 == 0 else [],
            entity_types=["service"] if number % 7 == 0 else [],
            guidance=self._text(2),
            applications=applications,
            successes=self.chance.randint(0, applications),
        )

    def _tool(self, number: int) -> Tool:
        return Tool(
            agent=self.agent,
            name=f"tool_{number}",
            description=self._text(1),
            schema={"type": "object", "properties": {"query": {"type": "string"}}},
            embedding=self._vector(),
            embedding_model=MODEL_NAME,
        )

    def _name(self, number: int) -> str:
        return PARTS[number // 10 % len(PARTS)] + ROLES[number % len(ROLES)]

    def _text(self, sentences: int) -> str:
        said = (
            f"{self.chance.choice(SUBJECTS)} {self.chance.choice(VERBS)} "
            f"{self.chance.choice(PARTS)}{self.chance.choice(ROLES)}, line {self.chance.randint(1, 900)}."
            for _ in range(sentences)
        )
        return "\n".join(said)

    def _vector(self) -> NDArray[np.float32]:
        """Of length 1, in a direction of its own."""
        vector = self.directions.standard_normal(DIMENSIONS)
        return (vector / np.linalg.norm(vector)).astype(np.float32)
