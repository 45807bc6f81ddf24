"""`manage.py encrypt_records` encrypts the texts of contexts that were recorded before there was a key store.

It may be interrupted and repeated, and may run while Dossier is in use.
"""

from collections.abc import Iterator

from assembly.records.text_encryption import plain_texts_encrypt, vacuum_texts
from privacy.management.sealing_command import SealingCommand


class Command(SealingCommand):
    """Encrypt all texts that are stored in plain, in batches, each checked before it is stored."""

    help = __doc__
    tables = ("stored_texts",)

    def batches(self) -> Iterator[int]:
        """Encrypt the next texts, say how many there were so far, and free the space of their former rows."""
        done = 0
        for encrypted in plain_texts_encrypt():
            done += encrypted
            self.stdout.write(f"{done:,} texts encrypted.")
            yield encrypted
        vacuum_texts()

    def finish(self, done: int) -> None:
        """Say that none is left."""
        self.stdout.write("No text is stored in plain." if done else "No text was stored in plain.")
