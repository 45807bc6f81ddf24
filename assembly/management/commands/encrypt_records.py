"""`manage.py encrypt_records` encrypts the texts of contexts that were recorded before there was a key store.

It may be interrupted and repeated, and may run while Dossier is in use.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assembly.records.text_encryption import plain_texts_encrypt, vacuum_texts
from config.keys.store import is_configured


class Command(BaseCommand):
    """Encrypt all texts that are stored in plain, in batches, each checked before it is stored."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rewrite",
            action="store_true",
            help="rewrite the table afterwards, so that no former bytes remain in its files; contexts wait meanwhile",
        )

    def handle(self, *, rewrite: bool, **_: Any) -> None:
        if not is_configured():
            raise CommandError("There is no key store. Set KEYS_DATABASE_URL first, see docs/operations.md.")
        done = 0
        for encrypted in plain_texts_encrypt():
            done += encrypted
            self.stdout.write(f"{done:,} texts encrypted.")
        vacuum_texts(rewrite=rewrite)
        self.stdout.write("No text is stored in plain." if done else "No text was stored in plain.")
