"""What all the things that an agent keeps have in common."""

from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent
from teams.files import Signed


class Kept(Signed):
    """A thing of one agent. `version` counts its saved states; `external_id` is its id where it comes from.

    The database deletes it along with its agent.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    external_id = models.CharField(max_length=200, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    ref_kind: str
    """What its refs begin with."""

    class Meta:
        abstract = True

    @property
    def ref(self) -> str:
        """Names this state of it: event:<uuid>@1."""
        return f"{self.ref_kind}:{self.id}@{self.version}"


def once_per_agent(name: str) -> models.UniqueConstraint:
    """An external id stands for one row of an agent."""
    return models.UniqueConstraint(
        fields=["agent", "external_id"], condition=~models.Q(external_id=""), name=f"{name}_import_once"
    )


def newest_of_agent(name: str) -> models.Index:
    """The order of lists: newest first."""
    return models.Index(fields=["agent", "-created", "-id"], name=f"{name}_agent_newest")
