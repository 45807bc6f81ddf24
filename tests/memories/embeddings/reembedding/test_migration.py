"""The migration to spaces keeps every row and every vector, there and back."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from agents.models import Agent
from memories.embeddings.file_splitting import split_files
from memories.embeddings.indexing import embed_missing, reindex
from memories.models import FilePassage, Job
from teams.models import Team
from teams.principal import SYSTEM
from tests.memories.embeddings.reembedding.embedded_rows import all_rows, assert_all_in, kept
from tests.memories.embeddings.reembedding.test_command import FIRST, Reembed, edit, indexes

FORMER = "wordllama:l2_supercat_256"
TABLES = ("memories", "chunks", "entities", "tools")


def migrate(to: str) -> None:
    call_command("migrate", "memories", to, verbosity=0)


def former_rows() -> dict[str, list[Any]]:
    """What the former tables hold: by their names, each row's id, vector and model."""
    with connections["owner"].cursor() as cursor:
        rows = {}
        for table in TABLES:
            cursor.execute(f"SELECT id, embedding::text, embedding_model FROM {table} ORDER BY id")  # noqa: S608
            rows[table] = cursor.fetchall()
        return rows


@pytest.mark.deep
def test_rows_go_there_and_back(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    before, passages = len(all_rows()), FilePassage.objects.count()
    reembed("--to", "wordllama:128")
    memory = agent.memories.order_by("id")[0]
    edit(memory, "Said in the new space alone.")

    migrate("0006")
    rows = former_rows()
    assert sum(map(len, rows.values())) == before - passages, "files had no passages then"
    lacking = [id_ for table in TABLES for id_, _, model in rows[table] if model != FORMER]
    assert lacking == [memory.id], "`reindex` makes it up"
    [size] = {len(vector.split(",")) for table in TABLES for _, vector, _ in rows[table] if vector}
    assert size == 256

    call_command("migrate", verbosity=0)
    assert indexes() == {"memory_embedding_meaning": FIRST.model}
    split_files(Job.objects.get(kind="split_files", arguments={}), lambda _: None)
    assert len(all_rows()) == before
    embed_missing(reindex(agent=agent, principal=SYSTEM), lambda _: None)
    assert_all_in(FIRST)
    assert {row.second_embedding_model for row in all_rows()} == {""}
