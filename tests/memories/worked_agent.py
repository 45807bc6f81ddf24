"""An agent that has worked for a while: things of every kind, as many as a test wants, the same each time."""

import datetime
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from memories.models import Chunk, Document, Entity, Event, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.services.agent_item import agent_items_create
from memories.services.task_stack import task_pop, task_push
from teams.principal import Principal

BEGIN = datetime.datetime(2026, 11, 19, 8, 0, tzinfo=datetime.UTC)
TYPES = ("person", "project", "place", "document", "service", "company", "event", "idea")
FIRST = ("Ana", "Bruno", "Carla", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas")
LAST = ("Winter", "Almeida", "Okafor", "Lindqvist", "Moreau", "Tanaka", "Novak", "Schreiber")
WAYS = ("knows", "works_on", "part_of", "lives_in", "wrote", "depends_on", "mentions")


@dataclass(frozen=True, slots=True)
class Kept:
    """One thing of each kind."""

    session: Session
    event: Event
    entity: Entity
    relation: Relation
    pattern: Pattern
    thread: Thread
    tool: Tool
    document: Document
    task: TaskFrame


def keep(agent: Agent, principal: Principal, *, entities: int = 6, relations: int = 8, events: int = 12) -> Kept:
    """Things of every kind. Entities are related like a tree with further branches."""

    def make(model: Any, facts: list[dict[str, Any]]) -> list[Any]:
        return list(agent_items_create(model=model, agent=agent, facts=facts, principal=principal))

    sessions = make(Session, [_session(number) for number in range(3)])
    happened = make(Event, [_event(number, sessions) for number in range(events)])
    known = make(Entity, [_entity(number) for number in range(entities)])
    related = make(Relation, _relations(known, relations))
    patterns = make(Pattern, [_pattern(number) for number in range(4)])
    threads = make(Thread, [_thread(number) for number in range(3)])
    tools = make(Tool, [_tool(name) for name in ("send_mail", "search_flights")])
    documents = make(Document, [_document(path) for path in ("docs/plan.md", "stage/lights.py")])
    _split(documents[0])
    task = _tasks(agent, sessions[0], principal)
    return Kept(
        sessions[0], happened[-1], known[0], related[0], patterns[0], threads[0], tools[0], documents[0], task
    )  # fmt: skip


def _session(number: int) -> dict[str, Any]:
    titles = ("Plan the spring tour", "Answer the letters", "Repair the light desk")
    began = BEGIN + datetime.timedelta(hours=9 * number)
    ended = began + datetime.timedelta(hours=3) if number != 2 else None
    return {"title": titles[number], "started_at": began, "ended_at": ended, "external_id": f"run-{number}"}


def _event(number: int, sessions: list[Session]) -> dict[str, Any]:
    desk = {"message": "The desk does not answer on port 9000", "stack": "desk.py:41 connect\ndesk.py:12 open"}
    asked = {"role": "user", "text": "Can we move the <b>premiere</b> to Friday? The hall is free then."}
    ran = {"command": "make cue-sheet SHOW=spring", "stdout": "cue 1\ncue 2\n" * 6, "exit_code": 0}
    contents: tuple[tuple[str, dict[str, Any], str, str], ...] = (
        ("message", asked, "", ""),
        ("file_read", {"path": "docs/tour/plan.md"}, "", ""),
        ("tool_result", {"result": "3 flights found\nLIS 08:40\nOPO 11:15\nFAO 17:05"}, "success", "search_flights"),
        ("shell_exec", ran, "success", ""),
        ("file_write", {"path": "docs/tour/plan.md", "diff": "-Thursday\n+Friday"}, "success", ""),
        ("error", desk, "failure", ""),
        ("checked_in", {"hall": "north", "seats": 240}, "", ""),
    )  # fmt: skip
    kind, content, outcome, tool = contents[number % len(contents)]
    session = sessions[number * 3 // 40 % 3] if number % 11 else None
    at = BEGIN + datetime.timedelta(minutes=11 * number)
    return {
        "type": kind, "content": content, "outcome": outcome, "tool": tool, "session": session, "occurred_at": at
    }  # fmt: skip


def _entity(number: int) -> dict[str, Any]:
    type_ = TYPES[(number * number + number // 3) % len(TYPES)]
    name = f"{FIRST[number % len(FIRST)]} {LAST[number // len(FIRST) % len(LAST)]}"
    facts = {"person": name, "project": f"Production {number}", "place": f"Hall {number}"}
    return {
        "type": type_,
        "name": facts.get(type_, f"{type_.title()} {number}")
        + (f" {number}" if type_ == "person" and number > 79 else ""),
        "aliases": [f"{type_[:1].upper()}{number}"],
        "properties": {"since": 2000 + number % 26, "active": number % 3 == 0, "city": "Porto"},
        "salience": round(1 / (1 + number * 0.05), 3),
    }


def _relations(entities: list[Entity], count: int) -> list[dict[str, Any]]:
    found: dict[tuple[Any, str, Any], dict[str, Any]] = {}
    number = 0
    while len(found) < count and number < 20 * count:
        number += 1
        source = entities[number % len(entities)]
        target = entities[int(number % len(entities) * (number * 0.618 % 1) ** 2)]
        way = WAYS[number % len(WAYS)]
        if source is not target:
            found[source.pk, way, target.pk] = {
                "source": source, "target": target, "type": way, "weight": number % 10 / 10, "directed": number % 5 != 0
            }  # fmt: skip
    return list(found.values())


def _pattern(number: int) -> dict[str, Any]:
    return {
        "name": ("Ask before you book", "Read the plan first", "Call the venue", "Write it down")[number],
        "guidance": "Ask which dates are fixed.\nThen look for flights, and only book once somebody has agreed.",
        "keywords": ["flight", "book", "tour"][: number or 3],
        "intents": ["action"],
        "applications": (10, 3, 1, 0)[number],
        "successes": (8, 0, 1, 0)[number],
    }


def _thread(number: int) -> dict[str, Any]:
    return {
        "title": ("The premiere moves to Friday", "Letters of thanks", "The broken desk")[number],
        "summary": "The hall agreed; the caterer has not answered yet.",
        "status": "resolved" if number == 1 else "active",
    }


def _tool(name: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        "required": ["to"],
    }
    return {"name": name, "description": "Does what its name says, and nothing else.", "schema": schema}


def _document(path: str) -> dict[str, Any]:
    text = "".join(f"## Week {week}\n\nRehearse act {week} on the *north* stage.\n\n" for week in range(1, 6))
    return {"path": path, "content": text, "language": path.rpartition(".")[2], "is_open": path.endswith(".md")}


def _split(document: Document) -> None:
    weeks = [at for at in range(len(document.content)) if document.content.startswith("## Week", at)]
    for position, (start, end) in enumerate(zip(weeks, [*weeks[1:], len(document.content)], strict=True)):
        text = document.content[start:end].rstrip()
        Chunk.objects.create(
            document=document, agent_id=document.agent_id, document_version=document.version, position=position,
            start=start, end=start + len(text), line=document.content.count("\n", 0, start) + 1, text=text,
            embedding_model="test",
        )  # fmt: skip
    Document.objects.filter(pk=document.pk).update(split_version=document.version)


def _tasks(agent: Agent, session: Session, principal: Principal) -> TaskFrame:
    for stack, goals in (
        (None, ("Prepare the spring tour", "Find halls")),
        (session, ("Plan the tour", "Book flights")),
    ):
        for goal in goals:
            task_push(agent=agent, session=stack, goal=goal, principal=principal)
        task_pop(agent=agent, session=stack, result="Three halls are free in May.", principal=principal)
    return task_push(agent=agent, session=None, goal="Ask the caterer", principal=principal)
