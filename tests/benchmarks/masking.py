"""How much personal data is found in texts, and what that costs.

The texts are in `tests/assembly/masking/labelled_texts.jsonl`. `recall` and `precision` are those of all kinds
together, from 0 to 1, `recall_phone` and so on those of one kind. None of the texts is unseen any more:
docs/privacy.md has the figures of those that were. `ms_per_1000` is the time per 1,000 characters of these texts,
which are full of numbers, `ms_per_1000_prose` that of the lines of the documentation, and `ms_per_1000_logs` and so on
that of texts that consist of numbers.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import figure

NAME = "masking"
ROUNDS = 5


def run() -> None:
    """Print recall, precision and cost."""
    from tests.assembly.masking.labelled_texts import figures_of, labelled_texts
    from tests.assembly.masking.number_heavy import number_heavy_texts

    texts = labelled_texts()
    by_kind = figures_of(texts)
    labels = sum(one.labels for one in by_kind.values())
    for name in ("recall", "precision"):
        mean = sum(getattr(one, name) * one.labels for one in by_kind.values()) / labels
        figure(NAME, name, mean, "share", labels)
        for kind, one in by_kind.items():
            figure(NAME, f"{name}_{kind}", getattr(one, name), "share", one.labels)
    _print_cost("ms_per_1000", [one.text for one in texts])
    for sort, text in number_heavy_texts().items():
        _print_cost(f"ms_per_1000_{sort}", [text])
    pages = (Path(__file__).parents[2] / "docs").rglob("*.md")
    _print_cost("ms_per_1000_prose", [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()])


def _print_cost(name: str, texts: Sequence[str]) -> None:
    from assembly.masking.recognition import find_personal_data

    characters, best = sum(map(len, texts)), float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for text in texts:
            find_personal_data(text)
        best = min(best, time.process_time() - began)
    figure(NAME, name, best * 1e6 / characters, "ms", characters)
