"""The storage tiers of a thing, and the columns that say which one it is in."""

from typing import Any

from django.db import models
from django.utils import timezone

from memories.lifecycle.tier_checks import look_again


class Tier(models.TextChoices):
    """Where a thing is stored, the most accessible tier first.

    - hot: as it was written, with its vector and its words.
    - warm: its text is compressed; vector and words are as before, so it is searched like a hot one.
    - cold: its text is compressed, and search knows neither its vector nor its words. It is found by its name, in lists
      and as of an earlier moment.
    - frozen: its text is in a file or in an object store; the row has its hash, its size and its place.
    """

    HOT = "hot", "Hot"
    WARM = "warm", "Warm"
    COLD = "cold", "Cold"
    FROZEN = "frozen", "Frozen"

    @property
    def is_searched(self) -> bool:
        """Return whether search and contexts find things in this tier without their names."""
        return self in {Tier.HOT, Tier.WARM}

    @property
    def warmer(self) -> "Tier":
        """Return the next warmer tier; hot stays hot."""
        order = list(Tier)
        return order[max(0, order.index(self) - 1)]


IS_SEARCHED_SQL = "tier IN ('hot', 'warm')"
"""SQL condition that a row is in a tier that search and contexts read."""


STORAGE_COLUMNS = {
    "packed": "bytea",
    "frozen": "jsonb",
    "text_bytes": "integer",
    "text_characters": "integer",
    "text_asks": "boolean",
}
"""The types of the columns that only statements of the lifecycle read and write, by name."""


class Tiered(models.Model):
    """The abstract base of rows that are stored in tiers. `tier_since` is NULL for a row that was always hot.

    The table has further columns, which only the statements of `memories.lifecycle` read and write, so that hot rows
    cost nothing more: `packed` (the compressed text), `frozen` (its hash, size, key and place), `text_bytes`,
    `text_characters` and `text_asks` (facts of a text that is not in its column). Exactly one of the text's column,
    `packed` and `frozen` is not NULL. A trigger makes a row hot when a text is written to it, and computes its words.
    """

    tier = models.CharField(max_length=6, choices=Tier.choices, default=Tier.HOT, db_default=Tier.HOT)
    tier_since = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the row; what is written is hot again."""
        is_hot = self.tier == Tier.HOT
        if not is_hot:
            self.tier, self.tier_since = Tier.HOT, timezone.now()
        super().save(*args, **kwargs)
        if not is_hot and self.tier_since:
            look_again(self._meta.db_table, {self.pk: self.tier_since})

    @property
    def is_searched(self) -> bool:
        """Return whether search and contexts find the row without its name."""
        return Tier(self.tier).is_searched
