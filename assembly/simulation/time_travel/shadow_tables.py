"""Temporary tables and views show the database as it was at a moment, for one transaction that is rolled back.

Rows with versions have their version at that moment; of other tables, the rows that existed then are shown as they are
now. The moment and the owners are settings of the transaction: see `database_as_of`.

The statements that gather candidates name tables without a schema. The temporary relations have the same names and
precede them in the search path, so the same statements read the past unchanged.

Vectors of former texts are not stored, so `restore_embeddings` computes them for memories whose text was different.
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
from assembly.models import (
    Conflict,
    LearnedWeights,
    ProfileTuning,
    StoredProfile,
    StoredProfileVersion,
    StoredRule,
    StoredRuleVersion,
)
from config.db.sealed_columns import MARK_SQL
from config.db.statements import execute_sql, fetch_rows
from config.keys.sealed_texts import open_texts
from memories.embeddings.active_model import SLOTS, EmbeddingModel, read_active_model
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.vectors import embed_texts
from memories.lifecycle.tiers import STORAGE_COLUMNS
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
from teams.models import OrganisationFile, OrganisationFileVersion, TeamFile, TeamFileVersion
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
    LearnedWeights,
)
"""Tables of which former states are not stored, or whose rows never change."""

# A version with an unchanged text means that the rule was switched on or off: nothing else creates one.
SWITCHED_SINCE = f"""
SELECT count(*) % 2 = 1 FROM rule_versions AS switch JOIN rule_versions AS before
    ON before.file_id = switch.file_id AND before.version = switch.version - 1 AND before.content = switch.content
WHERE switch.file_id = now.id AND switch.created > {MOMENT}
"""  # noqa: S608 - constants alone are put in, here and below

# The text of a memory that is not hot is not in its column, a sealed one differs in each place, and a cold one has no
# vector and no words.
SAME_TEXT = "(now.tier IN ('hot', 'warm') AND (told.version = now.version OR coalesce(told.content = now.text, false)))"


def _newest_version_sql(model: type[Model], versions: type[Version], **otherwise: str) -> str:
    """Return SQL for the rows in their newest version at the moment, with the columns of the table.

    `otherwise` has expressions by column.
    """
    # Versions that are older than the column have no owner, and a row does not change its owner.
    kept = {field.column for field in versions._meta.concrete_fields} - {"id", "created", "owner_id"}  # noqa: SLF001
    columns = [field.column for field in model._meta.concrete_fields]  # noqa: SLF001
    told = {column: f"told.{column}" if column in kept else f"now.{column}" for column in columns} | otherwise
    if "sensitivity" in kept:  # what was raised since is not told of the past either
        told["sensitivity"] = "greatest(told.sensitivity, now.sensitivity)"
    return f"""
        SELECT {", ".join(f"{expression} AS {column}" for column, expression in told.items())}
        FROM {model._meta.db_table} AS now CROSS JOIN LATERAL (
            SELECT * FROM {versions._meta.db_table} AS version
            WHERE version.file_id = now.id AND version.created <= {MOMENT} ORDER BY version.version DESC LIMIT 1
        ) AS told"""  # noqa: S608, SLF001


def _existing_rows_sql(model: type[Model]) -> str:
    """Return SQL for the rows that existed at the moment, as they are now."""
    return f"SELECT * FROM {model._meta.db_table} WHERE created <= {MOMENT}"  # noqa: S608, SLF001


def _embeddings_sql() -> dict[str, str]:
    """Return SQL for a memory's vectors, if its text was the same then."""
    columns = {slot: f"CASE WHEN {SAME_TEXT} THEN now.{slot} END" for slot in SLOTS}
    names = {f"{slot}_model": f"CASE WHEN {SAME_TEXT} THEN now.{slot}_model ELSE '' END" for slot in SLOTS}
    return columns | names


MEMORIES = f"""
{
    _newest_version_sql(
        Memory,
        MemoryVersion,
        text="told.content",
        tier="'hot'::varchar",
        **{column: f"NULL::{type_}" for column, type_ in STORAGE_COLUMNS.items()},
        superseded_by_id="told.superseded_by",
        language="coalesce(nullif(told.language, ''), now.language)",
        **_embeddings_sql(),
        reworded=f"NOT {SAME_TEXT}",
    )
}
WHERE now.agent_id = ANY({OWNERS}) OR now.team_id = ANY({OWNERS})
"""
"""SQL for the owners' memories. `reworded` marks memories whose text has changed; their words and
vectors are computed.
"""

# What a person decided after the moment was not decided yet, and a conflict that was closed since was still known.
CONFLICT_COLUMNS: Mapping[str, str] = {
    "status": (
        f"CASE WHEN now.closed <= {MOMENT} THEN 'gone' WHEN told.action = 'resolve' THEN 'resolved' ELSE 'open' END"
    ),
    "resolution": "CASE WHEN told.action = 'resolve' THEN told.resolution ELSE '' END",
    "resolver_name": "CASE WHEN told.action = 'resolve' THEN told.by_name ELSE '' END",
    "resolved_at": "CASE WHEN told.action = 'resolve' THEN told.created END",
}


def _conflicts_sql() -> str:
    """Return SQL for the conflicts that were known at the moment, with the decisions of then."""
    columns = [str(field.column) for field in Conflict._meta.concrete_fields]  # noqa: SLF001 - as documented
    named = (f"{CONFLICT_COLUMNS.get(column, f'now.{column}')} AS {column}" for column in columns)
    return f"""
        SELECT {", ".join(named)} FROM conflicts AS now LEFT JOIN LATERAL (
            SELECT * FROM conflict_decisions AS decision
            WHERE decision.conflict_id = now.id AND decision.created <= {MOMENT}
            ORDER BY decision.created DESC, decision.id DESC LIMIT 1
        ) AS told ON true WHERE now.found <= {MOMENT}"""  # noqa: S608


VIEWS: Mapping[str, str] = {
    "agent_md_files": _newest_version_sql(AgentFile, AgentFileVersion, updated_at="told.created"),
    "team_md_files": _newest_version_sql(TeamFile, TeamFileVersion, updated_at="told.created"),
    "organisation_files": _newest_version_sql(OrganisationFile, OrganisationFileVersion, updated_at="told.created"),
    "daily_logs": _newest_version_sql(DailyLog, DailyLogVersion, updated_at="told.created"),
    "profiles": _newest_version_sql(StoredProfile, StoredProfileVersion, updated_at="told.created"),
    "profile_tunings": _existing_rows_sql(ProfileTuning),
    "rules": _newest_version_sql(
        StoredRule, StoredRuleVersion, updated_at="told.created", enabled=f"(now.enabled <> ({SWITCHED_SINCE}))"
    ),
    "conflicts": _conflicts_sql(),
    **{model._meta.db_table: _existing_rows_sql(model) for model in UNVERSIONED},  # noqa: SLF001
    # This view reads the one of documents, so it is created after it.
    "chunks": "SELECT chunks.* FROM chunks JOIN documents ON documents.id = document_id",
}
"""The views that replace the tables, by table, in the order of their creation."""

ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
SET = """
SELECT set_config('dossier.as_of', %s, true), set_config('dossier.as_of_owners', %s, true)
"""
# A table, because searches of large owners use row addresses (ctid), which views lack, and an index by time.
CREATE_MEMORIES_SQL = f"""
CREATE TEMPORARY TABLE memories ON COMMIT DROP AS {MEMORIES};
CREATE INDEX ON memories (id);
CREATE INDEX ON memories (agent_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (team_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (agent_id, language) WHERE language <> 'english';
CREATE INDEX ON memories (team_id, language) WHERE language <> 'english';
"""
CREATE_VIEWS_SQL = ";".join(f"CREATE TEMPORARY VIEW {name} AS {rows}" for name, rows in VIEWS.items())
# A changed search path makes PostgreSQL plan prepared statements again, now and after the transaction. From here on,
# only temporary tables can be written.
ENTER_SHADOW_SCHEMA_SQL = """
SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true);
SET LOCAL transaction_read_only = on
"""


@contextmanager
def database_as_of(moment: datetime.datetime, owners: Sequence[UUID]) -> Iterator[None]:
    """Show the database as it was at the moment, as far as it is known, within the block; of memories, only the
    owners'.

    The role of the app needs the right to create temporary tables, which PostgreSQL gives to everyone by default.
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
    """Compute the search words of memories whose text was different then."""
    search = Memory._meta.get_field("search")  # noqa: SLF001 - Django's documented introspection
    assert isinstance(search, GeneratedField)  # noqa: S101
    expression, parameters = search.generated_sql(connection)
    words = f"CASE WHEN starts_with(text, {MARK_SQL}) THEN ''::tsvector ELSE {expression} END"
    execute_sql(f"UPDATE memories SET search = {words} WHERE reworded", parameters)  # noqa: S608 - a field's own


MAX_EMBEDDED = 1_000
"""The maximum number of texts that are embedded per request: about a second."""

CHANGED_MEMORIES_SQL = "SELECT id, text, sensitivity FROM memories WHERE reworded ORDER BY created DESC, id LIMIT %s"
CHANGED_MEMORY_COUNT_SQL = "SELECT count(*) FROM memories WHERE reworded"

logger = logging.getLogger(__name__)


def restore_embeddings() -> int:
    """Compute the vectors of memories whose text was different then, within `database_as_of`.

    Return how many remain without one; these are found by their words only.
    """
    rows = fetch_rows(CHANGED_MEMORIES_SQL, [MAX_EMBEDDED])
    if not rows:
        return 0
    ((reworded,),) = fetch_rows(CHANGED_MEMORY_COUNT_SQL)
    ids, texts, levels = zip(*rows, strict=True)
    return int(reworded) - _embed(read_active_model(), ids, open_texts(texts), levels)


def _embed(space: EmbeddingModel, ids: Sequence[str], texts: Sequence[str], levels: Sequence[int]) -> int:
    """Return how many texts have a vector now."""
    try:
        vectors = embed_texts(space, texts, levels)
    except EmbedderFailed as error:
        logger.warning("texts of then were not embedded: %s", error)
        return 0
    written = [None if vector is None else Written(vector).to_text() for vector in vectors]
    rows = [(vector, space.model, id_) for vector, id_ in zip(written, ids, strict=True)]
    update = f"UPDATE memories SET {space.slot} = %s::vector, {space.model_column} = %s WHERE id = %s"  # noqa: S608 - names of columns alone
    with connection.cursor() as cursor:
        cursor.executemany(update, rows)
    return sum(vector is not None for vector in vectors)
