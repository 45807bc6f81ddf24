"""`train_ranker --data FOLDER --train 26,30 --out FILE`: the weights of a ranker, from labelled questions."""

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.training import labelled_questions, ranker_text
from config.http.errors import DossierError


class Command(BaseCommand):
    help = "Trains a ranker from conversations whose questions name their evidence. The database keeps nothing of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", required=True, type=Path, metavar="FOLDER", help="with a NAME.json for each")
        parser.add_argument("--train", required=True, metavar="NAMES", help="separated by commas")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="NAME.yaml: the ranker's name")
        parser.add_argument("--as-version", type=int, default=1, metavar="NUMBER")

    def handle(self, *, data: Path, train: str, out: Path, as_version: int, **_: Any) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,59}", out.stem) or out.suffix != ".yaml":
            raise CommandError("Call the file after the ranker, in small letters: support.yaml.")
        names = [name.strip() for name in train.split(",")]
        try:
            questions = [asked for name in names for asked in labelled_questions(data / f"{name}.json")]
        except DossierError as error:
            raise CommandError(error.detail) from error
        except (KeyError, TypeError, AttributeError) as error:
            raise CommandError(f"The list “qa” of a file cannot be read ({error!r}); correct it.") from error
        if not questions:
            raise CommandError("No question has evidence. Check that “qa” names turns of the conversation.")
        text = ranker_text(
            name=out.stem, version=as_version, source=f"{data.name} {', '.join(names)}", questions=questions
        )
        out.write_text(text, encoding="utf-8")
        self.stdout.write(text)
