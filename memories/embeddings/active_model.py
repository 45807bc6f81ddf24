"""The active embedding model is cached in each process: the embedder's name and the slot that holds its vectors.

The row of `embedding_space` is authoritative. The cache is not checked beforehand: each statement that compares vectors
also returns the model that is active, so a process notices a change at once and reads again. A transaction that writes
vectors holds a lock that keeps the model from changing until its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from config.db.statements import fetch_rows

SLOTS = ("embedding", "second_embedding")
"""Columns of vectors. Next to each is a column with the name of the vector's embedder."""
COLUMNS = tuple(column for slot in SLOTS for column in (slot, f"{slot}_model"))

ACTIVE_MODEL_SQL = "(SELECT ARRAY[model, dimensions::text, slot] FROM embedding_space)"
"""SQL expression for the embedding model that is active in the snapshot of a statement that compares vectors."""
CHANGE_LOCK = 7_301_001
"""An advisory lock: shared by transactions that write vectors, exclusive for the one that changes the active model."""

READ_SQL = "SELECT model, dimensions::text, slot FROM embedding_space"
# Two statements, because the second one must see what was committed while the first one waited for the lock.
LOCK_SQL = f"SELECT pg_advisory_xact_lock_shared({CHANGE_LOCK}); {READ_SQL}"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedder, by its name, with the dimensions of its vectors and the slot (column) that holds them."""

    model: str
    dimensions: int
    slot: str

    @property
    def model_column(self) -> str:
        """The column that names the embedder of a row's vector in this slot."""
        return f"{self.slot}_model"

    @property
    def free_slot(self) -> str:
        """The slot that this model does not use, which is free for another embedder."""
        return SLOTS[1 - SLOTS.index(self.slot)]

    @property
    def here(self) -> str:
        """SQL condition that a row's vector was made by this embedder, whose name is the parameter `model`."""
        return f"{self.model_column} = %(model)s"


class EmbeddingModelChanged(Exception):
    """Raised where vectors were compared with an embedding model that is not active any more; `space` is active."""

    def __init__(self, space: EmbeddingModel) -> None:
        self.space = space
        super().__init__(space.model)


_last_known = EmbeddingModel("wordllama:256", 256, "embedding")
"""The active model as this process knows it; at first, the model of a new installation."""


def last_known_model() -> EmbeddingModel:
    """Return the model that was active when this process last read it."""
    return _last_known


def remember_model(told: Sequence[str]) -> EmbeddingModel:
    """Return the active model as a statement returned it (name, dimensions, slot), and cache it in this process."""
    global _last_known  # noqa: PLW0603 - one value per process, which is replaced in one step
    model, dimensions, slot = told
    _last_known = EmbeddingModel(model, int(dimensions), slot)
    return _last_known


def read_active_model() -> EmbeddingModel:
    """Return the active model from the database, and cache it in this process."""
    (row,) = fetch_rows(READ_SQL)
    return remember_model(row)


def lock_active_model() -> EmbeddingModel:
    """Lock the active model until the transaction ends, so that it cannot be changed, and return it."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_SQL)
        cursor.nextset()
        return remember_model(cursor.fetchone())
