"""Compressing a text to a budget (seed "Context Assembly Specification": ContextBuilder.compress), with no model asked.

What a text is about is the mean direction of its sentences; the sentences nearest to it tell most of it. Everything is
computed from the bundled embeddings, so equal texts give equal summaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assembly.engine.compression import Sentence, cut, extract, sentences_of
from config.tokens import Tokenizer
from memories.embedding import embed

Method = Literal["whole", "summary", "cut"]
"""How a text was made to fit; summary: by its most telling sentences; cut: by its beginning."""

MOST_SENTENCES = 2_000
"""Longer texts are taken by so many groups of neighbouring sentences."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """The text as it fits, its tokens, and how that came about."""

    text: str
    tokens: int
    method: Method


def compress(text: str, max_tokens: int, tokenizer: Tokenizer) -> Compressed:
    """The text within so many tokens: whole, else as a summary, else, where no sentence fits, cut."""
    tokens = tokenizer.count(text)
    if tokens <= max_tokens:
        return Compressed(text, tokens, "whole")
    sentences = _grouped(sentences_of(text))
    summary = extract(text, sentences, _centrality(text, sentences), max_tokens, tokenizer)
    if summary:
        return Compressed(summary, tokenizer.count(summary), "summary")
    beginning = cut(text, max_tokens, tokenizer)
    return Compressed(beginning, tokenizer.count(beginning), "cut")


def _centrality(text: str, sentences: Sequence[Sentence]) -> list[float]:
    """How near each sentence is to what all of them are about: the cosine, 0 for one that says nothing."""
    vectors = embed([text[sentence.start : sentence.end] for sentence in sentences])
    known = [vector for vector in vectors if vector is not None]
    middle = np.sum(known, axis=0) if known else None
    return [0.0 if vector is None or middle is None else round(float(vector @ middle), 6) for vector in vectors]


def _grouped(sentences: list[Sentence]) -> list[Sentence]:
    size = -(-len(sentences) // MOST_SENTENCES)
    groups = [sentences[first : first + size] for first in range(0, len(sentences), max(1, size))]
    return [Sentence(group[0].start, group[-1].end) for group in groups]
