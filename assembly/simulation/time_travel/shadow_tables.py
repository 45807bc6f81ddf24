"""What each table held at a moment, in SQL: what keeps versions, in its version of then; anything else that was there.

`moment` and `owners` are settings of the transaction: see `database_as_of`.

The database as it was at a moment: for one transaction, which is undone, its tables hold what they held then.

What reads contexts names tables without a schema. So the same statements read the past where temporary relations of the
same names are found first, and nothing on the way to a context has to know of it.

What memories meant that said something else then: their vectors are made again, for nobody keeps them.
"""

import datetime
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction
from django.db.models import GeneratedField, Model
from pgvector import Vector as Written

from agents.models import AgentFile, AgentFileVersion, DailyLog, DailyLogVersion
from assembly.models import StoredProfile, StoredProfileVersion, StoredRule, StoredRuleVersion
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.active_model import SLOTS, EmbeddingModel, read_active_model
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.vectors import embed_texts
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
from teams.models import TeamFile, TeamFileVersion
from teams.versioned_text.versioned_file import Version

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


def _newest_version_sql(model: type[Model], versions: type[Version], **otherwise: str) -> str:
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


def _existing_rows_sql(model: type[Model]) -> str:
    """The rows that were there, as they are now."""
    return f"SELECT * FROM {model._meta.db_table} WHERE created <= {MOMENT}"  # noqa: S608, SLF001


def _embeddings_sql() -> dict[str, str]:
    """A memory's vectors, where it said then what it says now."""
    columns = {slot: f"CASE WHEN {SAME_TEXT} THEN now.{slot} END" for slot in SLOTS}
    names = {f"{slot}_model": f"CASE WHEN {SAME_TEXT} THEN now.{slot}_model ELSE '' END" for slot in SLOTS}
    return columns | names


MEMORIES = f"""
{
    _newest_version_sql(
        Memory,
        MemoryVersion,
        text="told.content",
        superseded_by_id="told.superseded_by",
        language="coalesce(nullif(told.language, ''), now.language)",
        **_embeddings_sql(),
        reworded=f"NOT {SAME_TEXT}",
    )
}
WHERE now.agent_id = ANY({OWNERS}) OR now.team_id = ANY({OWNERS})
"""
"""The owners' memories. `reworded`: one that says something else now; its words and vectors of then are to be made."""

VIEWS: Mapping[str, str] = {
    "agent_md_files": _newest_version_sql(AgentFile, AgentFileVersion, updated_at="told.created"),
    "team_md_files": _newest_version_sql(TeamFile, TeamFileVersion, updated_at="told.created"),
    "daily_logs": _newest_version_sql(DailyLog, DailyLogVersion, updated_at="told.created"),
    "profiles": _newest_version_sql(StoredProfile, StoredProfileVersion, updated_at="told.created"),
    "rules": _newest_version_sql(
        StoredRule, StoredRuleVersion, updated_at="told.created", enabled=f"(now.enabled <> ({SWITCHED_SINCE}))"
    ),
    **{model._meta.db_table: _existing_rows_sql(model) for model in UNVERSIONED},  # noqa: SLF001
    # It reads the view of documents, which is laid before it.
    "chunks": "SELECT chunks.* FROM chunks JOIN documents ON documents.id = document_id",
}
"""By table, what stands in its place, in the order in which they are laid."""

ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
SET = """
SELECT set_config('dossier.as_of', %s, true), set_config('dossier.as_of_owners', %s, true)
"""
# Searches of large owners name places of rows, which a view has not, and go from row to row by time.
CREATE_MEMORIES_SQL = f"""
CREATE TEMPORARY TABLE memories ON COMMIT DROP AS {MEMORIES};
CREATE INDEX ON memories (id);
CREATE INDEX ON memories (agent_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (team_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (agent_id, language) WHERE language <> 'english';
CREATE INDEX ON memories (team_id, language) WHERE language <> 'english';
"""
CREATE_VIEWS_SQL = ";".join(f"CREATE TEMPORARY VIEW {name} AS {rows}" for name, rows in VIEWS.items())
# Another path than before: so PostgreSQL plans prepared statements anew, now and once this is over. From here on
# nothing but what is temporary can be written.
ENTER_SHADOW_SCHEMA_SQL = """
SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true);
SET LOCAL transaction_read_only = on
"""


@contextmanager
def database_as_of(moment: datetime.datetime, owners: Sequence[UUID]) -> Iterator[None]:
    """Within, the database is as it was at the moment, as far as that is known; of memories, it has the owners' alone.

    The role of the app needs the right to make temporary tables, which PostgreSQL gives to everybody.
    """
    within = connection.in_atomic_block
    with transaction.atomic():
        if not within:
            execute_sql(ONE_SNAPSHOT)
        execute_sql(SET, [moment.isoformat(), f"{{{','.join(map(str, owners))}}}"])
        execute_sql(CREATE_MEMORIES_SQL)
        _restore_word_search()
        execute_sql(CREATE_VIEWS_SQL)
        execute_sql(ENTER_SHADOW_SCHEMA_SQL)
        yield
        transaction.set_rollback(True)


def _restore_word_search() -> None:
    """Memories that said something else then are found by what they said."""
    search = Memory._meta.get_field("search")  # noqa: SLF001 - Django's documented introspection
    assert isinstance(search, GeneratedField)  # noqa: S101
    expression, parameters = search.generated_sql(connection)
    execute_sql(f"UPDATE memories SET search = {expression} WHERE reworded", parameters)  # noqa: S608 - a field's own


MAX_EMBEDDED = 1_000
"""Texts that are embedded for one look into the past: about a second."""

CHANGED_MEMORIES_SQL = "SELECT id, text FROM memories WHERE reworded ORDER BY created DESC, id LIMIT %s"
CHANGED_MEMORY_COUNT_SQL = "SELECT count(*) FROM memories WHERE reworded"

logger = logging.getLogger(__name__)


def restore_embeddings() -> int:
    """Give the memories of the past the vectors of what they said, within `database_as_of`. How many are without one
    after it.

    Those are found by their words alone.
    """
    rows = fetch_rows(CHANGED_MEMORIES_SQL, [MAX_EMBEDDED])
    if not rows:
        return 0
    ((reworded,),) = fetch_rows(CHANGED_MEMORY_COUNT_SQL)
    return int(reworded) - _embed(read_active_model(), [id_ for id_, _ in rows], [text for _, text in rows])


def _embed(space: EmbeddingModel, ids: list[str], texts: list[str]) -> int:
    """How many could be embedded."""
    try:
        vectors = embed_texts(space, texts)
    except EmbedderFailed as error:
        logger.warning("texts of then were not embedded: %s", error)
        return 0
    written = [None if vector is None else Written(vector).to_text() for vector in vectors]
    rows = [(vector, space.model, id_) for vector, id_ in zip(written, ids, strict=True)]
    update = f"UPDATE memories SET {space.slot} = %s::vector, {space.model_column} = %s WHERE id = %s"  # noqa: S608 - names of columns alone
    with connection.cursor() as cursor:
        cursor.executemany(update, rows)
    return len(rows)
