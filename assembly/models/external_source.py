"""External sources are HTTP endpoints of the organisation that are queried for candidates."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from teams.sensitivity import LEVEL_CHOICES, Sensitivity
from teams.versioned_text.versioned_file import Signed

MAX_NAME_CHARACTERS = 50
"""The most characters of a source's name; with an id of 100 characters, it makes a ref that fits in its column."""
MAX_LABEL_CHARACTERS = 80
MAX_URL_CHARACTERS = 2_000
DEFAULT_LIMIT, MAX_LIMIT = 20, 100  # results
DEFAULT_TIMEOUT_MS, MIN_TIMEOUT_MS, MAX_TIMEOUT_MS = 1_000, 50, 10_000

validate_name = RegexValidator(
    r"\A[a-z][a-z0-9_]*\Z",
    "Use lower-case letters, digits and underscores, beginning with a letter, as in open_tickets.",
)


class ExternalSource(Signed):
    """An HTTP endpoint that is queried for candidates; its name is the key of the sections that use it.

    `sealed_secret` is encrypted with the installation's SECRET_KEY; "" if the source has no secret.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=MAX_NAME_CHARACTERS, unique=True, validators=[validate_name])
    label = models.CharField(max_length=MAX_LABEL_CHARACTERS)
    url = models.CharField(max_length=MAX_URL_CHARACTERS)
    sealed_secret = models.TextField(blank=True, default="")
    limit = models.PositiveSmallIntegerField(default=DEFAULT_LIMIT)
    timeout_ms = models.PositiveSmallIntegerField(default=DEFAULT_TIMEOUT_MS)
    enabled = models.BooleanField(default=True)
    sensitivity = models.SmallIntegerField(
        choices=LEVEL_CHOICES, default=Sensitivity.INTERNAL, db_default=Sensitivity.INTERNAL
    )
    """The level of all its results; without the clearance for it, the source is not queried."""
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "external_sources"
        constraints = [
            models.CheckConstraint(condition=Q(limit__range=(1, MAX_LIMIT)), name="external_source_limit"),
            models.CheckConstraint(
                condition=Q(timeout_ms__range=(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS)), name="external_source_timeout"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="external_source_version_from_1"),
        ]

    def __str__(self) -> str:
        return self.name
