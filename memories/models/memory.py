"""A memory is a short statement that an agent or a team remembers; every saved state of it is a MemoryVersion."""

import hashlib
from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce
from uuid_utils.compat import uuid7

from agents.models import Agent
from memories.lifecycle.tiered_text import TieredText
from memories.lifecycle.tiers import Tiered
from memories.models.embedding import Embedded
from memories.search.languages import DEFAULT, LANGUAGES
from teams.models import Team
from teams.sealing.fields import SealedText
from teams.sensitivity import OF_VERSION, Sensitive, Sensitivity
from teams.versioned_text.versioned_file import Signed, Version

MAX_TEXT_CHARACTERS = 20_000
MAX_REASON_CHARACTERS = 200
LABEL = models.Func(
    models.F("text"),
    models.Value(r"^([^:\n]{1,60}):\s"),
    function="substring",
    output_field=models.TextField(),
)
"""The label of a text: up to 60 characters before the first colon, as the speaker in “Ada: Tea?”."""
MAX_LANGUAGE_CHARACTERS = 20


def _words_in(language: str) -> CombinedExpression:
    """Return the words of a text in this language's configuration; the words of its label have weight A, others D."""
    return SearchVector(LABEL, config=language, weight="A") + SearchVector("text", config=language, weight="D")


# The column is text: PostgreSQL's own type for configurations would be shorter, but pg_upgrade refuses its tables.
WORDS = models.Case(
    *(models.When(language=name, then=_words_in(name)) for name in LANGUAGES if name != DEFAULT),
    default=_words_in(DEFAULT),
)
LAST_BYTES = models.Func(
    models.Func("id", function="uuid_send", output_field=models.BinaryField()),
    models.Value(13),
    function="substring",
    output_field=models.BinaryField(),
)
"""The last four bytes of a row's id. They are random, so the first rows in their order are a random sample."""
UNIT_RANGE = [MinValueValidator(0.0), MaxValueValidator(1.0)]


class OwnerIdField(models.UUIDField):  # type: ignore[type-arg]  # Django itself takes no arguments
    """The agent or team that owns a row. Every insert names it, because it decides in which partition the row is."""

    def pre_save(self, model_instance: models.Model, add: bool) -> UUID | None:
        """Return the row's owner, and set the attribute."""
        owner: UUID | None = getattr(model_instance, "agent_id", None) or getattr(model_instance, "team_id", None)
        setattr(model_instance, self.attname, owner)
        return owner


class OwnerOfFileField(models.UUIDField):  # type: ignore[type-arg]  # Django itself takes no arguments
    """The owner of the memory of which the row is a version. Only a distributed installation needs it; older rows have
    none before.
    """

    def pre_save(self, model_instance: models.Model, add: bool) -> UUID | None:
        """Return the owner of the row's memory, and set the attribute."""
        memory: Memory = model_instance.file  # type: ignore[attr-defined]  # of MemoryVersion
        owner: UUID | None = memory.agent_id or memory.team_id
        setattr(model_instance, self.attname, owner)
        return owner


class Memory(Sensitive, Tiered, Embedded, Signed):
    """A memory belongs to exactly one agent or one team, as a database constraint ensures.

    `salience` and `credibility` are 0 to 1. `external_id` is the memory's id in the system that it was imported from,
    unique per owner. Its words are indexed by the text search configuration named by `language`. A pinned memory comes
    before all others of its owner in every context, whatever the topic. A retired memory (`retired_because` says why)
    and a superseded one are left out of contexts.
    """

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id"}

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(
        Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="memories", db_index=False
    )
    team = models.ForeignKey(
        Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="memories", db_index=False
    )
    kind = models.CharField(max_length=40)
    text = TieredText()
    language = models.CharField(
        max_length=MAX_LANGUAGE_CHARACTERS,
        choices=[(name, name) for name in LANGUAGES],
        default=DEFAULT,
        db_default=DEFAULT,
    )
    # The database computes the words by a trigger, because the text of a warm memory is not in its column.
    search = models.GeneratedField(expression=WORDS, output_field=SearchVectorField(), db_persist=True)
    salience = models.FloatField(default=0.5, validators=UNIT_RANGE)
    credibility = models.FloatField(default=0.5, validators=UNIT_RANGE)
    occurred_at = models.DateTimeField(null=True)
    superseded_by = models.ForeignKey(
        "self", models.DO_NOTHING, db_constraint=False, null=True, related_name="supersedes"
    )
    pinned = models.BooleanField(default=False, db_default=False)
    retired_because = SealedText(max_length=MAX_REASON_CHARACTERS, blank=True, default="", db_default="")
    external_id = models.CharField(max_length=200, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    # Empty in rows that are older than the column, until the table is divided: see `config.db.partitions`.
    owner_id = OwnerIdField(null=True, editable=False)

    class Meta:
        db_table = "memories"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(agent__isnull=False, team__isnull=True)
                | models.Q(agent__isnull=True, team__isnull=False),
                name="memory_one_owner",
            ),
            models.CheckConstraint(
                condition=models.Q(salience__range=(0, 1), credibility__range=(0, 1)),
                name="memory_unit_ranges",
            ),
            models.CheckConstraint(
                condition=~models.Q(superseded_by=models.F("id")), name="memory_not_superseded_by_itself"
            ),
            models.CheckConstraint(
                condition=models.Q(pinned=False) | models.Q(superseded_by=None, retired_because=""),
                name="memory_pinned_stands",
            ),
            models.UniqueConstraint(
                fields=["agent", "external_id"],
                condition=~models.Q(external_id=""),
                name="memory_import_once_agent",
            ),
            models.UniqueConstraint(
                fields=["team", "external_id"],
                condition=~models.Q(external_id=""),
                name="memory_import_once_team",
            ),
        ]
        indexes = [
            models.Index("agent", Coalesce("occurred_at", "created").desc(), name="memory_agent_recent"),
            models.Index("team", Coalesce("occurred_at", "created").desc(), name="memory_team_recent"),
            models.Index("agent", LAST_BYTES, name="memory_agent_sample", condition=models.Q(agent__isnull=False)),
            models.Index("team", LAST_BYTES, name="memory_team_sample", condition=models.Q(team__isnull=False)),
            models.Index(fields=["agent"], name="memory_agent_pinned", condition=models.Q(pinned=True)),
            models.Index(fields=["team"], name="memory_team_pinned", condition=models.Q(pinned=True)),
            GinIndex(fields=["search"], name="memory_search"),
            # The index on languages is partial: most owners have texts in English alone, for which it has no entries.
            models.Index(
                fields=["agent", "language"], name="memory_agent_languages", condition=~models.Q(language=DEFAULT)
            ),
            models.Index(
                fields=["team", "language"], name="memory_team_languages", condition=~models.Q(language=DEFAULT)
            ),
            # The vector index is not declared here, because it depends on the embedder: see
            # `memories.embeddings.reembedding`.
        ]

    @property
    def ref(self) -> str:
        return f"memory:{self.id}@{self.version}"

    @property
    def stands(self) -> bool:
        """Return whether contexts may include the memory: it is neither superseded nor retired."""
        return self.superseded_by_id is None and not self.retired_because

    def as_version(self, note: str = "", merged: Sequence[UUID] = ()) -> "MemoryVersion":
        """Return the memory's current state as an unsaved MemoryVersion, with the author's note and the merged
        memories' ids.
        """
        return MemoryVersion(
            file=self,
            version=self.version,
            content=self.text,
            sha256=hashlib.sha256(self.text.encode()).hexdigest(),
            kind=self.kind,
            salience=self.salience,
            credibility=self.credibility,
            occurred_at=self.occurred_at,
            superseded_by=self.superseded_by_id,
            pinned=self.pinned,
            retired_because=self.retired_because,
            language=self.language,
            note=note,
            merged=list(merged),
            updated_by=self.updated_by,
            editor_ref=self.editor_ref,
            editor_name=self.editor_name,
            origin=self.origin,
            sensitivity=min(self.sensitivity, Sensitivity.RESTRICTED),
        )


class MemoryVersion(Sensitive, Version):
    """One saved state of a memory, stored until the memory is erased.

    `merged` holds the ids of the memories that this version superseded, where a merge made it.
    """

    owner_columns: ClassVar = {"agent": "file__agent_id", "team": "file__team_id"}
    level_columns = OF_VERSION

    file = models.ForeignKey(Memory, models.DO_NOTHING, db_constraint=False, related_name="versions")
    owner_id = OwnerOfFileField(null=True, editable=False)
    kind = models.CharField(max_length=40)
    salience = models.FloatField()
    credibility = models.FloatField()
    occurred_at = models.DateTimeField(null=True)
    superseded_by = models.UUIDField(null=True)
    pinned = models.BooleanField(default=False, db_default=False)
    retired_because = SealedText(max_length=MAX_REASON_CHARACTERS, blank=True, default="", db_default="")
    language = models.CharField(max_length=MAX_LANGUAGE_CHARACTERS, blank=True, default="", db_default="")
    """The memory's language; empty in versions saved before memories had languages."""
    merged = ArrayField(models.UUIDField(), default=list, db_default=models.Value([], ArrayField(models.UUIDField())))

    class Meta(Version.Meta):
        db_table = "memory_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="memory_version_once")]
