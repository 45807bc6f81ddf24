"""Commands that encrypt texts which an earlier version stored in plain share this base."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.keys.store import is_configured
from privacy.erasure.table_rewrite import MayNotRewrite, TableBusy, table_rewrite


class SealingCommand(BaseCommand):
    """Encrypts texts batch by batch. It may be interrupted and repeated, and may run while Dossier is in use."""

    tables: Iterable[str]
    """The tables whose rows are changed."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rewrite",
            action="store_true",
            help="rewrite the tables afterwards, so that no former bytes remain in their files; others wait meanwhile",
        )

    def batches(self) -> Iterator[int]:
        """Encrypt the next texts, and yield how many."""
        raise NotImplementedError

    def finish(self, done: int) -> None:
        """Say what was done, after tables were rewritten. Raises CommandError if texts are left in plain."""
        raise NotImplementedError

    def handle(self, *, rewrite: bool, **_: Any) -> None:
        if not is_configured():
            raise CommandError("There is no key store. Set KEYS_DATABASE_URL first, see docs/operations.md.")
        done = sum(self.batches())
        busy = [table for table in self.tables if rewrite and not self._rewritten(table)]
        self.finish(done)
        if busy:
            raise CommandError(f"Others use {', '.join(busy)}: former bytes may be in their files. Run this again.")

    def _rewritten(self, table: str) -> bool:
        """Write the table anew; return False if that is to be repeated, because others use it."""
        try:
            table_rewrite(table)
        except TableBusy:
            return False
        except MayNotRewrite as error:
            self.stdout.write(f"{table}: {error.sentence}.")
        return True
