"""What each table held at a moment, in SQL: what keeps versions, in its version of then; anything else that was there.

`moment` and `owners` are settings of the transaction: see `past`.
"""

from collections.abc import Mapping

from django.db.models import Model

from agents.models import AgentFile, AgentFileVersion, DailyLog, DailyLogVersion
from assembly.models import StoredProfile, StoredProfileVersion, StoredRule, StoredRuleVersion
from memories.models import (
    Document,
    Entity,
    Event,
    Memory,
    MemoryVersion,
    Pattern,
    Relation,
    Session,
    TaskFrame,
    Thread,
    Tool,
)
from memories.spaces import SLOTS
from teams.files import Version
from teams.models import TeamFile, TeamFileVersion

MOMENT = "current_setting('dossier.as_of')::timestamptz"
OWNERS = "current_setting('dossier.as_of_owners')::uuid[]"

UNVERSIONED: tuple[type[Model], ...] = (
    Session,
    Event,
    TaskFrame,
    Entity,
    Relation,
    Pattern,
    Thread,
    Tool,
    Document,
)
"""Of these nobody keeps what they were before they were changed."""

# A version that changed no word switched the rule on or off: nothing else makes one.
SWITCHED_SINCE = f"""
SELECT count(*) % 2 = 1 FROM rule_versions AS switch JOIN rule_versions AS before
    ON before.file_id = switch.file_id AND before.version = switch.version - 1 AND before.content = switch.content
WHERE switch.file_id = now.id AND switch.created > {MOMENT}
"""  # noqa: S608 - constants alone are put in, here and below

SAME_TEXT = "told.content = now.text"


def _newest(model: type[Model], versions: type[Version], **otherwise: str) -> str:
    """Each row in its newest version of then, with the columns of its table. `otherwise`: expressions by column."""
    kept = {field.column for field in versions._meta.concrete_fields} - {"id", "created"}  # noqa: SLF001 - as documented
    columns = [field.column for field in model._meta.concrete_fields]  # noqa: SLF001
    told = {column: f"told.{column}" if column in kept else f"now.{column}" for column in columns} | otherwise
    return f"""
        SELECT {", ".join(f"{expression} AS {column}" for column, expression in told.items())}
        FROM {model._meta.db_table} AS now CROSS JOIN LATERAL (
            SELECT * FROM {versions._meta.db_table} AS version
            WHERE version.file_id = now.id AND version.created <= {MOMENT} ORDER BY version.version DESC LIMIT 1
        ) AS told"""  # noqa: S608, SLF001


def _made(model: type[Model]) -> str:
    """The rows that were there, as they are now."""
    return f"SELECT * FROM {model._meta.db_table} WHERE created <= {MOMENT}"  # noqa: S608, SLF001


def _directions() -> dict[str, str]:
    """A memory's vectors, where it said then what it says now."""
    columns = {slot: f"CASE WHEN {SAME_TEXT} THEN now.{slot} END" for slot in SLOTS}
    names = {f"{slot}_model": f"CASE WHEN {SAME_TEXT} THEN now.{slot}_model ELSE '' END" for slot in SLOTS}
    return columns | names


MEMORIES = f"""
{
    _newest(
        Memory,
        MemoryVersion,
        text="told.content",
        superseded_by_id="told.superseded_by",
        language="coalesce(nullif(told.language, ''), now.language)",
        **_directions(),
        reworded=f"NOT {SAME_TEXT}",
    )
}
WHERE now.agent_id = ANY({OWNERS}) OR now.team_id = ANY({OWNERS})
"""
"""The owners' memories. `reworded`: one that says something else now; its words and vectors of then are to be made."""

VIEWS: Mapping[str, str] = {
    "agent_md_files": _newest(AgentFile, AgentFileVersion, updated_at="told.created"),
    "team_md_files": _newest(TeamFile, TeamFileVersion, updated_at="told.created"),
    "daily_logs": _newest(DailyLog, DailyLogVersion, updated_at="told.created"),
    "profiles": _newest(StoredProfile, StoredProfileVersion, updated_at="told.created"),
    "rules": _newest(
        StoredRule, StoredRuleVersion, updated_at="told.created", enabled=f"(now.enabled <> ({SWITCHED_SINCE}))"
    ),
    **{model._meta.db_table: _made(model) for model in UNVERSIONED},  # noqa: SLF001
    # It reads the view of documents, which is laid before it.
    "chunks": "SELECT chunks.* FROM chunks JOIN documents ON documents.id = document_id",
}
"""By table, what stands in its place, in the order in which they are laid."""
