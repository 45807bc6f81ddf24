"""Models that run on this machine by the package `fastembed`, which is no part of a plain installation.

Nothing is fetched: a model is used from the folder that the setting EMBEDDER_FOLDER names, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Self

from django.conf import settings

from memories.embeddings.base import EmbedderFailed, UnknownEmbedder, Vector, unit_vectors

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_loading = Lock()


@dataclass(frozen=True, slots=True)
class FastEmbed:
    """`fastembed:BAAI/bge-small-en-v1.5`."""

    model: str

    @classmethod
    def read(cls, model: str) -> Self:
        """The one with that model. Raises UnknownEmbedder without one."""
        if not model:
            raise UnknownEmbedder("Name the model as well, as in fastembed:BAAI/bge-small-en-v1.5.")
        return cls(model)

    @property
    def name(self) -> str:
        """Its kind and its model."""
        return f"fastembed:{self.model}"

    @property
    def dimensions(self) -> int:
        """As the package knows them of the model. Raises EmbedderFailed where it cannot be loaded."""
        return int(_model(self.model).embedding_size)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """None for a text without a character. Raises EmbedderFailed where the model cannot be loaded."""
        model = _model(self.model)
        written = [text for text in texts if text.strip()]
        vectors = iter(unit_vectors(model.embed(written)) if written else [])
        return [next(vectors) if text.strip() else None for text in texts]


def _model(name: str) -> "TextEmbedding":
    with _loading:
        return _load(name)


@cache
def _load(name: str) -> "TextEmbedding":
    try:
        from fastembed import TextEmbedding  # noqa: PLC0415 - an optional extra, and slow to import
    except ImportError:
        raise EmbedderFailed("The package fastembed is not installed. Install it with: pip install fastembed") from None
    known = {model["model"].lower() for model in TextEmbedding.list_supported_models()}
    if name.lower() not in known:
        raise EmbedderFailed(f"The package fastembed knows no model “{name}”. Use one that it lists.")
    try:
        return TextEmbedding(model_name=name, cache_dir=str(settings.EMBEDDER_FOLDER), local_files_only=True)
    except Exception as error:
        raise EmbedderFailed(
            f"The model “{name}” could not be loaded ({type(error).__name__}). Put its files into the folder that"
            " EMBEDDER_FOLDER names, as fastembed keeps them there: nothing is downloaded."
        ) from error
