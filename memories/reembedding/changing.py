"""The steps of a change. Each can be taken again, so whoever was interrupted begins again and goes on."""

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from memories.embedders import Embedder
from memories.embedders.base import MOST_DIMENSIONS
from memories.filling import DIRECTED, Advance, fill, lacking
from memories.models import EmbeddingSpace
from memories.reembedding.errors import BadChange
from memories.spaces import CHANGE_LOCK, Space, active_space

FEW_ROWS = 50
"""So many are embedded while all writers of vectors wait."""
PATIENCE_MS = 500
"""For writers that are under way. While it waits, new ones wait behind it."""


def change_begun(embedder: Embedder) -> Space:
    """The space to be filled for the embedder, in the slot that is free; noted, so that everybody sees the change.

    Raises BadChange for the embedder that is in use, or whose vectors are too long; EmbedderFailed.
    """
    active = active_space()
    if embedder.name == active.model:
        raise BadChange(f"{embedder.name} is in use already.")
    if (dimensions := embedder.dimensions) > MOST_DIMENSIONS:
        raise BadChange(
            f"{embedder.name} has {dimensions:,} dimensions; {MOST_DIMENSIONS:,} can be indexed. Use another model."
        )
    EmbeddingSpace.objects.update(next_model=embedder.name, next_dimensions=dimensions)
    return Space(embedder.name, dimensions, active.other_slot)


def lacking_rows(space: Space) -> int:
    """How many rows have no vector of the space yet."""
    return sum(lacking(model, space).count() for model in DIRECTED)


def filled(space: Space, advance: Advance) -> None:
    """Give all rows their vectors of the space, but those that somebody is changing. Raises EmbedderFailed."""
    for model in DIRECTED:
        fill(lacking(model, space), space, advance)


def switched(space: Space) -> bool:
    """Whether the space is the active one now. It is not while more than a few rows lack its vectors, or are held.

    Readers wait for nothing. Writers of vectors wait while the tables are looked through and the last rows are filled.
    """
    try:
        with transaction.atomic():
            _shut_out_writers()
            if not _completed(space):
                return False
            EmbeddingSpace.objects.update(
                model=space.model, dimensions=space.dimensions, slot=space.slot, next_model="", next_dimensions=None
            )
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return active_space() == space


def _shut_out_writers() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SET LOCAL lock_timeout = {PATIENCE_MS}; SELECT pg_advisory_xact_lock({CHANGE_LOCK});"
            " SET LOCAL lock_timeout TO DEFAULT"
        )


def _completed(space: Space) -> bool:
    for model in DIRECTED:
        rows = lacking(model, space)
        if len(rows.values_list("pk")[: FEW_ROWS + 1]) > FEW_ROWS:
            return False
        fill(rows, space, lambda _: None)
        if rows.exists():
            return False
    return True
