"""Embeddings: each text has its own, in whatever company it is embedded."""

import numpy as np

from memories.embedding import DIMENSIONS, embed, embed_parts

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
