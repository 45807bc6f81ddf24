"""The migration that stores vectors of hidden chunks in half precision keeps every one of them, there and back."""

from typing import Any

import pytest
from django.core.management import call_command

from agents.services import agent_create
from config.db.statements import fetch_rows
from memories.lifecycle.half_vectors import vector_sql
from memories.lifecycle.thing_tables import DOCUMENTS
from memories.lifecycle.tiers import Tier
from tests.memories.lifecycle.test_transitions import LONG, QUESTION, move, write_document


@pytest.mark.deep
def test_the_migration_keeps_every_vector_there_and_back(committed_database: str) -> None:
    agent = agent_create(slug="luna", name="Luna")
    move(DOCUMENTS, write_document(agent, f"{LONG}\n\n{QUESTION * 9}"), Tier.WARM)
    write_document(agent, LONG, "hot.md")
    vectors = vectors_by_id()
    call_command("migrate", "memories", "0025", verbosity=0)
    assert fetch_rows("SELECT count(*) FROM chunks WHERE text IS NULL AND embedding IS NULL") == [(0,)]
    assert fetch_rows("SELECT id, embedding::text FROM chunks ORDER BY id") == vectors
    call_command("migrate", verbosity=0)
    assert fetch_rows("SELECT count(*) FROM chunks WHERE (embedding IS NULL) <> (text IS NULL)") == [(0,)]
    assert vectors_by_id() == vectors


def vectors_by_id() -> list[tuple[Any, ...]]:
    return fetch_rows(f"SELECT id, {vector_sql('embedding')}::text FROM chunks ORDER BY id")  # noqa: S608 - a constant
