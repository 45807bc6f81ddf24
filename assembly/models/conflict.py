"""A conflict is a pair of stored texts that contradict each other, or that say the same; a person may decide on it.

The background job of `assembly.conflicts.find` finds conflicts. Their current state is a row that changes; what people
did with them is added to `conflict_decisions`, and never changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self, cast
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from agents.models import Agent, AgentTeam
from assembly.engine.reconciliation import CONFIDENCES, Reconciliation, Resolution
from assembly.engine.refs import Ref
from memories.models import Memory
from teams.models import Team
from teams.principal import Action, Principal
from teams.sealing.fields import SealedText, key_owner, must_be_sealed
from teams.sensitivity import Sensitive, SensitiveManager

MAX_REF_CHARACTERS = 160
MAX_REASON_CHARACTERS = 1_000
MAX_STATEMENT_CHARACTERS = 2_000
MAX_MODEL_CHARACTERS = 120
FILE_REFS = "^(agent_file|team_file):"
"""The refs of files, which require another right than memories, logs and documents."""


class ConflictKind(models.TextChoices):
    """In what the texts differ; a duplicate differs in nothing that matters."""

    NUMBER = "number", _("Number")
    DATE = "date", _("Date")
    TIME = "time", _("Time")
    NEGATION = "negation", _("Negation")
    STATE = "state", _("State")
    PROPERTY = "property", _("Property")
    MEANING = "meaning", _("Meaning")
    DUPLICATE = "duplicate", _("Duplicate")


class ConflictStatus(models.TextChoices):
    """A conflict waits for a person, or is decided. It is gone when either side has another text, or when it is not
    found again.
    """

    OPEN = "open", _("Open")
    RESOLVED = "resolved", _("Resolved")
    GONE = "gone", _("Gone")


class GoneReason(models.TextChoices):
    """A conflict is gone because a side has another text, or because a later comparison calls the pair none."""

    TEXT_CHANGED = "text_changed", _("A text was changed")
    NOT_FOUND = "not_found", _("Not found again")


class ConflictResolution(models.TextChoices):
    """A person decides which side holds, that both hold, or rewrites a side."""

    LEFT = "left", _("The first holds")
    RIGHT = "right", _("The second holds")
    BOTH = "both", _("Both hold")
    EDITED = "edited", _("Edited")


class ConflictStrategy(models.TextChoices):
    """A strategy says how a conflict is handled (seed "Memory Layer": ConflictResolution)."""

    PRECEDENCE = "precedence", _("By precedence")
    MERGE = "merge", _("Merged")
    FLAG = "flag", _("Flagged for review")
    USER_CHOICE = "user_choice", _("Decided by a person")


class ConflictQuerySet(models.QuerySet["Conflict"]):
    def visible_to(self, principal: Principal) -> Self:
        """Return the conflicts of which the principal may read both sides."""
        return self._permitted(principal, Action.READ)

    def resolvable_by(self, principal: Principal) -> Self:
        """Return the conflicts of which the principal may change both sides; none for the key of an agent.

        Texts of the organisation are changed by its admins alone.
        """
        if principal.kind == "agent_key":
            return self.none()
        rows = self._permitted(principal, Action.WRITE)
        if principal.is_admin:
            return rows
        files = Q(left_ref__regex=FILE_REFS) | Q(right_ref__regex=FILE_REFS)
        editable = self._permitted(principal, Action.EDIT).values("id")
        return rows.filter(~files | Q(id__in=editable), of_organisation=False)

    def waiting(self) -> Self:
        """Return the open conflicts between texts of which a context may include both: no side is archived or
        superseded, and the agent of one side works in the team of the other one.
        """
        left, right = _outdated("left_item"), _outdated("right_item")
        links = AgentTeam.objects.filter(agent=OuterRef("agent_id"), team=OuterRef("team_id"))
        together = Q(agent=None) | Q(team=None) | Exists(links)
        return self.filter(together, ~Exists(left), ~Exists(right), status=ConflictStatus.OPEN)

    def selected(
        self, *, status: str = "open", kind: str = "", agent_id: UUID | None = None, team_id: UUID | None = None
    ) -> Self:
        """Return the conflicts in this status (`all`: in any), of a kind, an agent and a team if they are given.

        `open` are those that wait for a person.
        """
        rows = self if status == "all" else self.waiting() if status == "open" else self.filter(status=status)
        rows = rows.filter(kind=kind) if kind else rows
        rows = rows.filter(agent_id=agent_id) if agent_id else rows
        return rows.filter(team_id=team_id) if team_id else rows

    def about(self, items: Iterable[UUID]) -> Self:
        """Return the conflicts of which a side is one of these memories, files, documents or entities."""
        ids = list(items)
        return self.filter(Q(left_item__in=ids) | Q(right_item__in=ids))

    def _permitted(self, principal: Principal, action: Action) -> Self:
        if principal.is_admin:
            return self
        agents = Agent.objects.permitting(action, principal).values("id")
        teams = Team.objects.permitting(action, principal).values("id")
        return self.filter(Q(agent_id=None) | Q(agent_id__in=agents), Q(team_id=None) | Q(team_id__in=teams))


def _outdated(column: str) -> "models.QuerySet[Memory]":
    return Memory.objects.filter(Q(superseded_by__isnull=False) | ~Q(retired_because=""), id=OuterRef(column))


class Conflict(Sensitive):
    """A conflict between the left and the right text, of which the left one has the lower id.

    A side is a memory, a passage of a file or document, or an entity: `left_ref` names it in the version that was
    compared, `left_item` is the id of the row that is versioned, and `left_statement` the sentence that differs.
    `agent` and `team` are those of the two sides: a conflict of an agent's memory with a team's file has both, and one
    between two teams' texts does not exist. If `of_organisation` is true, a side is a file of the organisation.

    `similarity` is the cosine of the texts, `subject`, `severity` and `probability` are 0 to 1. `model` names the
    language model that found the conflict; it is empty where the cues did. `strategy`, `confidence` and `reasoning` say
    how a context handles the conflict as it is now. A pair of texts has one row, so what a person decided holds when
    the pair is found again. `gone_because` says why a conflict is gone, and is empty if it is not.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    of_organisation = models.BooleanField(default=False)
    kind = models.CharField(max_length=10, choices=ConflictKind.choices)
    cue = SealedText(max_length=500)
    similarity = models.FloatField()
    subject = models.FloatField()
    severity = models.FloatField()
    probability = models.FloatField()
    model = models.CharField(max_length=MAX_MODEL_CHARACTERS, blank=True, default="", db_default="")
    left_ref = models.CharField(max_length=MAX_REF_CHARACTERS)
    left_item = models.UUIDField()
    left_sha256 = models.BinaryField(max_length=32)
    left_statement = SealedText(max_length=MAX_STATEMENT_CHARACTERS)
    right_ref = models.CharField(max_length=MAX_REF_CHARACTERS)
    right_item = models.UUIDField()
    right_sha256 = models.BinaryField(max_length=32)
    right_statement = SealedText(max_length=MAX_STATEMENT_CHARACTERS)
    strategy = models.CharField(max_length=12, choices=ConflictStrategy.choices)
    confidence = models.FloatField()
    reasoning = SealedText(max_length=500)
    status = models.CharField(max_length=10, choices=ConflictStatus.choices, default=ConflictStatus.OPEN)
    resolution = models.CharField(max_length=10, choices=ConflictResolution.choices, blank=True, default="")
    reason = SealedText(max_length=MAX_REASON_CHARACTERS, blank=True, default="")
    resolved_by = models.CharField(max_length=80, blank=True, default="")
    resolver_name = models.CharField(max_length=200, blank=True, default="")
    resolved_at = models.DateTimeField(null=True)
    found = models.DateTimeField(auto_now_add=True)
    closed = models.DateTimeField(null=True)
    gone_because = models.CharField(max_length=12, choices=GoneReason.choices, blank=True, default="", db_default="")

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id", "organisation": ""}
    owners_together = True

    objects: ClassVar = SensitiveManager.from_queryset(ConflictQuerySet)()
    everything: ClassVar = models.Manager()

    class Meta:
        db_table = "conflicts"
        ordering: ClassVar[list[str]] = ["-found", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["left_item", "left_sha256", "right_item", "right_sha256"], name="conflict_once_per_texts"
            ),
            models.CheckConstraint(condition=Q(status__in=ConflictStatus.values), name="conflict_status_known"),
            models.CheckConstraint(condition=Q(kind__in=ConflictKind.values), name="conflict_kind_known"),
            models.CheckConstraint(
                condition=Q(gone_because__in=["", *GoneReason.values]), name="conflict_gone_reason_known"
            ),
            models.CheckConstraint(
                condition=Q(resolution="", resolved_at=None) | (~Q(resolution="") & Q(resolved_at__isnull=False)),
                name="conflict_resolved_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(status="resolved") | ~Q(resolution=""), name="conflict_resolved_has_resolution"
            ),
            models.CheckConstraint(
                condition=Q(agent__isnull=False) | Q(team__isnull=False) | Q(of_organisation=True),
                name="conflict_has_owner",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-found", "-id"], name="conflict_newest"),
            models.Index(fields=["-found", "-id"], condition=Q(status="open"), name="conflict_open"),
            # By these three, contexts read the conflicts of their owners: see `assembly.pipeline.reconciliations`.
            models.Index(fields=["agent", "-found"], condition=~Q(status="gone"), name="conflict_agent"),
            models.Index(fields=["team", "-found"], condition=Q(agent=None) & ~Q(status="gone"), name="conflict_team"),
            models.Index(
                fields=["-found"], condition=Q(agent=None, team=None) & ~Q(status="gone"), name="conflict_organisation"
            ),
            models.Index(fields=["left_item"], name="conflict_left"),
            models.Index(fields=["right_item"], name="conflict_right"),
        ]

    @property
    def is_open(self) -> bool:
        """This tells whether the conflict waits for a person's decision."""
        return self.status == ConflictStatus.OPEN

    @property
    def is_duplicate(self) -> bool:
        """This tells whether the sides say the same."""
        return self.kind == ConflictKind.DUPLICATE

    @property
    def is_apart(self) -> bool:
        """This tells whether the agent of one side does not work in the team of the other one; a query."""
        links = AgentTeam.objects.filter(agent=self.agent_id, team=self.team_id)
        return bool(self.agent_id and self.team_id) and not links.exists()

    def close(self, because: GoneReason) -> None:
        """Mark the conflict as gone for this reason; the caller saves it."""
        self.status, self.gone_because, self.closed = ConflictStatus.GONE, because, timezone.now()

    def reopen(self) -> None:
        """Mark a conflict whose texts are there again as it was before: decided, or open; the caller saves it.

        An edit decides nothing once the text from before is there again.
        """
        if self.resolution == ConflictResolution.EDITED:
            self.resolution, self.reason, self.resolved_at = "", "", None
            self.resolved_by, self.resolver_name = "", ""
        self.status = ConflictStatus.RESOLVED if self.resolution else ConflictStatus.OPEN
        self.gone_because, self.closed = "", None

    def as_reconciliation(self) -> Reconciliation:
        """Return the conflict as contexts take it, between the texts that were compared."""
        return Reconciliation(
            id=str(self.id),
            left=self.left_ref,
            right=self.right_ref,
            kind=self.kind,
            severity=self.severity,
            similarity=self.similarity,
            cue=self.cue,
            resolution=cast("Resolution", str(self.resolution)),
            decided_by=self.resolver_name,
            decided_at=self.resolved_at.isoformat() if self.resolved_at else "",
        )

    def explain(self) -> None:
        """Set how contexts handle the conflict as it is now, at a sensitivity of 1."""
        reconciliation = self.as_reconciliation()
        strategy = reconciliation.strategy()
        self.strategy, self.confidence = strategy, CONFIDENCES[strategy]
        self.reasoning = reconciliation.reasoning(strategy)

    @property
    def sides(self) -> tuple["ConflictSide", "ConflictSide"]:
        """The left and the right side."""
        return (
            ConflictSide(self.left_ref, self.left_item, bytes(self.left_sha256), self.left_statement),
            ConflictSide(self.right_ref, self.right_item, bytes(self.right_sha256), self.right_statement),
        )


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a conflict: its ref, the id of its row, the SHA-256 of the compared text, and the statement."""

    ref: str
    item: UUID
    sha256: bytes
    statement: str

    @property
    def kind(self) -> str:
        """The kind of the item, as in its ref: memory, team_file, chunk, entity."""
        return Ref.parse(self.ref).kind


class ConflictAction(models.TextChoices):
    """A conflict is resolved by a person, or the decision is undone."""

    RESOLVE = "resolve", _("Resolved")
    UNDO = "undo", _("Undone")


class ConflictDecision(models.Model):
    """A decision says what a person did with a conflict, and is kept as long as the conflict. It is undone by a person,
    or, if it is an edit, by the system when the text from before is saved again.

    `effects` lists what the decision changed, so that it can be undone: the memory that was superseded or archived, and
    its version afterwards.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conflict = models.ForeignKey(Conflict, models.DO_NOTHING, db_constraint=False, related_name="decisions")
    action = models.CharField(max_length=10, choices=ConflictAction.choices)
    resolution = models.CharField(max_length=10, choices=ConflictResolution.choices, blank=True, default="")
    reason = SealedText(max_length=MAX_REASON_CHARACTERS, blank=True, default="")
    effects = models.JSONField(default=list)
    by_ref = models.CharField(max_length=80)
    by_name = models.CharField(max_length=200, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "conflict_decisions"
        ordering: ClassVar[list[str]] = ["created", "id"]

    @property
    def sealed_for(self) -> UUID | None:
        """The owner of the key under which the reason is sealed; None if the conflict is not above internal."""
        return key_owner(self.conflict) if must_be_sealed(self.conflict) else None


class UncomparedItem(models.Model):
    """An item that was saved and not compared with others yet; a worker takes it from here.

    `noted` is its place in the queue, the latest first: when it was noted, or earlier for what may wait.
    """

    item = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=40)
    noted = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "uncompared_items"
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["noted", "item"], name="uncompared_item_noted")]
