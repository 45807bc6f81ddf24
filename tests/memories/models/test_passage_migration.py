"""The migration that lets passages be found by their words keeps every one of them, there and back."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

from agents.services import agent_create
from memories.models import Chunk
from memories.search.document_search import search_passages
from memories.search.features import Weights
from tests.assembly.sources.source_factories import chunk, document

BEFORE = "0015"


def rows() -> list[Any]:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT id, document_id, position, text, embedding::text FROM chunks ORDER BY id")
        found: list[Any] = cursor.fetchall()
    return found


def has_words() -> bool:
    with connection.cursor() as cursor:
        names = {column.name for column in connection.introspection.get_table_description(cursor, "chunks")}
    return "search" in names


@pytest.mark.deep
def test_passages_are_found_by_their_words_once_the_migration_has_run(committed_database: str) -> None:
    luna = agent_create(slug="luna", name="Luna")
    made = document(luna, "signs.md")
    for position, text in enumerate(
        ["The weather is fine.", "ERR-7741 means that the disk is full.", "Die Häuser sind am Hafen.", "~"]
    ):
        chunk(made, text, position)
    filled = rows()

    call_command("migrate", "memories", BEFORE, verbosity=0)
    assert not has_words()
    assert rows() == filled

    call_command("migrate", verbosity=0)
    assert has_words()
    assert rows() == filled
    found = search_passages(agent=luna, topic="disks of 7741", vector=None, weights=Weights({"words_z": 1.0}), limit=1)
    assert [passage.text for passage in found] == ["ERR-7741 means that the disk is full."]
    languages = Chunk.objects.order_by("position").values_list("language", flat=True)
    assert list(languages) == ["english", "english", "german", "english"]
