"""Models of limits that admins set, and of the usage per day."""

from typing import Any

from django.db import models


class QuotaLimit(models.Model):
    """The limits of a subject (`key:…`, `person:…`, `agent:…`, `team:…`), set by the organisation or by a team's
    admins.

    The organisation's limits replace the defaults in the settings; those of a team's admins can only be lower. Null
    means that a limit is not set, 0 that there is none.
    """

    subject = models.CharField(max_length=60)
    by_organisation = models.BooleanField()
    requests_under_way = models.BigIntegerField(null=True)
    requests_per_minute = models.BigIntegerField(null=True)
    text_bytes_per_day = models.BigIntegerField(null=True)
    record_bytes_per_day = models.BigIntegerField(null=True)

    class Meta:
        app_label = "agents"
        db_table = "quota_limits"
        constraints = [models.UniqueConstraint(fields=["subject", "by_organisation"], name="quota_limit_once")]

    def __str__(self) -> str:
        return self.subject

    def values(self) -> dict[str, Any]:
        """Return the limits by name."""
        return {name: getattr(self, name) for name in LIMIT_NAMES}


LIMIT_NAMES = ("requests_under_way", "requests_per_minute", "text_bytes_per_day", "record_bytes_per_day")


class DailyUse(models.Model):
    """The usage of a subject on a day in UTC. Rejected requests are counted separately."""

    subject = models.CharField(max_length=60)
    day = models.DateField()
    requests = models.BigIntegerField(default=0)
    refused = models.BigIntegerField(default=0)
    text_bytes = models.BigIntegerField(default=0)
    record_bytes = models.BigIntegerField(default=0)

    class Meta:
        app_label = "agents"
        db_table = "daily_uses"
        constraints = [models.UniqueConstraint(fields=["subject", "day"], name="daily_use_once")]

    def __str__(self) -> str:
        return f"{self.subject} on {self.day}"

    @property
    def text_megabytes(self) -> float:
        """The size of the stored texts in megabytes."""
        return self.text_bytes / 1_000_000

    @property
    def record_megabytes(self) -> float:
        """The size of the stored records in megabytes."""
        return self.record_bytes / 1_000_000
