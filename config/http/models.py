"""Answers to requests that carried an Idempotency-Key."""

from django.db import models


class IdempotentRequest(models.Model):
    """The first answer to a key of one principal at one address; repeats get it again instead of a second effect.

    `reach` are the ids of the teams that the principal reached then: whoever lost one does not get the answer again.
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
