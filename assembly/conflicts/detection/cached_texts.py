"""The caches of detection have texts, statements and words as keys. They last for one job."""

from assembly.conflicts.detection import lexicon, neighbours, statement_analysis, word_alignment

CACHED = (
    lexicon.stem,
    neighbours.words_of,
    statement_analysis.analyse,
    word_alignment.vector_of,
    word_alignment.word_similarity,
    word_alignment.word_weight,
    word_alignment.text_similarity,
)


def forget_texts() -> None:
    """Remove all texts and words from the caches of this process."""
    for function in CACHED:
        function.cache_clear()
