"""`manage.py seal_texts` seals the texts above internal that were stored before live columns were sealed.

It may be interrupted and repeated, and may run while Dossier is in use.
"""

from collections.abc import Iterator

from django.core.management.base import CommandError

from assembly.records.sealed_pieces import plain_pieces_seal
from memories.lifecycle.plain_texts import plain_text_count, plain_texts_seal
from privacy.management.sealing_command import SealingCommand
from teams.sealing.columns import sealed_columns


class Command(SealingCommand):
    """Seal all texts above internal that lie in plain, in batches."""

    help = __doc__
    tables = sealed_columns()

    def batches(self) -> Iterator[int]:
        """Seal the next texts, and yield how many."""
        yield from (sealed for _table, sealed in plain_texts_seal())
        yield from plain_pieces_seal()

    def finish(self, done: int) -> None:
        """Say what was done. Raises CommandError if texts are left in plain."""
        self.stdout.write(f"{done:,} texts sealed." if done else "No text above internal was stored in plain.")
        if left := plain_text_count():
            raise CommandError(f"{left:,} texts were written in plain meanwhile, or are locked. Run this again.")
