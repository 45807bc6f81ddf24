"""Services announce rows whose texts they saved or brought into reach, and memories that they separated.

Apps that import this one listen.

A signal is sent within the transaction that saves the rows, once per batch, so that what a receiver writes is stored
together with them or not at all. Receivers must be fast: they may create a job, but must not compute.
"""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.dispatch import Signal

texts_saved = Signal()  # sender: the model; rows: the rows as they are now, of one owner
memories_separated = Signal()  # sender: Memory; kept, others: locked, separated now; principal: who separated them
texts_in_reach = Signal()  # sender: the model; ids: of rows, of any owners


def announce_texts(rows: Sequence[models.Model]) -> None:
    """Announce rows of one model and owner, which were created or have another text now; documents, after the split."""
    if rows:
        texts_saved.send(sender=type(rows[0]), rows=rows)


def announce_in_reach(model: type[models.Model], ids: Sequence[Any]) -> None:
    """Announce rows whose texts are not new, but can be compared with others only now, or differ in their day.

    Those are memories that stand again, and rows that search finds again or for the first time.
    """
    if ids:
        texts_in_reach.send(sender=model, ids=ids)
