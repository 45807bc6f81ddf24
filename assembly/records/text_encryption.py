"""Texts that were stored in plain are encrypted in place, by the owner of the database: the role of the app may not.

The body of an existing record stays as it is, because the record's hash, which is in a seal, is of its bytes.
"""

from collections.abc import Iterator

from django.db import connections

from assembly.models.encryption import read_texts, seal_texts
from config.db.statements import fetch_rows

BATCH = 200
NEXT_SQL = """
SELECT sha256, text FROM stored_texts WHERE sha256 > %s AND text IS NOT NULL ORDER BY sha256 LIMIT %s
"""
SEAL_SQL = "SELECT seal_stored_texts(%s, %s)"


class NotReadableAgain(Exception):
    """A text that was just encrypted gave another one when it was decrypted; nothing of its batch was changed."""


def plain_texts_encrypt() -> Iterator[int]:
    """Encrypt all texts that are stored in plain, batch by batch, and yield how many each batch had.

    Each batch is a transaction of its own. Raises KeysUnavailable, and NotReadableAgain.
    """
    last = b""
    while rows := fetch_rows(NEXT_SQL, [last, BATCH], using="owner"):
        texts = {bytes(sha256): text for sha256, text in rows}
        sealed = seal_texts(texts)
        if read_texts((sha256, None, ciphertext) for sha256, ciphertext in sealed.items()) != texts:
            raise NotReadableAgain
        ((encrypted,),) = fetch_rows(SEAL_SQL, [list(sealed), list(sealed.values())], using="owner")
        last = max(texts)
        yield int(encrypted)


def vacuum_texts() -> None:
    """Free the space of former rows."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM stored_texts")
