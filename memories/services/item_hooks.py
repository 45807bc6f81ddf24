"""These functions prepare items before they are saved, one for each kind: defaults, checks and embeddings.

They are registered for entities, patterns, sessions, task frames, threads and tools.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone
from jsonschema import Draft202012Validator, SchemaError

from memories.embeddings.vectors import embed_rows
from memories.models import Entity, Pattern, Session, TaskFrame, Thread, Tool
from memories.models.graph import names_in_queries
from memories.services.agent_item import Facts, agent_item_update, before_save, changed_fields
from memories.services.batch_errors import BatchError
from memories.services.json_values import compact_json
from teams.principal import Principal


@before_save(Entity)
def prepare_entities(entities: Mapping[int, Entity]) -> Iterable[BatchError]:
    """Compute the names and embeddings by which search finds the entities; no entity is refused."""
    for entity in entities.values():
        entity.names = names_in_queries(entity.name, entity.aliases)
    embed_rows(list(entities.values()))
    return ()


@before_save(Pattern)
def prepare_patterns(patterns: Mapping[int, Pattern]) -> Iterator[BatchError]:
    """Yield an error for each pattern with more successes than applications."""
    for place, pattern in patterns.items():
        if pattern.successes > pattern.applications:
            yield BatchError(place, "successes", "There are more successes than applications. Change both together.")


@before_save(Session)
def prepare_sessions(sessions: Mapping[int, Session]) -> Iterator[BatchError]:
    """Set the default start (now) of sessions. Yields an error for each session that ends before it starts."""
    now = timezone.now()
    for place, session in sessions.items():
        session.started_at = session.started_at or now
        if session.ended_at is not None and session.ended_at < session.started_at:
            yield BatchError(place, "ended_at", "A session ends no earlier than it began. Use a later time.")


MAX_DEPTH = 100
TOO_DEEP = f"Goals are nested at most {MAX_DEPTH} deep. Pop what is done, or begin a new stack."


@before_save(TaskFrame)
def prepare_tasks(frames: Mapping[int, TaskFrame]) -> Iterator[BatchError]:
    """Set each task frame's depth, one more than its parent's, and its session, by default its parent's.

    Yields an error for a frame in another session than its parent's, and for one that is nested too deep.
    """
    parents = _parents(frames)
    for place, frame in frames.items():
        parent = parents.get(frame.parent_id)
        if parent is None:  # a root, or a missing parent, which was reported already
            continue
        frame.depth = parent.depth + 1
        if frame.session_id is None:
            frame.session_id = parent.session_id
        if frame.session_id != parent.session_id:
            yield BatchError(place, "session", "A task belongs to the session of its parent. Name that one, or none.")
        if frame.depth >= MAX_DEPTH:
            yield BatchError(place, "parent", TOO_DEEP)


def _parents(frames: Mapping[int, TaskFrame]) -> dict[UUID | None, TaskFrame]:
    """Return the parents of the frames by id; parents that do not exist or belong to another agent are missing."""
    named = {frame.parent_id for frame in frames.values() if frame.parent_id is not None}
    agents = {frame.agent_id for frame in frames.values()}
    found = TaskFrame.objects.filter(agent__in=agents, id__in=named) if named else TaskFrame.objects.none()
    return {parent.id: parent for parent in found}


@before_save(Thread)
def prepare_threads(threads: Mapping[int, Thread]) -> Iterable[BatchError]:
    """Set the default time of the last activity (now) of threads; no thread is refused."""
    now = timezone.now()
    for thread in threads.values():
        thread.touched_at = thread.touched_at or now
    return ()


def thread_update(*, thing: Thread, expected_version: int, changes: Facts, principal: Principal) -> Thread:
    """Save a new version of the thread, and return it. A change sets `touched_at` to now, unless `changes` name a time.

    Without a difference nothing is saved. Raises StaleVersion, InvalidBatch and DuplicateInBatch.
    """
    touched = {"touched_at": timezone.now(), **changes} if changed_fields(thing, changes) else changes
    return agent_item_update(thing=thing, expected_version=expected_version, changes=touched, principal=principal)


MAX_SCHEMA_CHARACTERS = 200_000
SCHEMAS_TOO_LARGE = (
    f"The schemas have over {MAX_SCHEMA_CHARACTERS:,} characters together. Send these tools in smaller batches."
)


@before_save(Tool)
def prepare_tools(tools: Mapping[int, Tool]) -> Iterator[BatchError]:
    """Embed the tools by their names and descriptions. Yields an error for an invalid or too large JSON schema."""
    characters = 0
    for place, tool in tools.items():
        characters += len(compact_json(tool.schema))
        if characters > MAX_SCHEMA_CHARACTERS:  # the check of each schema takes time
            yield BatchError(place, "schema", SCHEMAS_TOO_LARGE)
            return
        if fault := schema_problem(tool.schema):
            yield BatchError(place, "schema", fault)
    embed_rows(list(tools.values()))


def schema_problem(schema: dict[str, Any]) -> str:
    """Return a sentence that says where the schema breaks JSON Schema 2020-12; "" where it is valid."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)[:200]
        at = f"At “{where}” it" if where else "It"
        return f"{at} breaks the rule “{error.validator}” of JSON Schema 2020-12. Correct the schema there."
    return ""
