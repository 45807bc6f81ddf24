"""Embeddings: each text has its own, in whatever company it is embedded."""

import numpy as np

from memories.embedding import DIMENSIONS, embed

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
