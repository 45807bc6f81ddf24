"""Whether the search puts the evidence first: questions about long conversations, whose answers stand in known turns.

DATA=folder has the conversations, TRAIN=26,30,41 those that the weights are trained on, TEST=42,43 those that are asked
about: through the import, the search and the engine's ranking. ABLATE=1 also trains without each group of features.
Without TRAIN, the shipped weights are tried.
"""

import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from assembly.engine.ranking import Ranker
    from assembly.training.labelled import Asked, Conversation
    from assembly.training.recall import Figures

NAME = "evidence_recall"
FOUND = 150
"""More than fit into the largest budget."""


def run() -> None:
    """Print the mean share of the evidence that comes first, over all questions and per category."""
    data = os.environ.get("DATA")
    if not data:
        print("evidence_recall needs conversations with questions: DATA=folder TEST=names", file=sys.stderr)
        return
    manage("migrate", "--verbosity", "0")
    django.setup()
    train, test = (_files(Path(data), variable) for variable in ("TRAIN", "TEST"))
    test = test or sorted(Path(data).glob("*.json"))
    _report("", _through_everything(test, _ranker(train)))
    if os.environ.get("ABLATE") and train:
        _ablate(train, test)


def _files(data: Path, variable: str) -> list[Path]:
    names = os.environ.get(variable, "")
    return [data / f"{name.strip()}.json" for name in names.split(",") if name.strip()]


def _ranker(train: list[Path]) -> "Ranker":
    import yaml

    from assembly.engine.ranking import Ranker
    from assembly.profiles.rankers import RANKERS
    from assembly.training import labelled_questions, ranker_text

    if not train:
        return RANKERS["default"]
    questions = [asked for file in train for asked in labelled_questions(file)]
    return Ranker.from_dict(yaml.safe_load(ranker_text(name="trained", version=1, source="", questions=questions)))


def _through_everything(test: list[Path], ranker: "Ranker") -> "list[tuple[str, Figures]]":
    """The category and the figures of each question."""
    from assembly.training import stored

    figures = []
    for file in test:
        with stored(file) as conversation:
            figures += [(asked.category, _asked(conversation, asked, ranker)) for asked in conversation.asked]
    return figures


def _asked(conversation: "Conversation", asked: "Asked", ranker: "Ranker") -> "Figures":
    from assembly.engine.scoring import rank
    from assembly.engine.types import Candidate
    from assembly.profiles import SIMILARITY_THRESHOLD
    from assembly.training import LINES, recall
    from memories.retrieval import memories_search

    found = memories_search(
        owner=conversation.agent, question=asked.question, weights=dict(ranker.weights), limit=FOUND, recent=20
    )
    candidates = [
        Candidate(str(memory.id), LINES.key, memory.text, similarity=memory.similarity, measures=memory.measures)
        for memory in found
    ]
    ranked = [item for item in rank(LINES, candidates, SIMILARITY_THRESHOLD, ranker=ranker) if item.code is None]
    ids = list(conversation.tokens)
    places = {str(id_): place for place, id_ in enumerate(ids)}
    order = [places[item.candidate.ref] for item in ranked]
    evidence = [places[str(id_)] for id_ in asked.evidence]
    return recall(order, evidence, list(conversation.tokens.values()))


def _report(prefix: str, figures: "list[tuple[str, Figures]]") -> None:
    from assembly.training import mean_figures

    by_category = defaultdict(list)
    for category, mine in figures:
        by_category[category].append(mine)
    for name, value in mean_figures([mine for _, mine in figures]).items():
        figure(NAME, f"{prefix}{name}", value, "share", len(figures))
    for category, some in sorted(by_category.items()):
        for name, value in mean_figures(some).items():
            figure(NAME, f"{prefix}category_{category}_{name}", value, "share", len(some))


def _ablate(train: list[Path], test: list[Path]) -> None:
    """The same weights' recall without each group of features, by the measures of all rows."""
    from assembly.training import GROUPS, TRAINED, labelled_questions, mean_recall, weights_of

    taught, asked = ([one for file in files for one in labelled_questions(file)] for files in (train, test))
    for group, gone in {"nothing": (), **GROUPS}.items():
        weights = weights_of(taught, [name for name in TRAINED if name not in gone])
        for name, value in mean_recall(asked, weights).items():
            figure(NAME, f"without_{group}_{name}", value, "share", len(asked))
