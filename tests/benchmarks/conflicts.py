"""How well conflicts and duplicates between two texts are found, and how long a pair takes.

The pairs are in `tests/assembly/conflicts/pairs/`. The detection is trained with `train.jsonl`, with `wide.jsonl` and
`varied.jsonl` (other words, several clauses, English, German and Spanish), with `documentation.jsonl` (sentences of
this documentation that are near in meaning, none of which contradict each other), with `strangers.jsonl`, which two
people wrote who did not see the detection (`writer`), with `third.jsonl`, which a third one wrote, and with
`voices.jsonl`, twelve manners of writing (`voice`) by one developer. So their figures
promise nothing for other texts: what is measured without the pairs of a writer is in the weights, as
`without_the_writer`. `sealed.jsonl` is a third of the pairs of two more writers, chosen by a hash of the texts:
nobody has looked at it, and no weight or rule was made with it. The other two thirds, `opened.jsonl`, have been read,
but no rule that was made with them is in use. So the figures of both are the ones to expect of pairs like these.
Six further writers were asked for natural texts, most of whose contradictions have no cue: `everyday.jsonl`,
`companies.jsonl`, `institutions.jsonl`, `remembered.jsonl` (what assistants remember), `rules.jsonl` and
`reports.jsonl`. No weight or rule was made or chosen with them. The shipped language model was trained with
`everyday`, `companies`, `remembered` and `rules`, with `contrasts.jsonl`, which a developer wrote, and with
`writers.jsonl` of four more writers. `writers_held.jsonl` is a sixth of the pairs of these four, and `newcomers.jsonl`
is of a writer who saw neither the code nor other pairs: nothing was made or chosen with the latter. `lines.jsonl`
are notes and passages, by three strangers: one line of the passage may contradict the note. Limits were chosen with
them; `lines_unseen.jsonl` is of a fourth stranger, and was measured several times. The model was also trained with
`headed_lines.jsonl` (notes and lines with their headings, by eight writers) and
`hard_notes.jsonl` (eleven writers, whose agreeing pairs look like contradictions), and with most organisations (below);
`hard_unseen.jsonl` is of one more such writer.
`held_out.jsonl`, `fresh.jsonl` (other styles) and `notes.jsonl` (short notes and German) are not trained with, but
the false alarms of `held_out` and `fresh` were read, a guard was made for one of `fresh`, and variants were chosen by
the figures of all three. The cosines are those of the bundled embedder.

`precision` and `recall` are those of conflicts, `false_alarms` is the share of pairs that agree (`duplicate`,
`refining`, `similar`) which are called conflicts, and `duplicate_precision` is the precision of duplicates: shares from
0 to 1. `reached_recall` counts only conflicts that workers compare at all, because they are near. The
figures of the held-out pairs have these names; those of other files end with the name of the file, as in
`recall_train`. `ms_per_pair` is the time of a comparison of sentences that were not seen before, without embedding, and
`ms_per_long_pair` that of texts of 2,000 characters. DATA=folder prints the same figures for its files NAME.jsonl, with
left, right and label in each line.

Unless CONFLICT_MODEL_FOLDER is off, all figures of pairs, of corpora and of times are also printed with the language
model, with names that end with `_with_model`. The shipped model was trained with all files but `institutions`,
`sealed`, `fresh`, `newcomers`, `hard_unseen`, `lines`, `lines_unseen`, `reports` and `writers_held`, and its
thresholds were chosen with the last two, `lines` and organisations, so only its figures of the others are the ones to
expect.

`conflicts_per_1000_texts_NAME` is how many pairs are called conflicts when all texts of a corpus are compared as
workers do: see `conflict_corpora`, which says what detection was trained with, and reads more corpora from the folder
CORPORA. Few or none of them are real ones; SHOW=1 prints them on the standard error to be read.

`precision_organisations_USE`, `recall_…`, `reached_recall_…` and `wrong_per_100_texts_…` are those of whole
organisations with planted contradictions (`conflict_organisations`): USE is thresholds, with which these were chosen,
or unseen.
"""

import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import django

from assembly.conflicts.detection.nearness import is_near
from assembly.conflicts.detection.neighbours import CorpusText, find_neighbours
from tests.benchmarks.conflict_corpora import corpus_names, load_corpora
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from assembly.conflicts.detection import InferenceModel
    from assembly.conflicts.detection.figures import Outcome

NAME = "conflicts"
PAIRS = Path(__file__).parents[1] / "assembly" / "conflicts" / "pairs"
_OTHERS = (
    *("sealed", "opened", "train", "fresh", "notes", "wide", "varied", "strangers", "third", "voices"),
    *("everyday", "companies", "institutions", "remembered", "rules", "reports", "writers_held", "newcomers"),
    *("lines", "lines_unseen", "hard_unseen"),
)
FILES = {
    "held_out": "",
    **{name: f"_{name}" for name in _OTHERS},
}
"""The ending of the figures of each file."""
LONG_CHARACTERS, LONG_PAIRS = 2_000, 60


def run() -> None:
    """Print the figures of the pairs of this repository and of the folder DATA, and those of whole corpora."""
    manage("migrate", "--verbosity", "0")  # a model that is in use says so in the database
    django.setup()
    for name, ending in FILES.items():
        _print_figures(PAIRS / f"{name}.jsonl", ending)
    if data := os.environ.get("DATA"):
        for file in sorted(Path(data).glob("*.jsonl")):
            _print_figures(file, f"_{file.stem}")
    _print_times()
    for name, texts in load_corpora(corpus_names()):
        for model, ending in _models():
            _print_found(name, texts, model, ending)
    for model, ending in _models():
        _print_organisations(model, ending)


def _models() -> "list[tuple[InferenceModel | None, str]]":
    """Return no model, and that of the settings if there is one, with the endings of their figures."""
    from assembly.conflicts.language_model.model_in_use import model_in_use

    model = model_in_use()
    return [(None, ""), *([(model, "_with_model")] if model else [])]


def _print_found(name: str, texts: Sequence[CorpusText], model: "InferenceModel | None", with_model: str) -> None:
    from assembly.conflicts.detection import compare_texts
    from assembly.conflicts.nearest_texts import FURTHER, NEAREST
    from memories.embeddings.wordllama import WordLlama

    pairs = find_neighbours(texts, WordLlama(), nearest=NEAREST, further=FURTHER)
    compared = [compare_texts(pair.left, pair.right, similarity=pair.similarity, model=model) for pair in pairs]
    found = [one for one in compared if one.label == "conflict"]
    if os.environ.get("SHOW"):
        for one in found:
            print(name, one.probability, one.left_statement, one.right_statement, sep=" | ", file=sys.stderr)
    figure(NAME, f"conflicts_per_1000_texts_{name}{with_model}", len(found) * 1_000 / len(texts), "pairs", len(texts))


def _print_organisations(model: "InferenceModel | None", with_model: str) -> None:
    from tests.benchmarks.conflict_organisations import OrganisationFigures, load_organisations, measure, use_of

    sums: dict[str, OrganisationFigures] = {}
    for organisation in load_organisations():
        if (use := use_of(organisation.name)) in ("thresholds", "unseen"):
            sums.setdefault(use, OrganisationFigures()).add(measure(organisation, model))
    for use, counted in sums.items():
        for name, value in counted.shares().items():
            unit = "pairs" if name.startswith("wrong") else "share"
            figure(NAME, f"{name}_organisations_{use}{with_model}", value, unit, counted.texts)


def _print_figures(file: Path, ending: str) -> None:
    from assembly.conflicts.detection.classifier import load_classifier
    from assembly.conflicts.detection.figures import evaluate, figures_of, similarities_by
    from assembly.conflicts.detection.labelled_pairs import load_pairs
    from memories.embeddings.wordllama import WordLlama

    pairs, similarities = load_pairs(file), similarities_by(WordLlama())
    for model, with_model in _models():
        outcomes = evaluate(pairs, similarities, load_classifier(), model)
        conflicts = [(one, cosine) for one, cosine in zip(outcomes, similarities(pairs), strict=True) if _is_found(one)]
        reached = sum(is_near(one.pair.left, one.pair.right, cosine) for one, cosine in conflicts)
        figures = figures_of(outcomes)
        figures["reached_recall"] = reached / max(1, sum(pair.label == "conflict" for pair in pairs))
        for name, value in figures.items():
            figure(NAME, name + ending + with_model, value, "share", len(pairs))


def _is_found(outcome: "Outcome") -> bool:
    return outcome.pair.label == outcome.found.label == "conflict"


def _print_times() -> None:
    from assembly.conflicts.detection.labelled_pairs import load_pairs

    pairs = [(pair.left, pair.right) for pair in load_pairs(PAIRS / "train.jsonl")]
    # Stems are cached for good: an installation knows its vocabulary after the first thousands of texts.
    _milliseconds(pairs, None)
    long_pairs = _long_pairs([text for pair in pairs for text in pair])
    for model, with_model in _models():
        figure(NAME, f"ms_per_pair{with_model}", _milliseconds(pairs, model), "ms", len(pairs))
        figure(NAME, f"ms_per_long_pair{with_model}", _milliseconds(long_pairs, model), "ms", len(long_pairs))


def _milliseconds(pairs: Sequence[tuple[str, str]], model: "InferenceModel | None") -> float:
    """Return the mean time of a comparison, without anything that was cached before."""
    from assembly.conflicts.detection import compare_texts
    from assembly.conflicts.detection.caches import clear_caches

    clear_caches()
    started = time.perf_counter()
    for left, right in pairs:
        compare_texts(left, right, similarity=0.7, model=model)
    return (time.perf_counter() - started) * 1_000 / len(pairs)


def _long_pairs(sentences: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of texts that consist of random sentences."""
    chosen = random.Random(7)

    def text() -> str:
        return " ".join(chosen.sample(sentences, 60))[:LONG_CHARACTERS]

    return [(text(), text()) for _ in range(LONG_PAIRS)]
