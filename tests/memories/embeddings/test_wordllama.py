"""Embeddings: each text has its own, in whatever company it is embedded."""

import time
import tracemalloc

import numpy as np
import pytest

from config.http.cpu_budget import TooCostly, cpu_budget
from memories.embeddings.wordllama import DIMENSIONS, MAX_CHARACTERS, _model, embed, embed_parts

TEXTS = ["Refunds take five days. " * 5_000, "Lunch is at noon.", "", "The parcel is lost.", "Refunds take five days."]


def test_vectors_come_in_the_order_of_the_texts() -> None:
    together, alone = embed(TEXTS), [embed([text])[0] for text in TEXTS]
    for one, other in zip(together, alone, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.shape == (DIMENSIONS,)
            assert np.allclose(one, other, atol=1e-5)


def test_nothing_has_no_vectors() -> None:
    assert embed([]) == []


def test_parts_have_vectors_near_to_those_of_the_parts_alone() -> None:
    text = "Refunds take five days. \n\tLunch is at noon. 午餐很好吃。 👩 x"
    starts = [0, 26, 44, 51]
    (rows,) = embed_parts([text], [starts])
    alone = embed([text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)])
    assert rows.shape == (4, DIMENSIONS)
    for row, vector in zip(rows, alone, strict=True):
        assert vector is not None
        assert row @ vector > 0.9
        assert np.isclose(np.linalg.norm(row), 1)


def test_parts_come_in_the_order_of_their_texts_in_any_company() -> None:
    starts = [list(range(0, len(text), 24)) for text in TEXTS]
    together = embed_parts(TEXTS, starts)
    assert [len(rows) for rows in together] == [5_000, 1, 0, 1, 1]
    for rows, text, places in zip(together, TEXTS, starts, strict=True):
        assert np.allclose(rows, embed_parts([text], [places])[0], atol=1e-5)
    assert np.allclose(together[0][1], together[4][0], atol=1e-5)
    assert embed_parts([], []) == []


@pytest.mark.parametrize(
    "text",
    ["The ferry leaves at nine.", "Refunds take five days. " * 900, "午餐很好吃。 👩 x", "1" * 12_000, "a\n\nb\t" * 50],
    ids=["short", "long", "scripts", "digits", "spaces"],
)
def test_vectors_are_those_of_the_model_to_the_last_bit(text: str) -> None:
    [mean] = _model().embed([text])
    [vector] = embed([text])
    assert vector is not None
    assert vector.tobytes() == (mean / np.linalg.norm(mean)).astype(np.float32).tobytes()


@pytest.mark.finding("3a")
@pytest.mark.parametrize("piece", ["1", "[a](", "<", "the quick brown fox ", "😀"])
def test_no_text_takes_much_memory(piece: str) -> None:
    text = (piece * 400_000)[:400_000]
    embed(["warm"])
    tracemalloc.start()
    try:
        embed([text])
        embed_parts([text], [[0]])
        embed_parts([text], [list(range(0, len(text), 500))])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


def test_long_texts_are_read_in_slices_of_whole_parts() -> None:
    sentence = "Refunds take five days. "
    starts = [0, *range(10 * len(sentence), 5_000 * len(sentence), len(sentence))]
    (rows,) = embed_parts([sentence * 5_000], [starts])
    assert len(rows) == len(starts)
    assert np.allclose(rows, rows[1], atol=0.02)
    (cut,) = embed_parts(["a" + "b" * 3 * MAX_CHARACTERS + " the end"], [[0, 1, 1 + 3 * MAX_CHARACTERS]])
    (end,) = embed_parts([" the end"], [[0]])
    assert np.allclose(cut[2], end[0], atol=1e-5)


@pytest.mark.finding("3a")
def test_embedding_ends_with_the_cpu_budget() -> None:
    with pytest.raises(TooCostly), cpu_budget(0.05):
        embed(["Refunds take five days. " * 1_000] * 1_000)


def test_whoever_asked_is_charged_for_all_of_the_work() -> None:
    """A budget counts the CPU time of one thread: what others did for it would cost nothing."""
    texts = [f"boat {number} " + "quay " * 200 for number in range(600)]
    embed(texts[:1])
    process, thread = time.process_time(), time.thread_time()
    embed(texts)
    thread, process = time.thread_time() - thread, time.process_time() - process
    assert thread > 0.7 * process
