"""The errors of records that cannot be read: damaged ones, and those of which parts were erased."""

from dataclasses import dataclass
from datetime import datetime

from assembly.models.encryption import RecordErased
from assembly.records.seal_hashing import timestamp
from config.http.errors import DossierError


@dataclass(frozen=True, slots=True)
class ErasedParts:
    """What erasures removed from a record: the number of pieces, and the names of columns; and the last erasure."""

    created: datetime
    number: int
    pieces: int = 0
    columns: frozenset[str] = frozenset()

    @property
    def sentence(self) -> str:
        """A sentence on what is gone, since when and by which erasure."""
        gone = [f"{self.pieces:,} item{'s' * (self.pieces != 1)}"] if self.pieces else []
        gone += [name for name, column in (("its topic", "topic"), ("its decisions", "body")) if column in self.columns]
        gone += ["names in it"] if self.columns - {"topic", "body"} else []
        return f"Erasure {self.number} removed {' and '.join(gone)} from this context on {self.created:%Y-%m-%d}."


class RecordDamaged(DossierError):
    status = 500
    code = "record_damaged"
    title = "This record failed the integrity check"


class PartsErased(RecordErased):
    """Parts of the record were erased with the data of a person, so that it has no text to return any more."""

    title = "Parts of this record were erased"

    def __init__(self, erased: ErasedParts) -> None:
        super().__init__(
            f"{erased.sentence} So its text cannot be shown, and it cannot be replayed. Its seal is still valid.",
            erased_at=timestamp(erased.created),
            erasure=erased.number,
        )
