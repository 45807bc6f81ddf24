"""Records: a folder of what an agent keeps beside its files and memories, and taking it over."""

from memories.records.folder import Records, records_read
from memories.records.storing import Stored, records_import

__all__ = ["Records", "Stored", "records_import", "records_read"]
