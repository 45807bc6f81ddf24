"""Vectors of chunks whose document is packed are stored in half precision, and found as before."""

from typing import Any

import numpy as np
import pytest

from agents.models import Agent
from assembly.conflicts.compared_texts import texts_of
from assembly.conflicts.nearest_texts import nearest_texts
from config.db.statements import execute_sql, fetch_rows
from memories.lifecycle.thing_tables import DOCUMENTS, MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Chunk
from tests.memories.lifecycle.test_transitions import LONG, QUESTION, move, remember, write_document

pytestmark = pytest.mark.django_db


def stored_vectors() -> list[tuple[Any, ...]]:
    """Return of each chunk which columns have vectors, and the dimensions in half precision."""
    return fetch_rows(
        "SELECT embedding IS NOT NULL, second_embedding IS NOT NULL, vector_dims(embedding_half),"
        " vector_dims(second_embedding_half) FROM chunks ORDER BY position"
    )


def test_vectors_of_a_warm_document_are_in_half_precision(agent: Agent) -> None:
    document = write_document(agent, f"{LONG}\n\n{QUESTION * 9}")
    execute_sql("UPDATE chunks SET second_embedding = '[.6,.8]', second_embedding_model = 'two'")
    before = list(Chunk.objects.order_by("position").values_list("embedding", "second_embedding"))
    move(DOCUMENTS, document, Tier.WARM)
    assert set(stored_vectors()) == {(False, False, 256, 2)}
    halves = list(Chunk.objects.order_by("position").values_list("embedding", "second_embedding"))
    for (one, two), (half, second_half) in zip(before, halves, strict=True):
        assert half == pytest.approx(one, rel=2**-11, abs=1e-7)
        assert second_half == pytest.approx(two, rel=2**-11)
    move(DOCUMENTS, document, Tier.HOT)
    assert set(stored_vectors()) == {(True, True, None, None)}
    again = Chunk.objects.order_by("position").values_list("embedding", "second_embedding")
    for row, half_row in zip(again, halves, strict=True):
        assert [np.asarray(one).tolist() for one in row] == [np.asarray(one).tolist() for one in half_row]


def test_a_new_vector_of_a_hidden_chunk_replaces_the_former_one(agent: Agent) -> None:
    move(DOCUMENTS, write_document(agent, LONG), Tier.WARM)
    execute_sql("UPDATE chunks SET embedding = '[1,2,3]', embedding_model = 'three'")
    assert set(stored_vectors()) == {(False, False, 3, None)}
    execute_sql("UPDATE chunks SET embedding = NULL, embedding_model = 'knows nothing in it'")
    assert set(stored_vectors()) == {(False, False, None, None)}


def test_a_passage_finds_a_warm_note_by_its_words(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    [note] = remember(agent, "The boathouse in Bergen opens at seven.")
    [passage] = remember(agent, "Oars hang on the northern wall, in order.\n" * 8 + "Bergen's boathouse opens at nine.")
    [text] = texts_of("memory", passage.id) or []
    monkeypatch.setattr("assembly.conflicts.nearest_texts.NEAREST_SQL", "SELECT 'memory', '', 0.0 WHERE false")
    assert [near.item for near in nearest_texts(text)] == [note.id]
    assert len(things_move(MEMORIES, [note.id], Tier.WARM)) == 1
    assert [near.item for near in nearest_texts(text)] == [note.id]


def test_conflicts_compare_passages_of_warm_documents(agent: Agent) -> None:
    document = write_document(agent, LONG)
    [memory] = remember(agent, LONG)
    [text] = texts_of("memory", memory.id) or []
    before = [(near.ref, near.text) for near in nearest_texts(text)]
    assert [ref.partition(":")[0] for ref, _ in before] == ["chunk"]
    move(DOCUMENTS, document, Tier.WARM)
    assert [(near.ref, near.text) for near in nearest_texts(text)] == before
    assert [one.vector is not None for one in texts_of("document", document.id) or []] == [True]
