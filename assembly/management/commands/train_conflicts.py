"""`train_conflicts --data FOLDER --out FILE`: the weights by which conflicts are found, from labelled pairs."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.conflicts.detection.classifier_fitting import UnrelatedTexts, classifier_text
from assembly.conflicts.detection.figures import similarities_by
from assembly.conflicts.detection.labelled_pairs import LabelledPair, load_pairs
from assembly.conflicts.detection.neighbours import find_neighbours, load_corpus
from assembly.conflicts.nearest_texts import FURTHER, NEAREST
from config.http.errors import DossierError
from memories.embeddings.base import Embedder
from memories.embeddings.registry import find_embedder


class Command(BaseCommand):
    help = (
        "Trains the classifier of conflicts from pairs of texts with labels. Each file of --data has one JSON object "
        "per line, with left, right and label; each file of --corpora has one with text and item, what the text is a "
        "part of: its texts do not contradict each other. Nothing is stored in the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", required=True, type=Path, metavar="FOLDER", help="NAME.jsonl")
        parser.add_argument("--train", metavar="NAMES", help="separated by commas; without it, all that is not tested")
        parser.add_argument("--test", metavar="NAMES", default="", help="report the figures of these files in the file")
        parser.add_argument("--repeat", metavar="NAMES", default="", help="the pairs of these files count three times")
        parser.add_argument("--corpora", type=Path, metavar="FOLDER", help="NAME.jsonl: texts without contradictions")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="NAME.yaml: the classifier's name")
        parser.add_argument("--embedder", default="wordllama", metavar="NAME", help="its cosines are a feature")
        parser.add_argument("--as-version", type=int, default=1, metavar="NUMBER")

    def handle(
        self,
        *,
        data: Path,
        train: str | None,
        test: str,
        repeat: str,
        corpora: Path | None,
        out: Path,
        embedder: str,
        as_version: int,
        **_: Any,
    ) -> None:
        files = {file.stem: file for file in sorted(data.glob("*.jsonl"))}
        tested = _names(test)
        trained = _names(train) if train else [name for name in files if name not in tested]
        if missing := [name for name in (*trained, *tested) if name not in files]:
            raise CommandError(f"There is no {missing[0]}.jsonl in {data}.")
        if not trained:
            raise CommandError(f"There is no NAME.jsonl in {data} to train with.")
        unrelated = sorted(corpora.glob("*.jsonl")) if corpora else []
        if corpora and not unrelated:
            raise CommandError(f"There is no NAME.jsonl in {corpora}.")
        try:
            found = find_embedder(embedder)
            similarities = similarities_by(found)
        except DossierError as error:
            raise CommandError(error.detail) from error
        text = classifier_text(
            {name: _pairs(files[name]) for name in trained},
            {name: _pairs(files[name]) for name in tested},
            similarities,
            repeated=_names(repeat),
            unrelated={file.stem: _unrelated(file, found) for file in unrelated},
            name=out.stem,
            version=as_version,
        )
        out.write_text(text, encoding="utf-8")
        self.stdout.write(text)


def _names(said: str) -> list[str]:
    return [name.strip() for name in said.split(",") if name.strip()]


def _unrelated(file: Path, embedder: Embedder) -> UnrelatedTexts:
    try:
        texts = load_corpus(file)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return UnrelatedTexts(find_neighbours(texts, embedder, nearest=NEAREST, further=FURTHER), len(texts))


def _pairs(file: Path) -> Sequence[LabelledPair]:
    try:
        pairs = load_pairs(file)
    except ValueError as error:
        raise CommandError(str(error)) from error
    if not pairs:
        raise CommandError(f"{file.name} has no pairs. Write one JSON object per line, with left, right and label.")
    return pairs
