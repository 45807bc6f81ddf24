"""Compressing one text to a budget of tokens, by itself."""

from assembly.engine.rendering import MARKER
from assembly.engine.selection import longest_cut
from assembly.engine.tokens import Ledger
from config.tokens import Tokenizer


def compress(text: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """The text where it fits; else its longest beginning that fits with the marker, or nothing.

    Source: ContextBuilder.compress of the seed "Context Assembly Specification"; how a cut looks, from the design.
    """
    if tokenizer.count(text) <= max_tokens:
        return text
    body = text.rstrip()
    kept = longest_cut(body, Ledger(tokenizer), max_tokens)
    return body[: kept[0]] + MARKER if kept else ""
