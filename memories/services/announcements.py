"""Services announce the rows whose texts they saved, and the memories that they separated; apps that import this one
listen.

A signal is sent within the transaction that saves the rows, once per batch, so that what a receiver writes is stored
together with them or not at all. Receivers must be fast: they may create a job, but must not compute.
"""

from collections.abc import Sequence

from django.db import models
from django.dispatch import Signal

texts_saved = Signal()  # sender: the model; rows: the rows as they are now, of one owner
memories_separated = Signal()  # sender: Memory; kept, others: locked, separated now; principal: who separated them


def announce_texts(rows: Sequence[models.Model]) -> None:
    """Announce rows of one model and owner, which were created or have another text now; documents, after the split."""
    if rows:
        texts_saved.send(sender=type(rows[0]), rows=rows)
