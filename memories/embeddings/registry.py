"""This module finds embedders by their names: `wordllama`, `wordllama:128`, `fastembed:<model>`, `openai:<model>`."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from memories.embeddings.base import Embedder, UnknownEmbedder
from memories.embeddings.fastembed import FastEmbed
from memories.embeddings.openai import OpenAI
from memories.embeddings.wordllama import WordLlama
from memories.models.embedding import MAX_NAME_CHARACTERS

KINDS: Mapping[str, Callable[[str], Embedder]] = {
    "wordllama": WordLlama.read,
    "fastembed": FastEmbed.read,
    "openai": OpenAI.read,
}
"""Constructors of embedders by kind. Each gets the text after the colon of a name, "" where there is no colon."""


@lru_cache(maxsize=8)
def find_embedder(name: str) -> Embedder:
    """Return the embedder with that name, cached. Raises UnknownEmbedder, whose message lists the possible names."""
    kind, _, rest = name.strip().partition(":")
    if kind not in KINDS:
        raise UnknownEmbedder(
            f"There is no embedder “{name}”. Use wordllama, wordllama:128, fastembed:<model> or openai:<model>."
        )
    if len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise UnknownEmbedder(f"The name of an embedder is one line of at most {MAX_NAME_CHARACTERS} characters.")
    return KINDS[kind](rest)


def is_bundled(name: str) -> bool:
    """Return whether the embedder is the bundled one, which needs no server and little time."""
    return isinstance(find_embedder(name), WordLlama)
