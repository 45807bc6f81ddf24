"""The record of assemblies: append-only, without keys into what it describes, so that it survives all of it."""

import hashlib

from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.engine import types as engine
from assembly.engine.codes import Code
from teams.models import Team
from teams.principal import Principal


class StoredText(models.Model):
    """A text that some assembly considered, stored once however many assemblies did."""

    append_only = True

    sha256 = models.BinaryField(primary_key=True, max_length=32)
    text = models.TextField()

    class Meta:
        db_table = "stored_texts"


def text_hash(text: str) -> bytes:
    """The key under which a text is stored: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


class AssemblyQuerySet(models.QuerySet["Assembly"]):
    def visible_to(self, principal: Principal) -> "AssemblyQuerySet":
        """Those whose agent *and* team the principal may read; once one of them is gone, admins alone."""
        if principal.is_admin:
            return self
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return self.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)


class Assembly(models.Model):
    """One finished context with everything it was made of; `Decision` has a row per candidate.

    `parent` is the assembly that this one was made from by adding an event. `decided_in` is the one that this repeats:
    its decisions are this one's, too, so they may go only along with the last that refers to them. Tokens and
    milliseconds are whole numbers. `request` holds what has no column of its own: session, signals, filters, strategy,
    format. `request`, `profile`, `sections` and `sources` are JSON as the service, the engine and `gather` gave them:
    with the candidates of the decisions they are all that a replay needs.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField()
    agent_id = models.UUIDField()
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=120)
    team_id = models.UUIDField(null=True)
    team_slug = models.CharField(max_length=60, blank=True)
    team_name = models.CharField(max_length=120, blank=True)
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True)
    parent = models.UUIDField(null=True, db_index=True)
    decided_in = models.UUIDField(null=True, db_index=True)
    topic = models.TextField(blank=True)
    profile_name = models.CharField(max_length=60)
    profile_version = models.PositiveIntegerField()
    tokenizer = models.CharField(max_length=60)
    now = models.DateTimeField()
    budget = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    truncated = models.BooleanField()
    left_out = models.PositiveIntegerField()
    warnings = models.JSONField()
    sha256 = models.BinaryField(max_length=32)
    engine_version = models.PositiveSmallIntegerField()
    request = models.JSONField(default=dict)
    profile = models.JSONField()
    sections = models.JSONField()
    sources = models.JSONField()
    assembly_ms = models.PositiveIntegerField()

    objects = AssemblyQuerySet.as_manager()

    class Meta:
        db_table = "assemblies"
        indexes = [
            models.Index(fields=["-created", "-id"], name="assembly_newest"),
            models.Index(fields=["agent_id", "-created", "-id"], name="assembly_agent_newest"),
            models.Index(fields=["team_id", "-created", "-id"], name="assembly_team_newest"),
            models.Index(fields=["requested_by", "-created", "-id"], name="assembly_requester_newest"),
            models.Index(fields=["profile_name", "-created", "-id"], name="assembly_profile_newest"),
        ]

    @property
    def decisions(self) -> "models.QuerySet[Decision]":
        """What happened to each candidate."""
        return Decision.objects.filter(assembly=self.decided_in or self.id)


class Decision(models.Model):
    """What happened to one candidate of one assembly, and why."""

    append_only = True

    # Found by the index of the constraint below, whose first column it is.
    assembly = models.ForeignKey(Assembly, models.DO_NOTHING, related_name="own_decisions", db_index=False)
    position = models.PositiveIntegerField()
    section = models.CharField(max_length=60)
    source = models.CharField(max_length=60)
    ref = models.CharField(max_length=160)
    candidate = models.JSONField()
    text_sha256 = models.BinaryField(max_length=32)
    code = models.CharField(max_length=30)
    included = models.BooleanField()
    rank = models.PositiveIntegerField(null=True)
    score = models.FloatField(null=True)
    signals = models.JSONField()
    tokens = models.PositiveIntegerField()
    tokens_full = models.PositiveIntegerField()
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    detail = models.JSONField()

    class Meta:
        db_table = "decisions"
        constraints = [models.UniqueConstraint(fields=["assembly", "position"], name="decision_position_once")]
        indexes = [models.Index(fields=["ref"], name="decision_ref")]

    def as_decided(self) -> engine.Decision:
        """The decision as the engine took it."""
        return engine.Decision(
            ref=self.ref,
            section=self.section,
            code=Code(self.code),
            rank=self.rank,
            score=self.score,
            signals=tuple(self.signals.items()),
            tokens=self.tokens,
            tokens_full=self.tokens_full,
            start=self.start,
            end=self.end,
            detail=self.detail,
        )
