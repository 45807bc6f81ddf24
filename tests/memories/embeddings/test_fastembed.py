"""Models by the package fastembed: asked for in a folder alone. The package is a stand-in of the same shape here."""

import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from memories.embeddings import fastembed
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.registry import find_embedder

NAME = "BAAI/bge-small-en-v1.5"


class TextEmbedding:
    """As that of fastembed 0.9: two numbers per text, of a model whose files are there or not."""

    made: ClassVar[list[dict[str, Any]]] = []
    files_are_there = True
    embedding_size = 2

    def __init__(self, **arguments: Any) -> None:
        self.made.append(arguments)
        if not self.files_are_there:
            raise ValueError("Could not load model from any source.")

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        return [{"model": NAME, "dim": 2}]

    def embed(self, documents: Iterable[str]) -> Iterator[Any]:
        return (np.array([3.0 * len(text), 4.0 * len(text)]) for text in documents)


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("fastembed")
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(TextEmbedding, "made", [])
    fastembed._load.cache_clear()
    yield
    fastembed._load.cache_clear()


def test_a_model_is_loaded_once_from_the_folder_and_never_fetched(settings: Any) -> None:
    embedder = find_embedder(f"fastembed:{NAME}")
    assert (embedder.name, embedder.dimensions) == (f"fastembed:{NAME}", 2)
    first, nothing, last = embedder.embed(["a", " \n", "bcd"])
    assert nothing is None
    assert np.allclose([first, last], [[0.6, 0.8]] * 2)  # type: ignore[arg-type]
    assert embedder.embed([]) == []
    assert TextEmbedding.made == [
        {"model_name": NAME, "cache_dir": str(settings.EMBEDDER_FOLDER), "local_files_only": True}
    ]


def test_a_model_whose_files_are_not_there_says_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextEmbedding, "files_are_there", False)
    with pytest.raises(EmbedderFailed, match="EMBEDDER_FOLDER") as failed:
        find_embedder(f"fastembed:{NAME}").embed(["a"])
    assert "nothing is downloaded" in failed.value.detail


def test_a_model_that_the_package_does_not_know_is_named() -> None:
    with pytest.raises(EmbedderFailed, match="“nonsense”"):
        find_embedder("fastembed:nonsense").embed(["a"])
    assert not TextEmbedding.made
