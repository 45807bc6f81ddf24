"""How often what contexts are made of has changed, counted by the database's own triggers."""

from django.db import models


class ChangeCounter(models.Model):
    """One share of an owner's count; the sum of its shares grows with every committed change.

    An owner is an agent, a team, or `teams.database.ORGANISATION`. Each writer raises a share that nobody else holds,
    so writers never wait for each other. The shares of a deleted owner stay: its count must not start again.
    """

    pk = models.CompositePrimaryKey("owner", "shard")
    owner = models.UUIDField()
    shard = models.IntegerField()
    value = models.BigIntegerField()

    class Meta:
        db_table = "change_counters"
