"""How well conflicts and duplicates between two texts are found, and how long a pair takes.

The pairs are in `tests/assembly/conflicts/pairs/`. `train.jsonl` is what the detection was trained with.
`held_out.jsonl`, `fresh.jsonl` (other styles) and `notes.jsonl` (short notes and German) were written as unseen pairs,
but none is unseen any more: the false alarms of `held_out` and `fresh` were read, a guard was made for one of `fresh`,
and variants were chosen by the figures of all files. `strangers.jsonl` was written by somebody who did not know the
detection; the recall was .30 when it was first measured. Since then the detection was tuned with it, so its figures
promise nothing for other texts. `unseen.jsonl` is by the same person, and nothing was tuned with it. `third.jsonl` is
by another stranger; the shipped weights were not tuned with it, either. The cosines are those of the bundled embedder.

`precision` and `recall` are those of conflicts, `false_alarms` is the share of pairs that agree (`duplicate`,
`refining`, `similar`) which are called conflicts, and `duplicate_precision` is the precision of duplicates: shares from
0 to 1. `reached_recall` counts only conflicts that workers compare at all, because their cosine is high enough. The
figures of the held-out pairs have these names; those of other files end with the name of the file, as in
`recall_train`. `ms_per_pair` is the time of a comparison of sentences that were not seen before, without embedding, and
`ms_per_long_pair` that of texts of 2,000 characters. DATA=folder prints the same figures for its files NAME.jsonl, with
left, right and label in each line.

`conflicts_per_1000_texts_NAME` is how many pairs are called conflicts when all texts of a corpus are compared as
workers do: see `conflict_corpora`, which reads more corpora from the folder
CORPORA. Few or none of them are real ones; SHOW=1 prints them on the standard error to be read.
"""

import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import django

from assembly.conflicts.detection.neighbours import CorpusText, find_neighbours
from tests.benchmarks.conflict_corpora import corpus_names, load_corpora
from tests.benchmarks.figures import figure

if TYPE_CHECKING:
    from assembly.conflicts.detection.figures import Outcome

NAME = "conflicts"
PAIRS = Path(__file__).parents[1] / "assembly" / "conflicts" / "pairs"
FILES = {"held_out": "", **{name: f"_{name}" for name in ("train", "fresh", "notes", "strangers", "unseen", "third")}}
"""The ending of the figures of each file."""
LONG_CHARACTERS, LONG_PAIRS = 2_000, 60


def run() -> None:
    """Print the figures of the pairs of this repository and of the folder DATA, and those of whole corpora."""
    django.setup()
    for name, ending in FILES.items():
        _print_figures(PAIRS / f"{name}.jsonl", ending)
    if data := os.environ.get("DATA"):
        for file in sorted(Path(data).glob("*.jsonl")):
            _print_figures(file, f"_{file.stem}")
    _print_times()
    for name, texts in load_corpora(corpus_names()):
        _print_found(name, texts)


def _print_found(name: str, texts: Sequence[CorpusText]) -> None:
    from assembly.conflicts.compared_texts import MIN_SIMILARITY, NEAREST
    from assembly.conflicts.detection import compare_texts
    from memories.embeddings.wordllama import WordLlama

    pairs = find_neighbours(texts, WordLlama(), floor=MIN_SIMILARITY, nearest=NEAREST)
    compared = [compare_texts(pair.left, pair.right, similarity=pair.similarity) for pair in pairs]
    found = [one for one in compared if one.label == "conflict"]
    if os.environ.get("SHOW"):
        for one in found:
            print(name, one.probability, one.left_statement, one.right_statement, sep=" | ", file=sys.stderr)
    figure(NAME, f"conflicts_per_1000_texts_{name}", len(found) * 1_000 / len(texts), "pairs", len(texts))


def _print_figures(file: Path, ending: str) -> None:
    from assembly.conflicts.compared_texts import MIN_SIMILARITY
    from assembly.conflicts.detection.classifier import load_classifier
    from assembly.conflicts.detection.figures import evaluate, figures_of, similarities_by
    from assembly.conflicts.detection.labelled_pairs import load_pairs
    from memories.embeddings.wordllama import WordLlama

    pairs, similarities = load_pairs(file), similarities_by(WordLlama())
    outcomes = evaluate(pairs, similarities, load_classifier())
    conflicts = [(one, cosine) for one, cosine in zip(outcomes, similarities(pairs), strict=True) if _is_found(one)]
    reached = sum(cosine >= MIN_SIMILARITY for _, cosine in conflicts)
    figures = figures_of(outcomes)
    figures["reached_recall"] = reached / max(1, sum(pair.label == "conflict" for pair in pairs))
    for name, value in figures.items():
        figure(NAME, name + ending, value, "share", len(pairs))


def _is_found(outcome: "Outcome") -> bool:
    return outcome.pair.label == outcome.found.label == "conflict"


def _print_times() -> None:
    from assembly.conflicts.detection.labelled_pairs import load_pairs

    pairs = [(pair.left, pair.right) for pair in load_pairs(PAIRS / "train.jsonl")]
    # Stems are cached for good: an installation knows its vocabulary after the first thousands of texts.
    _milliseconds(pairs)
    figure(NAME, "ms_per_pair", _milliseconds(pairs), "ms", len(pairs))
    long_pairs = _long_pairs([text for pair in pairs for text in pair])
    figure(NAME, "ms_per_long_pair", _milliseconds(long_pairs), "ms", len(long_pairs))


def _milliseconds(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the mean time of a comparison, without statements that were analysed before."""
    from assembly.conflicts.detection import compare_texts
    from assembly.conflicts.detection.statement_analysis import analyse

    analyse.cache_clear()
    started = time.perf_counter()
    for left, right in pairs:
        compare_texts(left, right, similarity=0.7)
    return (time.perf_counter() - started) * 1_000 / len(pairs)


def _long_pairs(sentences: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of texts that consist of random sentences."""
    chosen = random.Random(7)

    def text() -> str:
        return " ".join(chosen.sample(sentences, 60))[:LONG_CHARACTERS]

    return [(text(), text()) for _ in range(LONG_PAIRS)]
