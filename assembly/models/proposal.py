"""A proposal is a saved what-if, which people with the permission to make its changes accept or dismiss."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from assembly.models.assembly import VisibleQuerySet
from teams.sealing.fields import SealedJson, SealedText
from teams.sensitivity import Sensitive, SensitiveManager

MAX_NOTE_CHARACTERS = 1_000


class ProposalQuerySet(VisibleQuerySet["Proposal"]):
    """Proposals, visible to those who may read the agent and the team of their contexts."""


class Proposal(Sensitive):
    """Changed settings, tried on one recorded context, with the result at that time.

    Context, agent and team are stored by value, so that the proposal outlives them. `wishes` is `Overrides.to_dict()`;
    `basis` says whether the record alone sufficed (`assembly.simulation.what_if.services`). Tokens are those of the
    whole contexts; `came_in` and `went` are numbers of items that were newly included and no longer included.
    """

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        ACCEPTED = "accepted", "Accepted"
        DISMISSED = "dismissed", "Dismissed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    assembly_id = models.UUIDField(db_index=True)
    agent_id = models.UUIDField()
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=120)
    team_id = models.UUIDField(null=True)
    team_slug = models.CharField(max_length=60, blank=True)
    team_name = models.CharField(max_length=120, blank=True)
    wishes: Any = SealedJson()
    note = SealedText(blank=True, default="")
    basis = models.CharField(max_length=10)
    tokens_before = models.PositiveIntegerField()
    tokens_after = models.PositiveIntegerField()
    came_in = models.PositiveIntegerField()
    went = models.PositiveIntegerField()
    proposed_by = models.CharField(max_length=80)
    proposer_name = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    decided_by = models.CharField(max_length=80, blank=True, default="")
    decider_name = models.CharField(max_length=200, blank=True, default="")
    decided = models.DateTimeField(null=True)

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id", "organisation": ""}
    owners_together = True
    outlives_agent = True

    objects: ClassVar = SensitiveManager.from_queryset(ProposalQuerySet)()
    everything: ClassVar = models.Manager()

    class Meta:
        db_table = "proposals"
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["open", "accepted", "dismissed"]), name="proposal_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="open", decided=None) | (~Q(status="open") & Q(decided__isnull=False)),
                name="proposal_decided_once",
            ),
        ]
        indexes = [
            models.Index(fields=["-created", "-id"], name="proposal_newest"),
            models.Index(fields=["agent_id", "-created", "-id"], name="proposal_agent_newest"),
        ]

    @property
    def is_open(self) -> bool:
        """Whether the proposal is neither accepted nor dismissed yet."""
        return self.status == self.Status.OPEN
