"""The models of responses to requests with an Idempotency-Key, and of callers' last writes."""

from django.db import models


class IdempotentRequest(models.Model):
    """The response to the first request with a key, of a principal at an address, which repeated requests get again.

    `body` is encrypted. `reach` is what the principal had access to, such as the ids of its teams: after losing some of
    it, the principal does not get the response again. Nor does it if texts became more sensitive since: `raised` is how
    often that had been counted when the request began.
    """

    principal = models.CharField(max_length=80)
    method = models.CharField(max_length=8)
    path = models.CharField(max_length=500)
    key = models.CharField(max_length=200)
    body_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")
    reach = models.JSONField(default=list)
    raised = models.BigIntegerField(default=0, db_default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "idempotent_requests"
        constraints = [
            models.UniqueConstraint(fields=["principal", "method", "path", "key"], name="idempotent_request_once")
        ]
        indexes = [models.Index(fields=["created"], name="idempotent_request_created")]


class LastWrite(models.Model):
    """The position in the write-ahead log (bytes) after the last request of a caller that may have written.

    It is only stored if there are read replicas. The caller reads no replica that has not replayed the position.
    """

    caller = models.CharField(max_length=80, primary_key=True)
    position = models.BigIntegerField()
    written_at = models.DateTimeField()

    class Meta:
        db_table = "last_writes"
