"""Compacting a turn of a conversation: its most telling sentences, with no model asked and no vector needed."""

from collections import Counter

from assembly.engine.compression import extract, sentences_of
from assembly.engine.words import words_of
from config.tokens import Tokenizer


def compacted(text: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """The sentences that have most words in common with the others, in their order; the first one before its equals.

    "" where none fits.
    """
    sentences = sentences_of(text)
    words = [words_of(text[sentence.start : sentence.end]) for sentence in sentences]
    often = Counter(word for mine in words for word in mine)
    scores = [sum(often[word] - 1 for word in mine) / len(mine) if mine else 0.0 for mine in words]
    return extract(text, sentences, scores, max_tokens, tokenizer)
