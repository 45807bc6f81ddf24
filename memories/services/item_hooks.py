"""Entities of an agent's graph: by which names and which meaning they are found.

Patterns: how often they were applied, and with success.

Sessions: when they begin and end.

Task frames: their place in the tree of goals.

Threads: when something last happened in them.

Tools: the schema of their arguments, and the meaning by which they are found.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone
from jsonschema import Draft202012Validator, SchemaError

from memories.embeddings.vectors import embed_rows
from memories.models import Entity, Pattern, Session, TaskFrame, Thread, Tool
from memories.models.graph import names_in_queries
from memories.services.agent_item import Facts, agent_item_update, before_save, has_changes
from memories.services.batch_errors import BatchError
from memories.services.json_values import compact_json
from teams.principal import Principal


@before_save(Entity)
def prepare_entities(entities: Mapping[int, Entity]) -> Iterable[BatchError]:
    """Entities are found by their names and by the meaning of all that is known about them."""
    for entity in entities.values():
        entity.names = names_in_queries(entity.name, entity.aliases)
    embed_rows(list(entities.values()))
    return ()


@before_save(Pattern)
def prepare_patterns(patterns: Mapping[int, Pattern]) -> Iterator[BatchError]:
    """A pattern has no more successes than applications."""
    for place, pattern in patterns.items():
        if pattern.successes > pattern.applications:
            yield BatchError(place, "successes", "There are more successes than applications. Change both together.")


@before_save(Session)
def prepare_sessions(sessions: Mapping[int, Session]) -> Iterator[BatchError]:
    """A session begins now unless it says when, and ends no earlier than it began."""
    now = timezone.now()
    for place, session in sessions.items():
        session.started_at = session.started_at or now
        if session.ended_at is not None and session.ended_at < session.started_at:
            yield BatchError(place, "ended_at", "A session ends no earlier than it began. Use a later time.")


MAX_DEPTH = 100
TOO_DEEP = f"Goals are nested at most {MAX_DEPTH} deep. Pop what is done, or begin a new stack."


@before_save(TaskFrame)
def prepare_tasks(frames: Mapping[int, TaskFrame]) -> Iterator[BatchError]:
    """A frame is one deeper than its parent, in the same session."""
    parents = _parents(frames)
    for place, frame in frames.items():
        parent = parents.get(frame.parent_id)
        if parent is None:  # a root; or named but not there, which is a flaw already
            continue
        frame.depth = parent.depth + 1
        if frame.session_id is None:
            frame.session_id = parent.session_id
        if frame.session_id != parent.session_id:
            yield BatchError(place, "session", "A task belongs to the session of its parent. Name that one, or none.")
        if frame.depth >= MAX_DEPTH:
            yield BatchError(place, "parent", TOO_DEEP)


def _parents(frames: Mapping[int, TaskFrame]) -> dict[UUID | None, TaskFrame]:
    """The parents that are there, by their ids; those of other agents are not."""
    named = {frame.parent_id for frame in frames.values() if frame.parent_id is not None}
    agents = {frame.agent_id for frame in frames.values()}
    found = TaskFrame.objects.filter(agent__in=agents, id__in=named) if named else TaskFrame.objects.none()
    return {parent.id: parent for parent in found}


@before_save(Thread)
def prepare_threads(threads: Mapping[int, Thread]) -> Iterable[BatchError]:
    """A new thread was touched now unless it says when."""
    now = timezone.now()
    for thread in threads.values():
        thread.touched_at = thread.touched_at or now
    return ()


def thread_update(*, thing: Thread, expected_version: int, changes: Facts, principal: Principal) -> Thread:
    """As kept_update; a change also touches the thread, unless it says itself when that was. Raises StaleVersion."""
    touched = {"touched_at": timezone.now(), **changes} if has_changes(thing, changes) else changes
    return agent_item_update(thing=thing, expected_version=expected_version, changes=touched, principal=principal)


MAX_SCHEMA_CHARACTERS = 200_000
SCHEMAS_TOO_LARGE = (
    f"The schemas have over {MAX_SCHEMA_CHARACTERS:,} characters together. Send these tools in smaller batches."
)


@before_save(Tool)
def prepare_tools(tools: Mapping[int, Tool]) -> Iterator[BatchError]:
    """Tools are found by their names and descriptions; their schemas are JSON Schema, draft 2020-12."""
    characters = 0
    for place, tool in tools.items():
        characters += len(compact_json(tool.schema))
        if characters > MAX_SCHEMA_CHARACTERS:  # each takes its time to check
            yield BatchError(place, "schema", SCHEMAS_TOO_LARGE)
            return
        if fault := schema_problem(tool.schema):
            yield BatchError(place, "schema", fault)
    embed_rows(list(tools.values()))


def schema_problem(schema: dict[str, Any]) -> str:
    """Where the schema is none, in words; "" when it is one."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)[:200]
        at = f"At “{where}” it" if where else "It"
        return f"{at} breaks the rule “{error.validator}” of JSON Schema 2020-12. Correct the schema there."
    return ""
