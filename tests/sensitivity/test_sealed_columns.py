"""Every text column of a table with levels is sealed, or named here with the reason why it lies in plain."""

from collections.abc import Mapping

import pytest

from config.db.statements import fetch_rows
from teams.sealing.columns import sealed_columns
from tests.rights.world import World
from tests.sensitivity.restricted_things import MARKER, Restricted

pytestmark = pytest.mark.django_db

NAMES = "A name, type or path, by which the thing is found and addressed: unique, in addresses, in rules or in topics."
WORDS = "One of a few fixed words, or the name of a language or model."
REFS = "An id or ref, or who wrote it."
HASHES = "A hash of the text."
FOLLOWS = "The words of the text, which a sealed one has none of."
TIERS = "The packed or archived form of the column, of a sealed text as it is sealed."
RECORD = "Belongs to a recorded context, which is encrypted by itself or refers to pieces that are."

PLAIN: Mapping[str, str] = {
    **dict.fromkeys(
        ["name", "type", "kind", "tool", "outcome", "external_id", "keywords",
         "entity_types", "label", "agent_name", "team_name", "thing"], NAMES),
    **dict.fromkeys(
        ["status", "language", "intents", "tier", "origin", "embedding_model", "second_embedding_model", "file_key",
         "file_kind", "strategy", "resolution", "model", "purpose", "profile", "profile_name", "tokenizer", "warnings",
         "codes", "trigger", "fault", "cause", "gone_because", "agent_slug", "team_slug", "basis"], WORDS),
    **dict.fromkeys(
        ["updated_by", "editor_ref", "editor_name", "left_ref", "right_ref", "resolved_by", "resolver_name",
         "requested_by", "requester_name", "seen_by", "seen_by_ref", "settled_by", "settled_by_ref", "proposed_by",
         "proposer_name", "decided_by", "decider_name", "url", "sealed_secret", ], REFS),
    **dict.fromkeys(["sha256", "left_sha256", "right_sha256"], HASHES),
    "search": FOLLOWS,
    **dict.fromkeys(["packed", "frozen"], TIERS),
    "body": RECORD,
}  # fmt: skip
"""The columns of tables with levels that lie in plain, by name, with the reason."""

COLUMNS_SQL = """
SELECT columns.table_name, columns.column_name FROM information_schema.columns
JOIN information_schema.columns AS level
    ON level.table_schema = 'public' AND level.table_name = columns.table_name AND level.column_name = 'sensitivity'
JOIN pg_class ON relname = columns.table_name AND relkind IN ('r', 'p') AND NOT relispartition
WHERE columns.table_schema = 'public'
    AND columns.udt_name IN ('text', 'varchar', 'jsonb', 'tsvector', 'bytea', '_text', '_varchar')
ORDER BY 1, 2
"""
GUARDS_SQL = "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE %s AND tgparentid = 0"


def test_every_text_column_is_sealed_or_has_a_reason() -> None:
    sealed = {(one.table, one.column) for columns in sealed_columns().values() for one in columns}
    there = {tuple(row) for row in fetch_rows(COLUMNS_SQL)}
    unnamed = {(table, column) for table, column in there - sealed if column not in PLAIN}
    assert not unnamed
    assert {"memories", "events", "conflicts"} <= {table for table, _ in there}
    assert not PLAIN.keys() - {column for _, column in there - sealed}


def test_the_database_refuses_plain_texts_in_every_table_with_sealed_columns() -> None:
    guarded = {table for (table,) in fetch_rows(GUARDS_SQL, ["%_written_sealed"])}
    without_level = {"drafts", "texts_set_aside", "activities", "pieces"}
    assert guarded == set(sealed_columns()) - without_level


DUMPED_SQL = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
    AND NOT (SELECT relispartition FROM pg_class WHERE oid = format('%I.%I', table_schema, table_name)::regclass)
ORDER BY 1, 2
"""


def test_a_dump_of_every_table_has_the_marker_nowhere_in_plain(
    world: World, restricted: Mapping[str, Restricted]
) -> None:
    assert columns_with_marker() == set()


def columns_with_marker() -> set[str]:
    """The columns of all tables in which the marker lies in plain."""
    found = set()
    for schema, table in fetch_rows(DUMPED_SQL):
        rows = fetch_rows(
            f"SELECT DISTINCT member FROM {schema}.{table} AS dumped,"  # noqa: S608
            " jsonb_each_text(to_jsonb(dumped)) AS one (member, said) WHERE said ILIKE %s OR said ILIKE %s",
            [f"%{MARKER}%", f"%{MARKER.encode().hex()}%"],
        )
        found |= {f"{table}.{column}" for (column,) in rows}
    return found
