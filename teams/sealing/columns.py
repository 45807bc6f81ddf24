"""The sealed columns: those of rows with a level of their own, and those of what belongs to such a row.

A table that is not named here has no sealed column: see `tests/sensitivity/test_sealed_columns.py` for the reasons.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from config.db.migration_helpers import ORGANISATION
from config.db.sealed_columns import records_owner_sql


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column with texts of a table whose key is `id`.

    `whole` is the column with the id of the row that they belong to, or with its ref, which begins with `prefix`.
    Versions and records are changed by functions of the database alone. Searched texts are opened when the row is
    lowered. Names are sealed so that equal ones are equal, and so are lists of them (`text[]`).
    """

    table: str
    column: str
    whole: str = "id"
    prefix: str = ""
    type: str = "text"
    key: str = "uuid"
    is_version: bool = False
    is_record: bool = False
    is_searched: bool = False
    is_name: bool = False

    def of(self, id_: UUID) -> str:
        """Return how the column `whole` names the row."""
        return f"{self.prefix}{id_}"


STATEMENTS = ("cue", "left_statement", "right_statement", "reasoning", "reason")
CONFLICTS = tuple(
    SealedColumn("conflicts", column, side, is_searched=True)
    for side in ("left_item", "right_item")
    for column in STATEMENTS
)


def _version(table: str, *columns: str) -> tuple[SealedColumn, ...]:
    return tuple(SealedColumn(table, column, "file_id", is_version=True) for column in ("content", "note", *columns))


def _name(table: str, column: str, whole: str = "id", type_: str = "text") -> SealedColumn:
    return SealedColumn(table, column, whole, type=type_, is_name=True)


def _file(kind: str, table: str, *columns: str) -> tuple[SealedColumn, ...]:
    return (
        *_version(f"{table.removesuffix('s')}_versions", *columns),
        SealedColumn("file_passages", "text", "file_id", key="bigint", is_searched=True),
        SealedColumn("drafts", "content", "about", f"{kind}:"),
        SealedColumn("texts_set_aside", "content", "about", f"{kind}:"),
        *CONFLICTS,
    )


def _goals_and_events(of_goals: str, of_events: str) -> tuple[SealedColumn, ...]:
    return (
        SealedColumn("task_frames", "goal", of_goals),
        SealedColumn("task_frames", "result", of_goals),
        SealedColumn("events", "content", of_events, type="jsonb"),
    )


ACTIVITIES = (
    SealedColumn("activities", "target", "about", "organisation_file:", is_record=True),
    SealedColumn("activities", "detail", "about", "organisation_file:", type="jsonb", is_record=True),
)
"""What the activity log says of a file, such as its title."""
FILES = {
    "agent_file": "agent_md_files",
    "team_file": "team_md_files",
    "organisation_file": "organisation_files",
    "daily_log": "daily_logs",
}
OWN: Mapping[str, tuple[SealedColumn, ...]] = {
    "memories": (SealedColumn("memories", "text"), SealedColumn("memories", "retired_because")),
    **{table: (SealedColumn(table, "content"),) for table in FILES.values()},
    "organisation_files": (SealedColumn("organisation_files", "content"), SealedColumn("organisation_files", "title")),
    "documents": (_name("documents", "path"), SealedColumn("documents", "content")),
    "events": (SealedColumn("events", "content", type="jsonb"),),
    "sessions": (_name("sessions", "external_id"), SealedColumn("sessions", "title")),
    "task_frames": (SealedColumn("task_frames", "goal"), SealedColumn("task_frames", "result")),
    "entities": (
        _name("entities", "name"),
        _name("entities", "aliases", type_="text[]"),
        _name("entities", "names", type_="text[]"),
        SealedColumn("entities", "properties", type="jsonb"),
    ),
    "relations": (_name("relations", "type"),),
    "patterns": (_name("patterns", "name"), SealedColumn("patterns", "guidance")),
    "threads": (SealedColumn("threads", "title"), SealedColumn("threads", "summary")),
    "tools": (
        _name("tools", "name"),
        SealedColumn("tools", "description"),
        SealedColumn("tools", "schema", type="jsonb"),
    ),
    "assemblies": (SealedColumn("assemblies", "topic", is_record=True),),
    "proposals": (SealedColumn("proposals", "wishes", type="jsonb"), SealedColumn("proposals", "note")),
    "recall_tests": (
        SealedColumn("recall_tests", "name"),
        SealedColumn("recall_tests", "topic"),
        SealedColumn("recall_tests", "expectations", type="jsonb"),
    ),
    "alerts": (SealedColumn("alerts", "name"), SealedColumn("alerts", "detail", type="jsonb")),
    "recall_results": (SealedColumn("recall_results", "outcomes", type="jsonb", is_record=True),),
}
"""The columns of rows that have a level and an owner of their own, by table."""
OWNERS = {
    "memories": "coalesce(agent_id, team_id)",
    "team_md_files": "team_id",
    "organisation_files": f"'{ORGANISATION}'::uuid",
    "recall_tests": "coalesce(agent_id, team_id)",
    **dict.fromkeys(("assemblies", "alerts", "proposals", "recall_results"), records_owner_sql("agent_id")),
}
"""SQL of the owner under whose key the texts of a row are sealed; the agent's id in all other tables."""
PARTS: Mapping[str, tuple[SealedColumn, ...]] = {
    "memories": (*_version("memory_versions", "retired_because"), *CONFLICTS),
    **{table: _file(kind, table) for kind, table in FILES.items()},
    "organisation_files": (*_file("organisation_file", "organisation_files", "title"), *ACTIVITIES),
    "conflicts": (SealedColumn("conflict_decisions", "reason", "conflict_id", is_record=True),),
    "documents": (SealedColumn("chunks", "text", "document_id", key="bigint", is_searched=True), *CONFLICTS),
    "entities": (_name("relations", "type", "source_id"), _name("relations", "type", "target_id"), *CONFLICTS),
    "sessions": _goals_and_events("session_id", "session_id"),
    "task_frames": _goals_and_events("parent_id", "task_id"),
}
"""The columns of what is sealed together with a row, by its table."""
PERSONAL = (SealedColumn("drafts", "content", "person_id"), SealedColumn("texts_set_aside", "content", "person_id"))
"""The columns that are sealed at every level, under the keys of persons."""
LEVELS = SealedColumn("text_levels", "text", "item", key="bigint")
LEVELLED = frozenset({"memories", "documents", *FILES.values()})
"""The tables of rows with stored levels of detail, which are stored again when a row is raised."""
OF_SIDES = (("conflicts", "left_item"), ("conflicts", "right_item"))
NESTED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "sessions": (("task_frames", "session_id"),),
    "task_frames": (("task_frames", "parent_id"),),
    **dict.fromkeys(("memories", "documents", "entities", *FILES.values()), OF_SIDES),
}
"""The tables of rows that are raised with a row and have parts themselves, with the column that names it, by table."""
PIECES = SealedColumn("pieces", "facts", type="jsonb", key="bigint", is_record=True)
"""What recorded contexts have of an item beside its text: see `assembly.records.sealed_pieces`."""


def sealed_columns() -> dict[str, tuple[SealedColumn, ...]]:
    """Return all sealed columns by table, each once."""
    found: dict[str, dict[str, SealedColumn]] = {}
    for columns in (*OWN.values(), *PARTS.values(), PERSONAL, (LEVELS, PIECES)):
        for one in columns:
            found.setdefault(one.table, {}).setdefault(one.column, one)
    return {table: tuple(columns.values()) for table, columns in found.items()}
