"""`train_ranker --data FOLDER --out FILE`: the weights of a ranker, from labelled questions about kinds of text."""

import re
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from assembly.profiles.training.fitting import ranker_text
from assembly.profiles.training.labelled_questions import LabelledQuestion, load_labelled_questions
from config.http.errors import DossierError

SOURCES = "sources.yaml"
"""The file in the data folder that describes the texts of each kind, for inclusion in the ranker's file."""


class Command(BaseCommand):
    help = (
        "Trains a ranker from conversations whose questions name their evidence. Each subfolder "
        "of --data is one kind of text; files in the folder itself are one kind together. "
        "Nothing is stored in the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", required=True, type=Path, metavar="FOLDER", help="NAME.json or KIND/NAME.json")
        parser.add_argument("--train", metavar="NAMES", help="separated by commas; without it, all that is not tested")
        parser.add_argument("--test", metavar="NAMES", help="report their recall in the file; by default that of all")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="NAME.yaml: the ranker's name")
        parser.add_argument("--as-version", type=int, default=1, metavar="NUMBER")

    def handle(self, *, data: Path, train: str | None, test: str | None, out: Path, as_version: int, **_: Any) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", out.stem) or out.suffix != ".yaml":
            raise CommandError("Call the file after the ranker, in small letters: support.yaml.")
        to_test = _named_files(data, test)
        to_train = _named_files(data, train) if train else [file for file in _files(data) if file not in to_test]
        teaching = _questions(to_train)
        if not teaching:
            raise CommandError("No question has evidence. Check that “qa” names turns of the conversation.")
        text = ranker_text(
            name=out.stem,
            version=as_version,
            sources=_sources(data, to_train),
            train=teaching,
            test=_questions(to_test) or teaching,
        )
        out.write_text(text, encoding="utf-8")
        self.stdout.write(text)


def _files(data: Path) -> list[Path]:
    return sorted([*data.glob("*.json"), *data.glob("*/*.json")])


def _named_files(data: Path, names: str | None) -> list[Path]:
    wanted = [name.strip() for name in (names or "").split(",") if name.strip()]
    by_name = {file.stem: file for file in _files(data)}
    if missing := [name for name in wanted if name not in by_name]:
        raise CommandError(f"There is no {missing[0]}.json in {data} or one of its folders.")
    return [by_name[name] for name in wanted]


def _questions(files: Iterable[Path]) -> list[LabelledQuestion]:
    try:
        return [question for file in files for question in load_labelled_questions(file)]
    except DossierError as error:
        raise CommandError(error.detail) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"The list “qa” of a file cannot be read ({error!r}); correct it.") from error


def _sources(data: Path, files: Sequence[Path]) -> dict[str, str]:
    """Return, by kind, a description of the texts and the names of their files."""
    described = yaml.safe_load((data / SOURCES).read_text(encoding="utf-8")) if (data / SOURCES).exists() else {}
    names: dict[str, list[str]] = {}
    for file in files:
        names.setdefault(file.parent.name, []).append(file.stem)
    return {kind: f"{described.get(kind, 'files')} ({', '.join(stems)})" for kind, stems in names.items()}
