"""`reembed --to EMBEDDER` changes the embedder while everything stays in use."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.http.errors import DossierError
from memories.embeddings.active_model import EmbeddingModel, read_active_model
from memories.embeddings.backfill import Advance
from memories.embeddings.reembedding import (
    EmbedderChangeRefused,
    begin_change,
    build_index,
    clear_other_slot,
    count_missing,
    fill_all,
    reembedding_lock,
    switch_model,
)
from memories.embeddings.registry import find_embedder
from memories.imports.base import progress_bar
from memories.models import EmbeddingSpace

MAX_ATTEMPTS = 100
PAUSE_SECONDS = 0.1
LINES = 10


class Command(BaseCommand):
    help = "Changes the embedder without downtime. If it is interrupted, start it again to continue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--to", metavar="EMBEDDER", help="wordllama:128, fastembed:<model>, openai:<model> …")
        wanted.add_argument("--status", action="store_true", help="which embedder is in use, and how far a change is")
        wanted.add_argument(
            "--forget-old",
            action="store_true",
            help="drops vectors of the former embedder, or of an unfinished change",
        )

    def handle(self, *, to: str | None, status: bool, forget_old: bool, **_: Any) -> None:
        try:
            if status:
                self._tell()
            elif forget_old:
                self._forget()
            elif to is not None:
                self._change(to)
        except DossierError as error:
            raise CommandError(error.detail) from error

    def _tell(self) -> None:
        active, row = read_active_model(), EmbeddingSpace.objects.get()
        self.stdout.write(f"In use: {active.model}, {active.dimensions:,} dimensions; {_missing_phrase(active)}.")
        if row.next_model:
            coming = EmbeddingModel(row.next_model, row.next_dimensions or 0, active.free_slot)
            self.stdout.write(f"A change to {coming.model} was begun; {_missing_phrase(coming)}.")

    def _forget(self) -> None:
        with reembedding_lock(), self._progress("Emptying", 0) as advance:
            clear_other_slot(advance)
        self.stdout.write(f"In use: {read_active_model().model}. Nothing of another embedder is left.")

    def _change(self, name: str) -> None:
        embedder = find_embedder(name)
        with reembedding_lock():
            former = EmbeddingSpace.objects.get()
            if former.next_model not in {"", embedder.name}:
                self.stdout.write(f"The change to {former.next_model} that was begun is given up.")
            space = begin_change(embedder)
            with self._progress(f"Embedding with {space.model}", count_missing(space)) as advance:
                fill_all(space, advance)
            self.stdout.write("Building the index.")
            build_index(space)
            self._switch(space)
        self.stdout.write(f"In use now: {space.model}. `reembed --forget-old` drops the vectors of {former.model}.")

    def _switch(self, space: EmbeddingModel) -> None:
        for _ in range(MAX_ATTEMPTS):
            fill_all(space, lambda _: None)  # rows that were written during the last attempt
            if switch_model(space):
                return
            sleep(PAUSE_SECONDS)
        raise EmbedderChangeRefused(
            "So much is being written that it could not be switched. Start it again when there is less."
        )

    @contextmanager
    def _progress(self, what: str, total: int) -> Iterator[Advance]:
        """Yield a function that shows progress: a bar on a terminal, otherwise a line for each tenth."""
        if sys.stderr.isatty():
            with progress_bar(what, total) as advance:
                yield advance
            return
        done = 0

        def tell(rows: int) -> None:
            nonlocal done
            tenth, done = done * LINES // max(total, 1), done + rows
            if total and done * LINES // total > tenth:
                self.stdout.write(f"{what}: {done:,} of {total:,}")
                self.stdout.flush()

        yield tell


def _missing_phrase(space: EmbeddingModel) -> str:
    left = count_missing(space)
    return f"{left:,} rows lack its vectors" if left else "all rows have its vectors"
