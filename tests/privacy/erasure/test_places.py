"""Every column that can hold a text has a policy, with a reason where nothing is done."""

import pytest
from django.db import connections

from config.db.statements import fetch_rows
from privacy.erasure.erasure_job import FURTHER_TABLES
from privacy.erasure.places import PLACES, UNTOUCHED_REASONS, Treatment
from privacy.erasure.table_rewrite import rewritten_tables

TEXT_COLUMNS = """
SELECT nspname, relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_type AS type ON type.oid = atttypid
LEFT JOIN pg_type AS element ON element.oid = type.typelem AND type.typcategory = 'A'
WHERE nspname IN ('public', 'pgmq') AND relkind IN ('r', 'p', 'm') AND NOT relispartition AND attnum > 0
AND NOT attisdropped
AND coalesce(element.typname, type.typname) IN
    ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'xml', 'bytea', 'tsvector', 'vector', 'halfvec', 'hstore', 'citext')
"""


@pytest.mark.django_db
def test_every_column_that_can_hold_text_has_a_policy() -> None:
    there = {(schema, table, column) for schema, table, column in fetch_rows(TEXT_COLUMNS)}
    known = {(place.schema, place.table, column) for place in PLACES for column in (*place.columns, *place.untouched)}
    assert there - known == set()
    assert known - there == set()


def test_every_table_has_one_policy_and_every_column_that_is_left_a_reason() -> None:
    assert len({(place.schema, place.table) for place in PLACES}) == len(PLACES)
    assert {column for place in PLACES for column in place.untouched} - UNTOUCHED_REASONS.keys() == set()
    assert all(not set(place.columns) & set(place.untouched) for place in PLACES)
    assert all(bool(place.columns) != (place.treatment is Treatment.UNTOUCHED) for place in PLACES)


@pytest.mark.django_db
def test_the_column_by_which_things_are_spared_exists() -> None:
    for place in PLACES:
        if place.treatment in {Treatment.REPLACED, Treatment.DELETED}:
            select = "SELECT count(*) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"
            assert fetch_rows(select, [place.table, place.thing])[0][0] == 1, place.table


def test_all_tables_that_are_written_anew_exist(committed_database: str) -> None:
    assert connections["owner"]
    for table in rewritten_tables([*(place.table for place in PLACES if place.schema == "public"), *FURTHER_TABLES]):
        assert fetch_rows("SELECT to_regclass(%s)", [table])[0][0], table
