"""An embedder on this machine is given all texts; one on a server, those up to the level that the operator has set."""

from django.conf import settings

from memories.embeddings.openai import OpenAI
from memories.embeddings.registry import find_embedder
from teams.sensitivity import LEVEL_WORDS, Sensitivity


def highest_level(model: str) -> Sensitivity:
    """Return the highest level of texts that the embedder of this name is given. Raises UnknownEmbedder."""
    if isinstance(find_embedder(model), OpenAI):
        return LEVEL_WORDS[settings.EMBEDDER_SENSITIVITY]
    return Sensitivity.WITHHELD
