"""This model stores the ids of requests of the memory contract, by which a repeated request gets the same answer."""

from django.db import models


class MemoryRequest(models.Model):
    """A memory request is stored for 24 hours: who sent it, its id, and the assembly that answered it.

    `body_sha256` is the hash of its body as canonical JSON; another body with the id is refused. The answer is built
    again from the record of the assembly; when that is deleted, the database deletes this row along with it.
    """

    principal = models.CharField(max_length=80)
    request_id = models.CharField(max_length=200)
    body_sha256 = models.BinaryField(max_length=32)
    assembly = models.UUIDField(db_index=True)
    created = models.DateTimeField()

    class Meta:
        db_table = "memory_requests"
        constraints = [models.UniqueConstraint(fields=["principal", "request_id"], name="memory_request_once")]
        indexes = [models.Index(fields=["created"], name="memory_request_created")]
