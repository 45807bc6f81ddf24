"""The model of responses to requests with an Idempotency-Key."""

from django.db import models


class IdempotentRequest(models.Model):
    """The response to the first request with a key, of a principal at an address, which repeated requests get again.

    `reach` are the ids of the teams that the principal had access to: after losing one of them, the principal does not
    get the response again.
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
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "idempotent_requests"
        constraints = [
            models.UniqueConstraint(fields=["principal", "method", "path", "key"], name="idempotent_request_once")
        ]
        indexes = [models.Index(fields=["created"], name="idempotent_request_created")]
