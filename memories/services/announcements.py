"""Services announce the rows whose texts they saved; apps that import this one listen.

The signal is sent within the transaction that saves the rows, once per batch, so that what a receiver writes is stored
together with them or not at all. Receivers must be fast: they may create a job, but must not compute.
"""

from collections.abc import Sequence

from django.db import models
from django.dispatch import Signal

texts_saved = Signal()  # sender: the model; rows: the rows as they are now, of one owner


def announce_texts(rows: Sequence[models.Model]) -> None:
    """Announce rows of one model and owner, which were created or have another text now; documents, after the split."""
    if rows:
        texts_saved.send(sender=type(rows[0]), rows=rows)
