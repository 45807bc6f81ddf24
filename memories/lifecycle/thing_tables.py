"""The tables whose rows are stored in tiers, and what the statements of the lifecycle need to know about each."""

from collections.abc import Mapping
from dataclasses import dataclass

from memories.lifecycle.tiers import Tiered
from memories.models import Document, Event, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingTable:
    """A table of things: the prefix of their refs, the column of the text, and SQL expressions for facts of a row."""

    kind: str
    model: type[Tiered]
    name: str
    column: str
    value_type: str
    owner: str
    """The id of the agent or team that owns the row."""
    label: str
    """What patterns of a policy are matched with: a path, or the kind of a memory."""
    quality: str
    """The mean of what is known about the row's quality, 0 to 1."""
    size: str
    """The size in bytes of the text as it is stored: of a packed one, what it was packed into."""
    changed: str
    """When somebody last saved the row; moves between tiers do not count."""
    pinned: str = "false"
    """Whether a person pinned the row."""
    lost: str = "false"
    """Whether the row was replaced or archived."""
    has_words: bool = False
    """Whether search finds the row itself by vector and words; those of a document belong to its chunks."""


MEMORIES = ThingTable(
    kind="memory",
    model=Memory,
    name="memories",
    column="text",
    value_type="text",
    owner="coalesce(thing.agent_id, thing.team_id)",
    label="thing.kind",
    quality="(thing.credibility + thing.salience) / 2",
    size="coalesce(octet_length(thing.text), octet_length(thing.packed), 0)",
    changed="(SELECT max(version.created) FROM memory_versions AS version WHERE version.file_id = thing.id)",
    pinned="thing.pinned",
    lost="(thing.superseded_by_id IS NOT NULL OR thing.retired_because <> '')",
    has_words=True,
)
DOCUMENTS = ThingTable(
    kind="document",
    model=Document,
    name="documents",
    column="content",
    value_type="text",
    owner="thing.agent_id",
    label="thing.path",
    quality="0.5",
    size="coalesce(octet_length(thing.content), octet_length(thing.packed), 0)",
    changed="thing.updated",
    pinned="thing.is_open",
)
EVENTS = ThingTable(
    kind="event",
    model=Event,
    name="events",
    column="content",
    value_type="jsonb",
    owner="thing.agent_id",
    label="coalesce(thing.content ->> 'path', '')",
    quality="0.5",
    size="coalesce(octet_length(thing.packed), CASE WHEN thing.frozen IS NULL THEN thing.size END, 0)",
    changed="thing.updated",
)
THING_TABLES = (MEMORIES, DOCUMENTS, EVENTS)
TABLES_BY_KIND: Mapping[str, ThingTable] = {table.kind: table for table in THING_TABLES}
TABLES_BY_MODEL: Mapping[type[Tiered], ThingTable] = {table.model: table for table in THING_TABLES}
