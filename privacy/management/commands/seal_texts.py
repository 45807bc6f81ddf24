"""`manage.py seal_texts` seals the texts above internal that were stored before live columns were sealed.

It may be interrupted and repeated, and may run while Dossier is in use.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.keys.store import is_configured
from memories.lifecycle.plain_texts import plain_text_count, plain_texts_seal
from privacy.erasure.table_rewrite import MayNotRewrite, TableBusy, table_rewrite
from teams.sealing.columns import sealed_columns


class Command(BaseCommand):
    """Seal all texts above internal that lie in plain, in batches."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rewrite",
            action="store_true",
            help="rewrite the tables afterwards, so that no former bytes remain in their files; others wait meanwhile",
        )

    def handle(self, *, rewrite: bool, **_: Any) -> None:
        if not is_configured():
            raise CommandError("There is no key store. Set KEYS_DATABASE_URL first, see docs/operations.md.")
        done = sum(sealed for _table, sealed in plain_texts_seal())
        busy = [table for table in sealed_columns() if rewrite and not self._rewritten(table)]
        self.stdout.write(f"{done:,} texts sealed." if done else "No text above internal was stored in plain.")
        if left := plain_text_count():
            raise CommandError(f"{left:,} texts were written in plain meanwhile, or are locked. Run this again.")
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
