"""FastEmbed is an embedder that runs models on this machine by the optional package `fastembed`.

Nothing is downloaded: the model must lie in the folder that the setting EMBEDDER_FOLDER names.
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
    """An embedder of the package `fastembed`, named like `fastembed:BAAI/bge-small-en-v1.5`."""

    model: str

    @classmethod
    def read(cls, model: str) -> Self:
        """Return the embedder with that model. Raises UnknownEmbedder for an empty name."""
        if not model:
            raise UnknownEmbedder("Name the model as well, as in fastembed:BAAI/bge-small-en-v1.5.")
        return cls(model)

    @property
    def name(self) -> str:
        """The name of the embedder: `fastembed:` and its model."""
        return f"fastembed:{self.model}"

    @property
    def dimensions(self) -> int:
        """The number of dimensions that the package states for the model. Raises EmbedderFailed where it cannot be
        loaded.
        """
        return int(_model(self.model).embedding_size)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit vector per text; None for a blank text. Raises EmbedderFailed where the model cannot be
        loaded.
        """
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
