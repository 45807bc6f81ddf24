"""The errors of records that cannot be read: damaged ones, and those of which parts were erased."""

from assembly.records.erased_parts import ErasedParts
from assembly.records.seal_hashing import timestamp
from config.http.errors import DossierError


class RecordDamaged(DossierError):
    status = 500
    code = "record_damaged"
    title = "This record failed the integrity check"


class RecordErased(RecordDamaged):
    """Parts of the record were erased with the data of a person (410), so that it has no text to return any more."""

    status = 410
    code = "record_erased"
    title = "Parts of this record were erased"

    def __init__(self, erased: ErasedParts) -> None:
        super().__init__(
            f"{erased.sentence} So its text cannot be shown, and it cannot be replayed. Its seal is still valid.",
            erased_at=timestamp(erased.created),
            erasure=erased.number,
        )
