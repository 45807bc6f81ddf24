"""What stands in the way of dividing the large tables by owner, by the catalogue: nothing may be added to it.

PostgreSQL's partitions need the owner in every unique key of a table. Citus, whose distribution column it would be,
also needs it in every foreign key between distributed tables.
"""

from io import StringIO

import pytest
from django.core.management import call_command

from config.db.partitions.divided_tables import leaves
from config.db.statements import fetch_rows

TABLES = ["memories", "events", "chunks", "pieces", "assemblies"]

UNIQUE_WITHOUT_OWNER = {
    "memories_pkey", "events_pkey", "chunks_pkey", "chunk_once", "assemblies_pkey", "pieces_pkey",
}  # fmt: skip
FOREIGN_WITHOUT_OWNER = {
    "memories_superseded_by", "memory_versions_file_id_cascade",
    "events_session_id_cascade", "events_task_id", "chunks_document_id_cascade",
    "assembly_feedback_assembly_cascade", "assembly_flags_of_records", "assembly_quality_assembly_cascade",
    "file_losses_assembly_id_cascade", "memory_requests_assembly_cascade",
}  # fmt: skip

UNIQUE_SQL = """
SELECT index.relname, array_agg(attname::text)
FROM pg_index JOIN pg_class index ON index.oid = indexrelid
    JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
WHERE indisunique AND indrelid = ANY(%(tables)s::regclass[]) GROUP BY 1
"""
FOREIGN_SQL = """
SELECT conname, array_agg(attname::text)
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)
WHERE contype = 'f' AND (conrelid = ANY(%(tables)s::regclass[]) OR confrelid = ANY(%(tables)s::regclass[]))
    AND confrelid NOT IN ('agents'::regclass, 'teams'::regclass) GROUP BY 1
"""
NULLABLE_SQL = """
SELECT attrelid::regclass::text FROM pg_attribute
WHERE attrelid = ANY(%(tables)s::regclass[]) AND attname = 'agent_id' AND NOT attnotnull
"""


def _without_owner(sql: str) -> set[str]:
    owners = {"agent_id", "team_id"}
    return {name for name, columns in fetch_rows(sql, {"tables": TABLES}) if not owners & set(columns)}


@pytest.mark.django_db
def test_every_row_has_one_owner() -> None:
    assert fetch_rows(NULLABLE_SQL, {"tables": TABLES}) == [("memories",)]
    assert fetch_rows("SELECT contype::text FROM pg_constraint WHERE conname = 'memory_one_owner'") == [("c",)]


@pytest.mark.django_db
def test_no_further_unique_key_lacks_the_owner() -> None:
    assert _without_owner(UNIQUE_SQL) == UNIQUE_WITHOUT_OWNER


@pytest.mark.django_db
def test_no_further_foreign_key_lacks_the_owner() -> None:
    assert _without_owner(FOREIGN_SQL) == FOREIGN_WITHOUT_OWNER


def test_divided_memories_have_one_owner_column_in_every_key(committed_database: str) -> None:
    call_command("partition_tables", stdout=StringIO())
    tables = {"tables": ["memories", *leaves("memories")]}
    unique = fetch_rows(UNIQUE_SQL, tables)
    assert {name for name, _ in unique} > {"memories_pkey", "memory_import_once_agent", "memory_import_once_team"}
    assert {name for name, columns in unique if "owner_id" not in columns} == set()
    assert fetch_rows(FOREIGN_SQL, tables) == [], "keys to and from other tables than agents and teams"
    nullable = "SELECT attnotnull FROM pg_attribute WHERE attrelid = 'memories'::regclass AND attname = 'owner_id'"
    assert fetch_rows(nullable) == [(True,)]
