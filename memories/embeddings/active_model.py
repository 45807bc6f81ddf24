"""The space that texts are compared in, as a process knows it: which embedder's vectors, in which slot of each table.

The row of `embedding_space` says which one is active. Nobody asks for it beforehand: each statement that compares
vectors returns it as well, so whoever was told of another space since finds out at once and reads again. Who writes
vectors keeps it from changing until the transaction ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from config.db.statements import fetch_rows

SLOTS = ("embedding", "second_embedding")
"""Columns of vectors. Beside each is one with the name of the vector's embedder."""
COLUMNS = tuple(column for slot in SLOTS for column in (slot, f"{slot}_model"))

ACTIVE_MODEL_SQL = "(SELECT ARRAY[model, dimensions::text, slot] FROM embedding_space)"
"""In a statement that compares vectors: the space that is active in its snapshot."""
CHANGE_LOCK = 7_301_001
"""Shared by those who write vectors, exclusive to who changes the space: an advisory lock, so nobody overtakes."""

READ_SQL = "SELECT model, dimensions::text, slot FROM embedding_space"
# Two statements: the second one sees what the change that the first one waited for has brought.
LOCK_SQL = f"SELECT pg_advisory_xact_lock_shared({CHANGE_LOCK}); {READ_SQL}"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedder by its name, the dimensions of its vectors, and the slot that holds them."""

    model: str
    dimensions: int
    slot: str

    @property
    def model_column(self) -> str:
        """Whose model a row's vector is of."""
        return f"{self.slot}_model"

    @property
    def free_slot(self) -> str:
        """What is free for another embedder."""
        return SLOTS[1 - SLOTS.index(self.slot)]

    @property
    def here(self) -> str:
        """SQL: whether a row's vector is in this space. The parameter `model` is its embedder's name."""
        return f"{self.model_column} = %(model)s"


class EmbeddingModelChanged(Exception):
    """`space` is active, and no longer the one that was asked about."""

    def __init__(self, space: EmbeddingModel) -> None:
        self.space = space
        super().__init__(space.model)


_last_known = EmbeddingModel("wordllama:256", 256, "embedding")
"""What the process believes: at first, what is true of a new installation."""


def last_known_model() -> EmbeddingModel:
    """The space that was active when this process last heard of it."""
    return _last_known


def remember_model(told: Sequence[str]) -> EmbeddingModel:
    """The space that a statement returned as the active one; remembered."""
    global _last_known  # noqa: PLW0603 - one belief per process, and replacing it takes one step
    model, dimensions, slot = told
    _last_known = EmbeddingModel(model, int(dimensions), slot)
    return _last_known


def read_active_model() -> EmbeddingModel:
    """The space that is active now."""
    (row,) = fetch_rows(READ_SQL)
    return remember_model(row)


def lock_active_model() -> EmbeddingModel:
    """The space that stays active until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_SQL)
        cursor.nextset()
        return remember_model(cursor.fetchone())
