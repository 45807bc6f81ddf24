"""What stands in the way of distributing records by agent, by the catalogue: docs/scaling.md says what it would take.

Nothing may be added to it unnoticed.
"""

import pytest

from config.db.distribution.distributed_tables import REFERENCE, STAYS
from config.db.distribution.owner_keys import foreign_keys, unique_keys
from config.db.distribution.shard_triggers import triggers_of
from config.db.statements import fetch_rows

RECORDS = ["assemblies", "pieces", "stored_texts"]
KEYS_WITHOUT_AGENT = {"assemblies_pkey", "pieces_pkey", "stored_texts_pkey"}
REFERRING = {"assembly_feedback", "assembly_flags", "assembly_quality", "file_losses", "memory_requests"}
FOR_STATEMENTS = {
    "assemblies_keeps_all", "pieces_keeps_all", "stored_texts_keeps_all", "assemblies_list_keys",
    "stored_texts_list_keys",
}  # fmt: skip
FUNCTIONS = {
    "contexts_below", "erase_record_parts", "pieces_of", "prune_assemblies", "prune_unused", "raise_contexts",
    "renew_stored_texts", "seal_stored_texts",
}  # fmt: skip
FUNCTIONS_SQL = r"""
SELECT proname::text FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' AND lanname IN ('sql', 'plpgsql')
    AND prosrc ~ '\m(FROM|JOIN|UPDATE|INTO|TABLE) (assemblies|pieces|stored_texts)\M'
"""
AGENTS_SQL = """
SELECT attrelid::regclass::text FROM pg_attribute
WHERE attrelid = ANY(%s::regclass[]) AND attname = 'agent_id' AND attnotnull
"""

pytestmark = pytest.mark.django_db(databases=["default", "owner"])


def test_records_stay_on_the_coordinator_with_a_reason() -> None:
    assert {"assemblies", "pieces"} <= STAYS.keys()
    assert not {*RECORDS} & {*REFERENCE}, "each context would write on all servers"


def test_pieces_and_texts_have_no_agent() -> None:
    assert fetch_rows(AGENTS_SQL, [RECORDS]) == [("assemblies",)]


def test_no_further_key_lacks_the_agent() -> None:
    found = {one.name for one in unique_keys(RECORDS) if "agent_id" not in one.columns}
    assert found == KEYS_WITHOUT_AGENT
    assert {one.table for one in foreign_keys(RECORDS) if one.target == "assemblies"} == REFERRING


def test_no_further_trigger_or_function_joins_records_of_many_agents() -> None:
    assert {one.name for one in triggers_of(RECORDS) if not one.for_rows} == FOR_STATEMENTS
    assert {name for (name,) in fetch_rows(FUNCTIONS_SQL)} == FUNCTIONS
