"""The kinds of records in an import folder have serializers for their lines: the API's, but references are no ids.

Limits and messages are the API's own, so an import refuses exactly what the API refuses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from config.http.serializers import ExactText, Line, StrictSerializer
from memories.api.events import EVENTS, SESSIONS, EventCreateSerializer
from memories.api.fields import MAX_TEXT_CHARACTERS, type_field
from memories.api.graph import ENTITIES, MAX_NAME_CHARACTERS, RELATIONS, RelationCreateSerializer
from memories.api.item_kinds import ItemEndpoint
from memories.api.patterns import PATTERNS
from memories.api.task_stack import TASKS, TaskCreateSerializer
from memories.api.threads import THREADS
from memories.api.tools import TOOLS
from memories.services.item_hooks import MAX_SCHEMA_CHARACTERS

LINES_PER_BATCH = 1_000
TOOLS_PER_BATCH = MAX_SCHEMA_CHARACTERS // MAX_TEXT_CHARACTERS
"""The number of tools per batch, so that even schemas of the largest size can be checked in one batch."""

ONE_OF_BOTH = "Name the entity by {end}_name or by {end}_key: one of them, and not both."
TYPE_OF_A_NAME = "This requires {end}_name. A {end}_key needs no type."


def key_field() -> ExactText:
    """Return a field for the external id of another item, in the same folder or stored before."""
    return ExactText(max_length=200, required=False)


class TaskLine(TaskCreateSerializer):
    parent = None  # type: ignore[assignment]  # DRF's way of leaving out an inherited field
    session = None  # type: ignore[assignment]  # as above
    parent_key = key_field()
    session_key = key_field()


class EventLine(EventCreateSerializer):
    session = None  # type: ignore[assignment]  # as above
    task = None  # type: ignore[assignment]  # as above
    task_key = key_field()


class RelationLine(RelationCreateSerializer):
    source = None  # type: ignore[assignment]  # as above
    target = None  # type: ignore[assignment]  # as above
    source_name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    source_type = type_field(required=False)
    source_key = key_field()
    target_name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    target_type = type_field(required=False)
    target_key = key_field()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for end in ("source", "target"):
            _check_end(end, attrs)
        return attrs


def _check_end(end: str, attrs: Mapping[str, Any]) -> None:
    if (f"{end}_name" in attrs) == (f"{end}_key" in attrs):
        raise serializers.ValidationError({f"{end}_name": ONE_OF_BOTH.format(end=end)})
    if f"{end}_type" in attrs and f"{end}_name" not in attrs:
        raise serializers.ValidationError({f"{end}_type": TYPE_OF_A_NAME.format(end=end)})


@dataclass(frozen=True, slots=True)
class RecordKind:
    """The kind of item that the lines of one file are imported as."""

    endpoint: ItemEndpoint
    line: type[StrictSerializer]
    batch_size: int = LINES_PER_BATCH

    @property
    def file(self) -> str:
        """The name of the file with records of this kind."""
        return f"{self.endpoint.name}.jsonl"


RECORD_KINDS = (
    RecordKind(SESSIONS, SESSIONS.create),
    RecordKind(TASKS, TaskLine),
    RecordKind(EVENTS, EventLine),
    RecordKind(ENTITIES, ENTITIES.create),
    RecordKind(RELATIONS, RelationLine),
    RecordKind(PATTERNS, PATTERNS.create),
    RecordKind(THREADS, THREADS.create),
    RecordKind(TOOLS, TOOLS.create, TOOLS_PER_BATCH),
)
"""All kinds in the order in which they are stored: items come after those that they refer to."""
