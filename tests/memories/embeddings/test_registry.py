"""The embedders by their names, and the bundled model at several sizes."""

import sys

import numpy as np
import pytest

from memories.embeddings.base import EmbedderFailed, UnknownEmbedder
from memories.embeddings.registry import find_embedder
from memories.embeddings.wordllama import embed

TEXTS = ["The ferry leaves at nine.", "", "Tea is ready."]


@pytest.mark.parametrize(
    ("name", "full", "dimensions"),
    [
        ("wordllama", "wordllama:256", 256),
        (" wordllama:128", "wordllama:128", 128),
        ("wordllama:64", "wordllama:64", 64),
    ],
)
def test_the_bundled_model_has_three_sizes(name: str, full: str, dimensions: int) -> None:
    embedder = find_embedder(name)
    assert (embedder.name, embedder.dimensions) == (full, dimensions)
    first, nothing, last = embedder.embed(TEXTS)
    assert nothing is None
    for text, vector in ((TEXTS[0], first), (TEXTS[2], last)):
        [whole] = embed([text])
        assert vector is not None and whole is not None  # noqa: PT018 - tells mypy
        assert vector.shape == (dimensions,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert np.allclose(vector, whole[:dimensions] / np.linalg.norm(whole[:dimensions]), atol=1e-5)
    assert embedder.embed([]) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "There is no embedder “”. Use wordllama"),
        ("word2vec", "There is no embedder “word2vec”."),
        ("wordllama:100", "Use one of wordllama:64, wordllama:128, wordllama:256."),
        ("wordllama:0128", "Use one of"),
        ("fastembed", "Name the model as well"),
        ("fastembed:", "Name the model as well"),
        ("openai", "Name the model as well"),
        ("openai:a\nb", "one line"),
        (f"openai:{'x' * 200}", "at most 200 characters"),
    ],
)
def test_a_name_that_is_none_is_refused_with_what_there_is(name: str, says: str) -> None:
    with pytest.raises(UnknownEmbedder) as refused:
        find_embedder(name)
    assert says in refused.value.detail


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)  # as if it were not installed
    embedder = find_embedder("fastembed:BAAI/bge-small-en-v1.5")
    assert embedder.name == "fastembed:BAAI/bge-small-en-v1.5"
    with pytest.raises(EmbedderFailed, match="pip install fastembed"):
        embedder.embed(TEXTS)
    with pytest.raises(EmbedderFailed, match="pip install fastembed"):
        embedder.dimensions  # noqa: B018 - it is asked for
